#include "campaign/token_counting.h"

#include "base/clock.h"
#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/machine.h"
#include "campaign/run_config.h"
#include "campaign/run_folder.h"
#include "campaign/sent_body.h"
#include "campaign/token_counter.h"
#include "domain/quiet_sink.h"
#include "domain/tee.h"
#include "plan/unasked_fields.h"
#include "record/event_log.h"

namespace assay::campaign {
namespace {

// A query's body as sent.
Result<Json> body_of(const plan::PlanBundle& bundle, const Query& query) {
  ASSIGN_OR_RETURN(const std::string body, sent_body(bundle, query));
  return Json::parse(body);
}

// Detects fragments in the log whose texts were not kept.
class TextWatch final : public QuietSink {
 public:
  bool lost = false;
  void on_stream_event(const Query&, const StreamEvent& event, std::string_view text) override {
    lost = lost || (is_fragment(event.category) && event.bytes > 0 && text.empty());
  }
};

// Without `bundle` no inputs are counted.
Result<metrics::TokenCounts> counted(const std::filesystem::path& folder, const RunInfo& info,
                                     const CountingTokenizer& counting,
                                     const plan::PlanBundle* bundle, TextWatch& texts) {
  campaign::TokenCounterOptions options{
      .threads = static_cast<unsigned>(std::max(1, this_machine().cores)),
      .now_unix_s = info.started.ns / 1'000'000'000};
  campaign::TokenCounter::BodyOf body;
  if (bundle != nullptr) {
    for (const PhasePlan& phase : bundle->plan.phases) {
      options.phases.push_back({phase.dataset, phase.salted});
    }
    body = [bundle](const Query& query) { return body_of(*bundle, query); };
  }
  ASSIGN_OR_RETURN(
      const auto counter,
      campaign::TokenCounter::make(*counting.tokenizer, counting.chat ? &*counting.chat : nullptr,
                                   std::move(body), options));
  const OsClock clock;
  const Instant start = clock.now();
  Tee both({counter.get(), &texts});
  ASSIGN_OR_RETURN(const auto replay, record::replay_run(log_folder(folder), both));
  metrics::TokenCounts counts = counter->finish();
  Json source = counting.about;
  for (const auto& [key, value] : counts.source.members()) source.set(key, value);
  source.set("seconds", (clock.now() - start).seconds());
  counts.source = std::move(source);
  return counts;
}

// Makes the run's plan again; nullopt if its files are missing or have changed, with the reason in
// `trouble`.
std::optional<plan::PlanBundle> recorded_plan(const std::filesystem::path& folder,
                                              const RunInfo& info, std::string& trouble) {
  const auto config = recorded_config(folder);
  auto datasets =
      config ? plan::load_datasets(*config) : Result<std::vector<Dataset>>(config.error());
  if (!datasets) {
    trouble = format("prompts are not counted: {}", datasets.error().message);
    return std::nullopt;
  }
  auto bundle = plan::make_plan(*config, *std::move(datasets));
  if (bundle) plan::adapt(plan::adaptation_of(info.facts["preflight"]), *bundle);
  if (!bundle || plan_digest(*bundle) != info.plan_digest) {
    trouble =
        "prompts are not counted: the config and its files no longer make the plan that was "
        "run";
    return std::nullopt;
  }
  return *std::move(bundle);
}

}  // namespace

Result<CountingTokenizer> load_counting_tokenizer(const std::string& name, Api api) {
  CountingTokenizer out;
  ASSIGN_OR_RETURN(const std::filesystem::path path, text::find_tokenizer(name));
  ASSIGN_OR_RETURN(const std::filesystem::path file, text::tokenizer_file(path));
  ASSIGN_OR_RETURN(const std::string bytes, read_file(file));
  ASSIGN_OR_RETURN(out.tokenizer, text::load_tokenizer(path));
  out.about.set("tokenizer", name)
      .set("file", file.filename().string())
      .set("sha256", sha256_hex(bytes))
      .set("vocabulary", out.tokenizer->vocabulary_size())
      .set("chat_template_sha256", nullptr);
  if (!row_of(api).takes_messages) return out;
  auto chat = text::ChatFormat::load(file == path ? file.parent_path() : path);
  if (chat) {
    out.about.set("chat_template_sha256", sha256_hex(chat->source()));
    out.chat.emplace(*std::move(chat));
  } else if (chat.error().code == Code::not_found) {
    out.about.set("note",
                  "the tokenizer has no chat template: prompts and replies are tokenized as "
                  "plain text, without the template's tokens");
  } else {
    return chat.error();
  }
  return out;
}

Result<std::optional<CountingTokenizer>> counting_tokenizer_of(const plan::Config& config,
                                                               const plan::PlanBundle& bundle) {
  const std::string& name = config.model_params.tokenizer_name;
  if (name.empty()) return std::optional<CountingTokenizer>();
  if (!bundle.keep_text) {
    return invalid(
        "settings.recording.keep_text: off, and the tokenizer counts the replies' text\n"
        "  leave it out, or leave out --tokenizer");
  }
  auto found = load_counting_tokenizer(name, bundle.endpoints.api);
  if (!found) return found.error().within("--tokenizer");
  return std::optional<CountingTokenizer>(*std::move(found));
}

Result<void> count_tokens(const std::filesystem::path& folder, const CountingTokenizer& counting,
                          const plan::PlanBundle& bundle) {
  ASSIGN_OR_RETURN(const auto logs, record::find_event_logs(log_folder(folder)));
  ASSIGN_OR_RETURN(const RunInfo info, record::read_run_info(logs.front()));
  TextWatch texts;
  ASSIGN_OR_RETURN(const metrics::TokenCounts counts,
                   counted(folder, info, counting, &bundle, texts));
  return counts.write(token_counts_file(folder));
}

Result<metrics::TokenCounts> recount_tokens(const std::filesystem::path& folder,
                                            const std::string& tokenizer) {
  ASSIGN_OR_RETURN(const auto logs, record::find_event_logs(log_folder(folder)));
  ASSIGN_OR_RETURN(const RunInfo info, record::read_run_info(logs.front()));
  const std::optional<Api> api = api_from(info.facts["api"].as_string());
  auto counting = load_counting_tokenizer(tokenizer, api.value_or(Api::openai_completions));
  if (!counting) return counting.error().within("--tokenizer");
  std::string trouble;
  const auto bundle = recorded_plan(folder, info, trouble);
  TextWatch texts;
  ASSIGN_OR_RETURN(metrics::TokenCounts counts,
                   counted(folder, info, *counting, bundle ? &*bundle : nullptr, texts));
  if (texts.lost) {
    return invalid(
        format("{}: its log keeps no texts of replies (settings.recording.keep_text: off), so "
               "there is nothing to count\n  the counts of the run itself are what there is",
               folder.string()));
  }
  counts.source.set("recounted", true).set("input", trouble.empty() ? Json() : Json(trouble));
  return counts;
}

}  // namespace assay::campaign
