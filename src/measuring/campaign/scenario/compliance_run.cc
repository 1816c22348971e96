#include "campaign/scenario/compliance_run.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/files.h"
#include "base/flat_map.h"
#include "base/format.h"
#include "campaign/run_folder.h"
#include "campaign/token_counting.h"
#include "domain/quiet_sink.h"
#include "record/event_log.h"
#include "score/accuracy_log.h"
#include "score/payload.h"

namespace assay::campaign {
namespace {

using loadgen::Answer;
using loadgen::ComplianceVerdict;

constexpr std::size_t kLogBytesMax = std::size_t{4} << 30;
constexpr const char* kAccuracyLog = "mlperf_log_accuracy.json";
constexpr const char* kDetailLog = "mlperf_log_detail.txt";

// The answers of a run, with their texts.
class Answers final : public QuietSink {
 public:
  explicit Answers(const RunInfo& info) : phases_(info.phases) {}

  struct One {
    PhaseKind kind = PhaseKind::performance;
    Query query{};
    bool lacks_text = false;
    Answer answer{};
  };
  std::vector<One> all{};

  void on_stream_event(const Query& query, const StreamEvent& event,
                       std::string_view text) override {
    if (!is_fragment(event.category)) return;
    Open& open = open_.insert(query_key(query));
    if (open.text.empty()) open.first = text;
    open.text += text;
  }
  void on_done(const Event& event, std::string_view) override {
    const std::uint64_t key = query_key(event.query);
    const bool known = event.query.phase < phases_.size();
    if (event.outcome == Outcome::ok && known) {
      One one{.kind = phases_[event.query.phase].kind, .query = event.query};
      if (Open* const open = open_.find(key)) {
        one.answer.text = std::move(open->text);
        one.answer.first = std::move(open->first);
      }
      one.lacks_text = one.answer.text.empty() && event.output_bytes > 0;
      one.answer.sample = event.query.sample;
      one.answer.tokens = event.usage.completion_tokens >= 0 ? event.usage.completion_tokens : -1;
      one.answer.streamed = event.streamed;
      one.answer.stopped = event.finish == FinishReason::stop;
      all.push_back(std::move(one));
    }
    open_.erase(key);
  }

