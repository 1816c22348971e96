#include "campaign/verify_run.h"

#include <algorithm>

#include "base/files.h"
#include "base/format.h"
#include "campaign/run_folder.h"
#include "campaign/token_counting.h"
#include "campaign/verify_reference.h"
#include "domain/quiet_sink.h"
#include "interchange/read/reference_run.h"
#include "interchange/read/run_view.h"
#include "record/event_log.h"
#include "record/manifest.h"

namespace assay::campaign {
namespace {

// The first difference of two JSON values, as a path; "" if they are equal.
std::string first_difference(const Json& kept, const Json& made, const std::string& path) {
  if (kept == made) return {};
  if (kept.is_object() && made.is_object()) {
    for (const auto& [key, value] : made.members()) {
      const Json* other = kept.find(key);
      if (other == nullptr) return format("{}{}: missing", path, key);
      if (const auto deeper = first_difference(*other, value, path + key + "."); !deeper.empty()) {
        return deeper;
      }
    }
    for (const auto& [key, value] : kept.members()) {
      if (made.find(key) == nullptr) return format("{}{}: not from the event log", path, key);
    }
  }
  if (kept.is_array() && made.is_array() && kept.size() == made.size()) {
    for (std::size_t i = 0; i < made.size(); ++i) {
      const auto deeper = first_difference(kept[i], made[i], format("{}{}.", path, i));
      if (!deeper.empty()) return deeper;
    }
  }
  const std::string name = path.empty() ? "" : path.substr(0, path.size() - 1);
  return format("{}: kept {}, from the events {}", name, kept.dump(), made.dump());
}

Result<void> check_figures(const LoadedRun& run, std::vector<Difference>& findings) {
  const auto path = run.folder / "performance/result_summary.json";
  const Result<std::string> text = read_file(path);
  if (!text) {
    findings.push_back({path.string(), text.error().message});
    return {};
  }
  const Result<Json> kept = Json::parse(*text);
  if (!kept) {
    findings.push_back({path.string(), kept.error().message});
    return {};
  }
  // Converts through text, so that both sides have the same rounding.
  ASSIGN_OR_RETURN(const Json made, Json::parse(summary_json(run).dump()));
  const std::string difference = first_difference(*kept, made, "");
  if (!difference.empty()) findings.push_back({path.string(), difference});
  return {};
}

// Compares two counts of every reply: a new one and the folder's.
class CountCheck final : public QuietSink {
 public:
  CountCheck(const metrics::TokenCounts& kept, const metrics::TokenCounts& again)
      : kept_(kept), again_(again) {}
  std::uint64_t replies = 0;
  std::uint64_t differ = 0;
  std::int64_t tokens = 0;
  std::int64_t said = 0;  // by the server, where it reported usage
  std::string first{};    // first difference

  void on_done(const Event& event, std::string_view) override {
    const metrics::TokenCount* const now = again_.find(event.query);
    if (now == nullptr) return;
    ++replies;
    tokens += std::max(now->output, 0);
    said += std::max(event.usage.completion_tokens, 0);
    if (kept_.size() == 0) return;
    const metrics::TokenCount* const before = kept_.find(event.query);
    const metrics::TokenCount none;
    compare(event.query, before == nullptr ? none : *before, *now);
  }

 private:
  void compare(const Query& query, const metrics::TokenCount& before,
               const metrics::TokenCount& now) {
    const bool same = before.output == now.output && before.after_first == now.after_first &&
                      (now.input < 0 || before.input == now.input);
    if (same) return;
    if (differ++ > 0) return;
    first = format(
        "query {} of phase {}: kept {} output, {} after the first, {} input; counted "
        "again {}, {}, {}",
        query.index, query.phase, before.output, before.after_first, before.input, now.output,
        now.after_first, now.input);
  }

  const metrics::TokenCounts& kept_;
  const metrics::TokenCounts& again_;
};

// Counts the recorded replies again. Messages about it go to standard error.
Result<void> check_counts(const std::string& folder, const std::string& tokenizer,
                          VerifiedRun& out) {
  ASSIGN_OR_RETURN(const metrics::TokenCounts again, recount_tokens(folder, tokenizer));
  metrics::TokenCounts kept;
  std::error_code ignored;
  const auto file = token_counts_file(folder);
  if (std::filesystem::exists(file, ignored)) {
    ASSIGN_OR_RETURN(kept, metrics::TokenCounts::read(file));
  }
  CountCheck check(kept, again);
  TRY(record::replay_run(log_folder(folder), check));
  if (again.source["input"].is_string()) {
    out.notes.emplace_back(again.source["input"].as_string());
  }
  out.counts = (format("{} replies come to {} output tokens by {}; the server said {}",
                       check.replies, check.tokens, tokenizer, check.said));
  if (check.differ > 0) {
    out.differences.push_back({file.string(), format("{} of {} replies differ; first, {}",
                                                     check.differ, check.replies, check.first)});
  }
  return {};
}

}  // namespace

Result<VerifiedRun> verify_run(const std::string& folder, const std::string& tokenizer) {
  if (interchange::is_reference_folder(folder)) {
    ASSIGN_OR_RETURN(VerifiedRun checked, verify_reference(folder));
    if (tokenizer.empty()) return checked;
    ASSIGN_OR_RETURN(const interchange::RunView view, interchange::RunView::open(folder));
    TRY(check_counts(view.folder(), tokenizer, checked));
    return checked;
  }
  VerifiedRun out;
  std::vector<Difference>& findings = out.differences;
  ASSIGN_OR_RETURN(const LoadedRun run, load_run(folder));
  out.records = run.replay.end.records;
  const record::LogEnd& end = run.replay.end;
  std::error_code ignored;
  const bool derived =
      std::filesystem::exists(std::filesystem::path(folder) / record::kManifestName, ignored);
  if (end.end.state == RunState::crashed) {
    findings.push_back({folder, audit::log_note(run)});
    // No derived files: missing ones are not a difference.
    if (!derived) return out;
  } else if (!end.trouble.empty()) {
    findings.push_back({folder, end.trouble});
  }
  if (end.end.state == RunState::interrupted) out.notes.push_back(run.point.warnings.front());
  if (const auto changed = record::check_manifest(folder)) {
    for (const std::string& sentence : *changed) findings.push_back({folder, sentence});
  } else {
    findings.push_back({folder, changed.error().message});
  }
  if (const auto forged = record::check_manifest_against(folder, run.replay)) {
    for (const std::string& sentence : *forged) findings.push_back({folder, sentence});
  }
  TRY(check_figures(run, findings));
  if (!tokenizer.empty()) TRY(check_counts(folder, tokenizer, out));
  return out;
}

}  // namespace assay::campaign
