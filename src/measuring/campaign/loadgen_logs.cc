#include "campaign/loadgen_logs.h"

#include <cstring>
#include <utility>

#include "base/format.h"
#include "campaign/run_config.h"
#include "loadgen/compliance.h"
#include "loadgen/measured_fold.h"
#include "score/payload.h"
#include "score/quality_gate.h"
#include "text/chat_template.h"

namespace assay::campaign {
namespace {

constexpr std::size_t kPerformance = 0;
constexpr std::size_t kAccuracy = 1;

std::string hex_digits(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<std::uint8_t>(c);
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

template <typename T>
std::string raw_bytes(const std::vector<T>& numbers) {
  std::string out(numbers.size() * sizeof(T), '\0');
  if (!out.empty()) std::memcpy(out.data(), numbers.data(), out.size());
  return out;
}

// How the suite's scripts print a metric. `in_list`: one of the members of a Python dict, which
// stand in one line.
struct PrintedMetric {
  std::string_view metric{};
  bool in_list = false;
  std::string_view before{};
  int decimals = 4;
  std::string_view behind{};
};
constexpr std::array kPrinted{
    PrintedMetric{"rouge1", true, "'rouge1': '", 4, "'"},
    PrintedMetric{"rouge2", true, "'rouge2': '", 4, "'"},
    PrintedMetric{"rougeL", true, "'rougeL': '", 4, "'"},
    PrintedMetric{"rougeLsum", true, "'rougeLsum': '", 4, "'"},
    PrintedMetric{"gen_len", true, "'gen_len': ", 0},
    PrintedMetric{"exact_match", true, "'exact_match': ", 4},
    PrintedMetric{"gsm8k", true, "'gsm8k': ", 4},
    PrintedMetric{"mbxp", true, "'mbxp': ", 4},
    PrintedMetric{"vbench_score", true, "'vbench_score': ", 4},
    PrintedMetric{"clip_score", true, "'CLIP_SCORE': '", 8, "'"},
    PrintedMetric{"fid_score", true, "'FID_SCORE': '", 8, "'"},
    PrintedMetric{"overall_accuracy", true, "'Total': ", 4},
    PrintedMetric{"tokens_per_sample", true, "'tokens_per_sample': ", 4},
    PrintedMetric{"top1", false, "accuracy=", 3, "%"},
    PrintedMetric{"coco_map", false, "mAP=", 3, "%"},
    PrintedMetric{"mean_dice", false, "Accuracy: mean = ", 6},
    PrintedMetric{"auc_percent", false, "AUC=", 3, "%"},
    PrintedMetric{"category_f1", false, "{\"f1\": ", 6, "}"},
    PrintedMetric{"rag_accuracy", false, "Accuracy: ", 4},
    PrintedMetric{"normalised_entropy", false, "metric/lifetime_ne/rating: ", 8},
    PrintedMetric{"accuracy", false, "metric/lifetime_accuracy/rating: ", 8},
    PrintedMetric{"auc", false, "metric/lifetime_gauc/rating: ", 8},
};

// accuracy.txt without the log's hash, which is the packer's; "" without a score that a suite has.
std::string printed_scores(const Json& results) {
  std::string list;
  std::string lines;
  for (const PrintedMetric& one : kPrinted) {
    const Json value = score::metric_value(results, one.metric);
    if (value.is_null()) continue;
    const std::string text =
        format("{}{:.{}f}{}", one.before, value.as_double(), one.decimals, one.behind);
    if (one.in_list) {
      list += (list.empty() ? "" : ", ") + text;
    } else {
      lines += text + "\n";
    }
  }
  if (const Json value = score::metric_value(results, "word_accuracy"); !value.is_null()) {
    lines += format("Word Error Rate: {:.4f}%, accuracy={:.4f}%\n", 100 - value.as_double(),
                    value.as_double());
  }
  for (const Json& entry : results["accuracy_scores"].items()) {
    const Json& score = entry["score"];
    if (entry["scorer"].as_string() != "squad_f1" || !score["f1"].is_number()) continue;
    lines += format("{{\"exact_match\": {:.5f}, \"f1\": {:.5f}}}\n",
                    score["exact_match"].as_double(), score["f1"].as_double());
  }
  return list.empty() ? lines : "{" + list + "}\n" + lines;
}

}  // namespace

LoadgenLogs::LoadgenLogs(const std::filesystem::path& folder, const RunInfo& info,
                         loadgen::Test test)
    : info_(info), test_(std::move(test)) {
  parts_[kPerformance].folder = folder / "performance";
  parts_[kAccuracy].folder = folder / "accuracy";
}

Result<std::unique_ptr<LoadgenLogs>> LoadgenLogs::open(const std::filesystem::path& folder,
                                                       const RunInfo& info) {
  if (info.facts.find(loadgen::kTestFact) == nullptr) return std::unique_ptr<LoadgenLogs>();
  ASSIGN_OR_RETURN(loadgen::Test test, loadgen::Test::from_json(info.facts[loadgen::kTestFact]));
  std::unique_ptr<LoadgenLogs> out(new LoadgenLogs(folder, info, std::move(test)));
  out->workload_ = score::find_logged_workload(info.facts["workload"]["name"].as_string());
  const auto config = recorded_config(folder);
  if (config && !config->model_params.tokenizer_name.empty() && out->workload_ != nullptr &&
      out->workload_->payload == score::PayloadKind::tokens) {
    ASSIGN_OR_RETURN(const auto path, text::find_tokenizer(config->model_params.tokenizer_name));
    ASSIGN_OR_RETURN(out->tokenizer_, text::load_tokenizer(path));
  }
  ASSIGN_OR_RETURN(const auto settings,
                   loadgen::effective(out->test_.requested, out->test_.library));
  if (settings.performance()) {
    ASSIGN_OR_RETURN(
        out->logged_,
        loadgen::logged_samples(settings, out->test_.generated * settings.samples_per_query));
  }
  return out;
}

LoadgenLogs::Part* LoadgenLogs::part_of(const Query& query) {
  if (query.phase >= info_.phases.size()) return nullptr;
  switch (info_.phases[query.phase].kind) {
    case PhaseKind::performance:
      return &parts_[kPerformance];
    case PhaseKind::accuracy:
      return &parts_[kAccuracy];
    case PhaseKind::warmup:
    case PhaseKind::tail:
      return nullptr;
  }
  return nullptr;
}

void LoadgenLogs::on_phase(const PhaseMark& mark) {
  Part* const part = part_of({.phase = mark.phase});
  if (part != nullptr && mark.step == PhaseStep::started && !part->began.known()) {
    part->began = mark.at;
  }
}

// The suites have one dataset of all that an accuracy run asks: the rows of one phase come after
// those of the one before, and a row's repeats are rows of their own.
std::uint64_t LoadgenLogs::index_of(const Query& query) const {
  std::uint64_t before = 0;
  for (const loadgen::AccuracyRows& one : test_.accuracy) {
    if (one.phase < query.phase) before += one.samples;
  }
  return before + query.index;
}

void LoadgenLogs::on_sent(const Query& query, Instant due, Instant) {
  Part* const part = part_of(query);
  if (part == nullptr) return;
  if (!part->began.known()) part->began = due;
  const bool accuracy = part == &parts_[kAccuracy];
  if (!accuracy && (query.index >= logged_.size() || !logged_[query.index])) return;
  Open& open = open_.insert(query_key(query));
  open.index = accuracy ? index_of(query) : query.sample;
  if (accuracy) part->asked.push_back(open.index);
}

void LoadgenLogs::on_stream_event(const Query& query, const StreamEvent& event,
                                  std::string_view text) {
  if (!is_fragment(event.category)) return;
  Open* const open = open_.find(query_key(query));
  if (open == nullptr) return;
  if (open->text.empty()) open->first = text;
  open->text += text;
}

void LoadgenLogs::on_done(const Event& event, std::string_view) {
  Part* const part = part_of(event.query);
  if (part == nullptr) return;
  part->last = std::max(part->last, event.done);
  const std::uint64_t key = query_key(event.query);
  const bool ok = event.outcome == Outcome::ok;
  if (!ok) ++part->failed;
  if (Open* const open = open_.find(key)) {
    if (ok) write_answer(*part, event, *open);
    open_.erase(key);
  }
}

Result<std::string> LoadgenLogs::bytes_of(const std::string& text) const {
  if (workload_ == nullptr) return text;
  if (workload_->payload == score::PayloadKind::floats) {
    ASSIGN_OR_RETURN(const auto numbers, score::read_floats(text));
    return raw_bytes(numbers);
  }
  if (!tokenizer_) return text;
  ASSIGN_OR_RETURN(const std::vector<text::TokenId> ids, tokenizer_->encode(text));
  return raw_bytes(std::vector<std::int32_t>(ids.begin(), ids.end()));
}

void LoadgenLogs::write_answer(Part& part, const Event& event, const Open& open) {
  if (part.lacks_text || !part.trouble.empty()) return;
  part.lacks_text = open.text.empty() && event.output_bytes > 0;
  const auto data = bytes_of(open.text);
  if (!data) part.trouble = format("sample {}: {}", open.index, data.error().message);
  if (part.lacks_text || !data) return;
  const bool tokens = test_.requested.use_token_latencies;
  const std::uint64_t place = &part == &parts_[kAccuracy] ? open.index : event.query.index;
  std::string line = format("{}{{ \"seq_id\" : {}, \"qsl_idx\" : {}, \"data\" : \"{}\"",
                            part.any ? ",\n" : "[\n", place, open.index, hex_digits(*data));
  if (tokens && test_.requested.scenario != loadgen::Scenario::Offline) {
    const auto first = bytes_of(open.first);
    line += format(", \"token_data\" : \"{}\"", first ? hex_digits(*first) : "");
  }
  if (tokens) {
    line +=
        format(", \"token_count\" : {}", std::max<std::int64_t>(event.usage.completion_tokens, 0));
  }
  line += " }";
  if (!part.answers) {
    if (const auto made = make_folders(part.folder); !made) part.trouble = made.error().message;
    part.answers.reset(std::fopen((part.folder / "mlperf_log_accuracy.json.part").c_str(), "w"));
  }
  if (!part.answers || std::fwrite(line.data(), 1, line.size(), part.answers.get()) < line.size()) {
    part.trouble = errno_error((part.folder / "mlperf_log_accuracy.json").string()).message;
  }
  part.any = true;
}

// Puts the accuracy log in its place, or removes what it was so far.
Result<void> LoadgenLogs::close(Part& part) {
  const std::filesystem::path path = part.folder / "mlperf_log_accuracy.json";
  std::filesystem::path partial = path;
  partial += ".part";
  std::error_code ignored;
  const bool whole = !part.lacks_text && part.trouble.empty();
  if (part.answers) {
    std::fputs("\n]\n", part.answers.get());
    if (std::fclose(part.answers.release()) != 0 && whole) return errno_error(path.string());
    if (!whole) {
      std::filesystem::remove(partial, ignored);
      return {};
    }
    std::error_code error;
    std::filesystem::rename(partial, path, error);
    if (error) return invalid(format("{}: {}", path.string(), error.message()));
    return {};
  }
  if (whole) TRY(write_file_atomic(path, "[\n]\n"));
  return {};
}

loadgen::LoggedPhase LoadgenLogs::logged(const Part& part, std::size_t kind) const {
  const bool known = part.began.known() && part.last.known();
  return {.library = kind == kPerformance ? test_.library_name : "accuracy",
          .began = {part.began.known() ? part.began.ns + info_.offset.wall_minus_monotonic.ns
                                       : info_.started.ns},
          .lasted_ns = known ? (part.last - part.began).ns : 0,
          .failed = part.failed,
          .trouble = part.lacks_text ? "its answers' texts were not kept" : part.trouble};
}

Result<void> LoadgenLogs::finish(const audit::LoadedRun& run) {
  Part& performance = parts_[kPerformance];
  if (run.test) {
    TRY(write_file_atomic(performance.folder / "mlperf_log_summary.txt", run.test->summary()));
    ASSIGN_OR_RETURN(const std::string detail,
                     loadgen::performance_log(*run.test, logged(performance, kPerformance)));
    TRY(write_file_atomic(performance.folder / "mlperf_log_detail.txt", detail));
    TRY(close(performance));
  }
  Part& accuracy = parts_[kAccuracy];
  if (accuracy.asked.empty()) return {};
  ASSIGN_OR_RETURN(const std::string detail,
                   loadgen::accuracy_log(test_, logged(accuracy, kAccuracy), accuracy.asked));
  TRY(write_file_atomic(accuracy.folder / "mlperf_log_detail.txt", detail));
  TRY(write_file_atomic(accuracy.folder / "mlperf_log_summary.txt",
                        loadgen::summary_trailer(0, accuracy.failed > 0 ? 1 : 0)));
  TRY(close(accuracy));
  const std::string scores = printed_scores(run.accuracy);
  if (scores.empty()) return {};
  return write_file_atomic(accuracy.folder / "accuracy.txt", scores);
}

}  // namespace assay::campaign