 private:
  struct Open {
    std::string text{};
    std::string first{};
  };
  std::vector<PhaseInfo> phases_;
  FlatMap<Open> open_{256};
};

struct ReadRun {
  LoadedRun run{};
  std::vector<Answer> accuracy{};
  std::vector<Answer> logged{};  // in performance mode, where the run was a LoadGen test
};

Error without_texts(const std::filesystem::path& folder) {
  return invalid(
      format("'{}' keeps no texts of its answers: record it with --keep-text on", folder.string()));
}

// Those of the performance phase that LoadGen's settings log.
Result<std::vector<Answer>> logged_answers(const std::filesystem::path& folder,
                                           const LoadedRun& run, std::vector<Answers::One>& all) {
  std::vector<Answer> out;
  if (!run.test) return out;
  std::uint64_t count = 0;
  for (const auto& one : all) {
    if (one.kind != PhaseKind::performance) continue;
    count = std::max<std::uint64_t>(count, std::uint64_t{one.query.index} + 1);
  }
  ASSIGN_OR_RETURN(const auto logged, loadgen::logged_samples(run.test->settings, count));
  for (auto& one : all) {
    if (one.kind != PhaseKind::performance || !logged[one.query.index]) continue;
    if (one.lacks_text) return without_texts(folder);
    out.push_back(std::move(one.answer));
  }
  return out;
}

Result<ReadRun> read_run(const std::filesystem::path& folder, const std::string& tokenizer) {
  ASSIGN_OR_RETURN(const auto logs, record::find_event_logs(log_folder(folder)));
  ASSIGN_OR_RETURN(const RunInfo info, record::read_run_info(logs.front()));
  Answers answers(info);
  audit::LoadOptions how{.also = &answers};
  if (!tokenizer.empty()) {
    ASSIGN_OR_RETURN(how.counts, recount_tokens(folder, tokenizer));
  }
  ReadRun out;
  ASSIGN_OR_RETURN(out.run, load_run(folder, std::move(how)));
  for (auto& one : answers.all) {
    if (const auto* const count = out.run.token_counts.find(one.query)) {
      one.answer.counted = count->output;
    }
  }
  ASSIGN_OR_RETURN(out.logged, logged_answers(folder, out.run, answers.all));
  for (auto& one : answers.all) {
    if (one.kind != PhaseKind::accuracy) continue;
    if (one.lacks_text) return without_texts(folder);
    out.accuracy.push_back(std::move(one.answer));
  }
  return out;
}

Result<ReadRun> read_test(const std::filesystem::path& folder, std::string_view what,
                          const std::string& tokenizer = {}) {
  if (folder.empty()) return invalid(format("{}: the test needs this run's folder", what));
  ASSIGN_OR_RETURN(ReadRun out, read_run(folder, tokenizer));
  if (!out.run.test) {
    return invalid(
        format("{}: '{}' is not a LoadGen test (assay run --scenario)", what, folder.string()));
  }
  return out;
}

Result<std::vector<ComplianceVerdict>> test01(const ComplianceWish& wish) {
  ASSIGN_OR_RETURN(const ReadRun audit, read_test(wish.run, "RUN"));
  ASSIGN_OR_RETURN(const ReadRun reference, read_test(wish.reference, "--reference"));
  if (wish.accuracy.empty()) return invalid("--accuracy: TEST01 needs the accuracy run's folder");
  ASSIGN_OR_RETURN(const ReadRun accuracy, read_run(wish.accuracy, {}));
  if (accuracy.accuracy.empty()) {
    return invalid(format("--accuracy: '{}' has no accuracy phase", wish.accuracy.string()));
  }
  return std::vector{loadgen::verify_answers(accuracy.accuracy, audit.logged),
                     loadgen::verify_speed(*reference.run.test, *audit.run.test)};
}

Result<std::vector<ComplianceVerdict>> test04(const ComplianceWish& wish) {
  ASSIGN_OR_RETURN(const ReadRun audit, read_test(wish.run, "RUN"));
  ASSIGN_OR_RETURN(const ReadRun reference, read_test(wish.reference, "--reference"));
  ASSIGN_OR_RETURN(ComplianceVerdict verdict,
                   loadgen::verify_no_cache(*reference.run.test, *audit.run.test));
  return std::vector{std::move(verdict)};
}

// Null where the folder is no folder of LoadGen's logs.
Result<std::optional<std::vector<score::LoggedReply>>> read_log(const std::filesystem::path& path) {
  const bool folder = std::filesystem::is_directory(path);
  const std::filesystem::path file = folder ? path / kAccuracyLog : path;
  std::optional<std::vector<score::LoggedReply>> out;
  if (folder && !std::filesystem::exists(file)) return out;
  ASSIGN_OR_RETURN(const std::string text, read_file(file, kLogBytesMax));
  auto log = score::read_accuracy_log(text);
  if (!log) return log.error().within(file.string());
  out = *std::move(log);
  return out;
}

// "Offline", from the detail log beside it.
Result<bool> is_offline(const std::filesystem::path& path) {
  const std::filesystem::path folder =
      std::filesystem::is_directory(path) ? path : path.parent_path();
  ASSIGN_OR_RETURN(const std::string text, read_file(folder / kDetailLog, kLogBytesMax));
  constexpr std::string_view kKey = "\"key\": \"effective_scenario\", \"value\": \"";
  const std::size_t at = text.find(kKey);
  if (at == std::string::npos) {
    return invalid(format("{}: has no effective_scenario", (folder / kDetailLog).string()));
  }
  return std::string_view(text).substr(at + kKey.size()).starts_with("Offline\"");
}

Result<std::vector<ComplianceVerdict>> test06_of_log(const ComplianceWish& wish,
                                                     const std::vector<score::LoggedReply>& log) {
  ASSIGN_OR_RETURN(const auto width, score::number_width(log, score::PayloadKind::tokens));
  ASSIGN_OR_RETURN(const bool offline, is_offline(wish.run));
  std::vector<loadgen::TokenAnswer> answers;
  answers.reserve(log.size());
  for (const score::LoggedReply& reply : log) {
    loadgen::TokenAnswer& answer = answers.emplace_back();
    answer.ids = score::read_numbers(reply.bytes, width);
    if (reply.first_token) answer.first = score::read_numbers(*reply.first_token, width);
    answer.count = reply.tokens;
  }
  return std::vector{loadgen::verify_tokens(answers, wish.eos_id, offline)};
}

// The script takes each four bytes for a token.
std::vector<Answer> log_lengths(const std::vector<score::LoggedReply>& log) {
  std::vector<Answer> out;
  out.reserve(log.size());
  for (const score::LoggedReply& reply : log) {
    Answer& answer = out.emplace_back();
    answer.sample = reply.sample;
    answer.counted = static_cast<std::int64_t>(reply.bytes.size() / sizeof(std::int32_t));
  }
  return out;
}

Result<std::vector<ComplianceVerdict>> test06(const ComplianceWish& wish) {
  ASSIGN_OR_RETURN(const auto log, read_log(wish.run));
  if (log) return test06_of_log(wish, *log);
  ASSIGN_OR_RETURN(const ReadRun audit, read_test(wish.run, "RUN", wish.tokenizer));
  const bool counted =
      std::ranges::any_of(audit.logged, [](const Answer& answer) { return answer.counted >= 0; });
  if (!counted && !audit.logged.empty()) {
    return invalid(
        "--tokenizer: TEST06 compares the system's count of tokens with the model's own");
  }
  const bool offline = audit.run.test->settings.scenario == loadgen::Scenario::Offline;
  return std::vector{loadgen::verify_consistency(audit.logged, wish.eos, offline)};
}

// The performance phase's score, in percent.
Result<std::vector<ComplianceVerdict>> test07(const ComplianceWish& wish) {
  ASSIGN_OR_RETURN(const ReadRun audit, read_test(wish.run, "RUN"));
  const Json& results = audit.run.accuracy;
  const Json* scored = nullptr;
  for (const Json& entry : results["accuracy_scores"].items()) {
    if (entry["dataset_type"].as_string() == "performance") scored = &entry;
  }
  if (scored == nullptr) {
    return invalid(
        format("'{}' has no score of its performance phase: give its dataset an "
               "accuracy_config and record texts, or score it (assay score)",
               wish.run.string()));
  }
  const Json& exact = (*scored)["breakdown"]["exact_match"];
  double value = exact.is_number() ? exact.as_double() : (*scored)["score"].as_double();
  if (value <= 1) value *= 100;
  return std::vector{loadgen::verify_exact_match(value)};
}

// The payloads that a run recorded, of its accuracy phase or as its settings log them.
Result<std::vector<loadgen::Payload>> recorded_payloads(const std::filesystem::path& folder,
                                                        bool accuracy) {
  ASSIGN_OR_RETURN(const ReadRun run, read_run(folder, {}));
  const std::vector<Answer>& answers = accuracy ? run.accuracy : run.logged;
  if (answers.empty()) {
    return invalid(format("'{}' has no answers {}", folder.string(),
                          accuracy ? "of an accuracy phase" : "that TEST08's settings log"));
  }
  std::vector<loadgen::Payload> out;
  for (const Answer& answer : answers) {
    auto floats = score::read_floats(answer.text);
    if (!floats) {
      return floats.error().within(format("'{}': sample {}", folder.string(), answer.sample));
    }
    out.push_back(*std::move(floats));
  }
  return out;
}

Result<std::vector<loadgen::Payload>> read_payloads(const std::filesystem::path& path,
                                                    bool accuracy) {
  ASSIGN_OR_RETURN(const auto log, read_log(path));
  if (!log) return recorded_payloads(path, accuracy);
  std::vector<loadgen::Payload> out;
  out.reserve(log->size());
  static_assert(std::endian::native == std::endian::little);
  for (const score::LoggedReply& reply : *log) {
    if (reply.bytes.size() % sizeof(float) != 0) {
      return invalid(format("{}: sample {}: {} bytes are not float32 numbers", path.string(),
                            reply.sample, reply.bytes.size()));
    }
    loadgen::Payload& payload = out.emplace_back(reply.bytes.size() / sizeof(float));
    std::memcpy(payload.data(), reply.bytes.data(), reply.bytes.size());
  }
  return out;
}

Result<std::vector<ComplianceVerdict>> test08(const ComplianceWish& wish) {
  if (wish.accuracy.empty()) return invalid("--accuracy: TEST08 needs the accuracy run");
  ASSIGN_OR_RETURN(const auto accuracy, read_payloads(wish.accuracy, true));
  ASSIGN_OR_RETURN(const auto performance, read_payloads(wish.run, false));
  ASSIGN_OR_RETURN(ComplianceVerdict verdict, loadgen::verify_entropy(accuracy, performance));
  return std::vector{std::move(verdict)};
}

Result<std::vector<ComplianceVerdict>> test09(const ComplianceWish& wish) {
  ASSIGN_OR_RETURN(const auto log, read_log(wish.run));
  if (log) return std::vector{loadgen::verify_length(log_lengths(*log), wish.length)};
  ASSIGN_OR_RETURN(const ReadRun audit, read_test(wish.run, "RUN", wish.tokenizer));
  return std::vector{loadgen::verify_length(audit.logged, wish.length)};
}

}  // namespace

Result<std::vector<ComplianceVerdict>> check_compliance(const ComplianceWish& wish) {
  if (wish.test == "TEST01") return test01(wish);
  if (wish.test == "TEST04") return test04(wish);
  if (wish.test == "TEST06") return test06(wish);
  if (wish.test == "TEST07") return test07(wish);
  if (wish.test == "TEST08") return test08(wish);
  if (wish.test == "TEST09") return test09(wish);
  return invalid(format("\"{}\" is not a compliance test", wish.test));
}

Result<void> write_verdicts(const std::vector<ComplianceVerdict>& verdicts,
                            const std::filesystem::path& folder) {
  TRY(make_folders(folder));
  for (const ComplianceVerdict& verdict : verdicts) {
    TRY(write_file_atomic(folder / verdict.file, verdict.text()));
  }
  return {};
}

}  // namespace assay::campaign
