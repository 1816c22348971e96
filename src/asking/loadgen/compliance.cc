#include "loadgen/compliance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/format.h"
#include "loadgen/conf_file.h"
#include "loadgen/queries.h"

namespace assay::loadgen {
namespace {

constexpr std::uint64_t kLogSeed = 720381539243781796;
constexpr std::array<std::string_view, 6> kTests{"TEST01", "TEST04", "TEST06",
                                                 "TEST07", "TEST08", "TEST09"};

// TEST09's audit.config of each workload that has one.
struct LengthTest {
  std::string_view workload{};
  std::uint64_t rows = 0;
  bool unique = false;
  LengthLimits limits{};
};
constexpr LengthTest kLengthTests[] = {
    {"gpt-oss-120b", 6396, true, {1150.38, 1406.02}},
    {"e2e-rag-qna", 824, false, {246.43, 301.19}},
};

constexpr double kFaster = 0.10;
constexpr double kFasterShort = 0.20;  // of latencies that are mostly the client's
constexpr double kExactMatch = 60.698;
constexpr std::string_view kPass = "TEST PASS";
constexpr std::string_view kFail = "TEST FAIL";

// How many answers TEST01 logs.
std::uint64_t logged_of(std::string_view model) {
  static constexpr std::pair<std::string_view, std::uint64_t> kFew[] = {
      {"stable-diffusion-xl", 128}, {"3d-unet", 64},        {"yolo", 64},
      {"retinanet", 256},           {"pointpainting", 256}, {"wan-2.2-t2v-a14b", 50}};
  for (const auto& [name, count] : kFew) {
    if (name == model) return count;
  }
  return 4096;
}

std::string line(std::string_view key, std::uint64_t value) {
  return format("*.*.{} = {}\n", key, value);
}

// Long answers from few samples, each asked once in the order of the set.
std::string whole_set(std::uint64_t logged, std::uint64_t queries, bool unique) {
  return line("accuracy_log_sampling_target", logged) + line("min_query_count", queries) +
         line("min_duration", 0) + (unique ? line("performance_issue_unique", 1) : "") +
         line("sample_concatenate_permutation", 0);
}

const LengthTest* find_length_test(std::string_view workload) {
  const auto* const found = std::ranges::find(kLengthTests, workload, &LengthTest::workload);
  return found == std::end(kLengthTests) ? nullptr : found;
}

std::string_view verdict_line(bool passed) { return passed ? kPass : kFail; }

std::string true_false(bool value) { return value ? "True" : "False"; }

// The suite's metric as a rate: TEST04 compares these.
double score_of(const Judgement& judgement) {
  const double value = judgement.metric->value;
  return judgement.metric->unit == "ms" ? 1000 / value : value;
}

bool is_stream(const Judgement& j) {
  return j.settings.scenario == Scenario::SingleStream ||
         j.settings.scenario == Scenario::MultiStream;
}

// What keeps two runs from being compared; "" for nothing.
std::string unlike(const Judgement& a, const Judgement& b) {
  if (!a.metric || !b.metric) return "a run has no result";
  if (a.settings.scenario != b.settings.scenario) return "the runs are of different scenarios";
  if (a.settings.target_latency_ns != b.settings.target_latency_ns ||
      a.settings.requested.server_ttft_latency != b.settings.requested.server_ttft_latency ||
      a.settings.requested.server_tpot_latency != b.settings.requested.server_tpot_latency) {
    return "the runs have different latency limits";
  }
  return a.metric->name == b.metric->name ? "" : "the runs have different metrics";
}

std::string metric_line(std::string_view what, const Judgement& j) {
  return format("{} = {:.6g} {} ({})", what, j.metric->value, j.metric->unit, j.metric->name);
}

// -1: an unknown length.
std::int64_t length_of(const Answer& answer) {
  return answer.counted >= 0 ? answer.counted : answer.tokens;
}

// One request's NE, with natural logarithms, as the test's script has it.
double entropy(std::span<const float> predictions, std::span<const float> labels) {
  constexpr double kLeast = 1e-7;
  double cross = 0;
  double positive = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const double p = std::clamp(static_cast<double>(predictions[i]), kLeast, 1 - kLeast);
    const double y = labels[i];
    cross -= y * std::log(p) + (1 - y) * std::log(1 - p);
    positive += y;
  }
  const auto n = static_cast<double>(labels.size());
  const double m = std::clamp(positive / n, kLeast, 1 - kLeast);
  return cross / n / -(m * std::log(m) + (1 - m) * std::log(1 - m));
}

// TEST06's file.
ComplianceVerdict consistency(bool first, bool end, bool length, bool offline) {
  ComplianceVerdict out{.passed = (first || offline) && end && length,
                        .file = "verify_accuracy.txt"};
  out.lines = {format("First token check pass: {}", offline ? "Skipped" : true_false(first)),
               "EOS check pass: " + true_false(end),
               "Sample length check pass: " + true_false(length)};
  out.lines.push_back(format("TEST06 verification {}", out.passed ? "complete" : "failed"));
  return out;
}

using RequestKey = std::pair<float, float>;

struct AccuracyPayload {
  std::span<const float> predictions{};
  std::span<const float> labels{};
};

Result<std::map<RequestKey, AccuracyPayload>> by_request(std::span<const Payload> accuracy) {
  std::map<RequestKey, AccuracyPayload> out;
  for (std::size_t i = 0; i < accuracy.size(); ++i) {
    const std::span<const float> payload(accuracy[i]);
    const std::size_t n = payload.size() < 6 ? 0 : (payload.size() - 3) / 3;
    if (n == 0 || payload.size() != 3 + 3 * n || payload.back() != static_cast<float>(n)) {
      return invalid(format("accuracy payload {}: {} numbers are not 3 + 3 n with n behind them", i,
                            payload.size()));
    }
    out[{payload[0], payload[1]}] = {payload.subspan(2, n), payload.subspan(2 + n, n)};
  }
  return out;
}

}  // namespace

std::vector<std::string_view> compliance_tests() { return {kTests.begin(), kTests.end()}; }

Result<std::string> audit_conf(std::string_view test, std::string_view model,
                               std::uint64_t dataset) {
  std::string out = line("mode", 2);
  if (test != "TEST04") out += line("accuracy_log_rng_seed", kLogSeed);
  if (test == "TEST01") return out + line("accuracy_log_sampling_target", logged_of(model));
  if (test == "TEST04") {
    out += line("performance_issue_unique", 0) + line("performance_issue_same", 1) +
           line("performance_issue_same_index", 3);
    if (model == "stable-diffusion-xl") out += "*.Offline.min_query_count = 500\n";
    if (model == "wan-2.2-t2v-a14b") {
      out += "*.Offline.min_query_count = 20\n*.SingleStream.min_query_count = 20\n";
    }
    return out;
  }
  if (test == "TEST06") return out + whole_set(100, 100, false);
  if (test == "TEST07") return out + whole_set(990, 990, true);
  if (test == "TEST08") return out + line("accuracy_log_sampling_target", 4096);
  if (test == "TEST09") {
    const LengthTest* const own = find_length_test(model);
    const LengthTest& length = own == nullptr ? kLengthTests[0] : *own;
    return out + whole_set(10'000, dataset == 0 ? length.rows : dataset, length.unique);
  }
  std::string known;
  for (const std::string_view one : kTests) known += format(" {}", one);
  return invalid(format("\"{}\" is not a compliance test; there are{}", test, known));
}

Result<Test> audited(Test test, std::string_view conf) {
  ASSIGN_OR_RETURN(const ConfFile file, ConfFile::parse(conf));
  TRY(file.apply("*", test.requested.scenario, ConfKind::user, test.requested));
  test.audit_conf = conf;
  return test;
}

Result<std::vector<bool>> logged_samples(const EffectiveSettings& settings, std::uint64_t count) {
  const auto sets = loaded_sets(settings, Phase::performance);
  ASSIGN_OR_RETURN(QueryStream stream,
                   QueryStream::make(settings, sets.front(), Phase::performance));
  AccuracySampling sampling;
  sampling.begin(settings, Phase::performance);
  std::vector<bool> out;
  for (Query query; out.size() < count && stream.next(query);) {
    for (std::size_t i = 0; i < query.samples.size(); ++i) out.push_back(sampling.next());
  }
  out.resize(count);
  return out;
}

std::string ComplianceVerdict::text() const {
  std::string out;
  for (const std::string& one : lines) out += one + "\n";
  return out;
}

ComplianceVerdict verify_answers(std::span<const Answer> accuracy, std::span<const Answer> logged) {
  std::unordered_map<std::uint32_t, const Answer*> known;
  for (const Answer& answer : accuracy) known.emplace(answer.sample, &answer);
  std::uint64_t compared = 0;
  std::uint64_t different = 0;
  std::uint64_t whole = 0;
  std::uint64_t unknown = 0;
  for (const Answer& answer : logged) {
    const auto found = known.find(answer.sample);
    if (found == known.end()) {
      ++unknown;
      continue;
    }
    ++compared;
    const std::string& other = found->second->text;
    if (answer.text.substr(0, 1) != other.substr(0, 1)) ++different;
    if (answer.text == other) ++whole;
  }
  ComplianceVerdict out{.passed = different == 0 && compared > different,
                        .file = "verify_accuracy.txt"};
  out.lines = {format("{} answers of the accuracy run, {} logged in performance mode",
                      accuracy.size(), logged.size()),
               format("{} compared, {} differ in their first byte, {} are equal as a whole",
                      compared, different, whole)};
  if (unknown > 0)
    out.lines.push_back(format("{} are of samples that the accuracy run lacks", unknown));
  out.lines.emplace_back(verdict_line(out.passed));
  return out;
}

ComplianceVerdict verify_speed(const Judgement& reference, const Judgement& audit) {
  ComplianceVerdict out{.file = "verify_performance.txt"};
  for (const Judgement* const one : {&reference, &audit}) {
    const bool is_reference = one == &reference;
    if (one->valid()) continue;
    out.lines.push_back(
        format("the {} run is INVALID: {}", is_reference ? "reference" : "audit", one->reasons()));
  }
  if (const std::string why = unlike(reference, audit); !why.empty()) out.lines.push_back(why);
  if (out.lines.empty()) {
    const double value = reference.metric->value;
    constexpr double kSingleStreamMs = 0.2;
    constexpr double kMultiStreamMs = 1.6;
    const double few =
        reference.settings.scenario == Scenario::MultiStream ? kMultiStreamMs : kSingleStreamMs;
    const double most = is_stream(reference) && value <= few ? kFasterShort : kFaster;
    out.lines = {metric_line("reference", reference), metric_line("audit", audit),
                 format("within {:g} % of each other", most * 100)};
    out.passed =
        audit.metric->value >= value * (1 - most) && audit.metric->value <= value * (1 + most);
  }
  out.lines.emplace_back(verdict_line(out.passed));
  return out;
}

Result<ComplianceVerdict> verify_no_cache(const Judgement& reference, const Judgement& audit) {
  for (const Judgement* const one : {&reference, &audit}) {
    if (one->valid()) continue;
    return invalid(format("the {} run is INVALID: {}", one == &reference ? "reference" : "audit",
                          one->reasons()));
  }
  if (const std::string why = unlike(reference, audit); !why.empty()) return invalid(why);
  if (!audit.settings.requested.performance_issue_same) {
    return invalid(
        "the audit run does not ask one sample again and again (performance_issue_same)");
  }
  // The script compares a rate with 200,000 that was meant for nanoseconds, and so allows 20 % to
  // every run of these scenarios.
  const double score = score_of(reference);
  const bool wide = is_stream(reference) && score <= 200'000;
  const double most = wide ? kFasterShort : kFaster;
  ComplianceVerdict out{.file = "verify_performance.txt"};
  out.passed = score_of(audit) < score * (1 + most);
  out.lines = {format("reference score = {:.6g} queries/s", score),
               format("test score = {:.6g} queries/s", score_of(audit)),
               format("the test must be less than {:g} % faster", most * 100)};
  if (out.passed && score_of(audit) >= score * (1 + kFaster)) {
    out.lines.emplace_back(
        "note: it is more than 10 % faster, which the test's text does not allow");
  }
  out.lines.emplace_back(verdict_line(out.passed));
  return out;
}

ComplianceVerdict verify_consistency(std::span<const Answer> logged, std::string_view eos,
                                     bool offline) {
  bool first = !logged.empty();
  bool end = !logged.empty();
  bool length = !logged.empty();
  for (const Answer& answer : logged) {
    if (!answer.streamed || answer.first.empty() || !answer.text.starts_with(answer.first)) {
      first = false;
    }
    if (!eos.empty() && answer.text.ends_with(std::string(eos) + std::string(eos))) end = false;
    // An end token is counted, and is in no text.
    const std::int64_t hidden = answer.tokens - answer.counted;
    const bool agree = answer.tokens >= 0 && answer.counted >= 0 &&
                       (hidden == 0 || (hidden == 1 && answer.stopped));
    if (!agree) length = false;
  }
  return consistency(first, end, length, offline);
}

ComplianceVerdict verify_tokens(std::span<const TokenAnswer> logged, std::uint64_t eos,
                                bool offline) {
  bool first = !logged.empty();
  bool end = !logged.empty();
  bool length = !logged.empty();
  for (const TokenAnswer& answer : logged) {
    if (!answer.first) {
      first = false;
    } else {
      const std::size_t both = std::min(answer.first->size(), answer.ids.size());
      if (!std::equal(answer.ids.begin(), answer.ids.begin() + static_cast<std::ptrdiff_t>(both),
                      answer.first->begin())) {
        first = false;
      }
    }
    // The script's loop ends before the first token, so that one is never an end token.
    const std::size_t n = answer.ids.size();
    if (n >= 3 && answer.ids[n - 1] == eos && answer.ids[n - 2] == eos) end = false;
    if (answer.count != static_cast<std::int64_t>(n)) length = false;
  }
  return consistency(first, end, length, offline);
}

ComplianceVerdict verify_exact_match(double exact_match) {
  ComplianceVerdict out{.passed = exact_match >= kExactMatch, .file = "verify_accuracy.txt"};
  out.lines = {format("'exact_match': {:.6g}, at least {:g}", exact_match, kExactMatch),
               std::string(verdict_line(out.passed))};
  return out;
}

std::optional<LengthLimits> length_limits(std::string_view workload) {
  const LengthTest* const found = find_length_test(workload);
  return found == nullptr ? std::nullopt : std::optional(found->limits);
}

ComplianceVerdict verify_length(std::span<const Answer> logged, const LengthLimits& limits) {
  std::uint64_t count = 0;
  std::int64_t sum = 0;
  for (const Answer& answer : logged) {
    if (length_of(answer) < 0) continue;
    ++count;
    sum += length_of(answer);
  }
  const double mean = count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count);
  ComplianceVerdict out{
      .passed = count > 0 && count == logged.size() && mean >= limits.least && mean <= limits.most,
      .file = "verify_output_len.txt"};
  out.lines = {format("mean output length of {} answers: {:.2f} tokens", count, mean),
               format("allowed: {:g} to {:g}", limits.least, limits.most)};
  if (count < logged.size()) {
    out.lines.push_back(format("{} answers have no count of tokens", logged.size() - count));
  }
  out.lines.emplace_back(verdict_line(out.passed));
  return out;
}

Result<ComplianceVerdict> verify_entropy(std::span<const Payload> accuracy,
                                         std::span<const Payload> performance) {
  ASSIGN_OR_RETURN(const auto known, by_request(accuracy));
  constexpr double kRelative = 0.001;
  std::uint64_t unmatched = 0;
  std::uint64_t different = 0;
  double worst = 0;
  for (std::size_t i = 0; i < performance.size(); ++i) {
    const std::span<const float> payload(performance[i]);
    if (payload.size() < 3) {
      return invalid(format("performance payload {}: {} numbers are too few", i, payload.size()));
    }
    const auto found = known.find({payload[0], payload[1]});
    // What an accuracy payload has behind its predictions is not read.
    if (found == known.end() || payload.size() - 2 < found->second.labels.size()) {
      ++unmatched;
      continue;
    }
    const auto& [predictions, labels] = found->second;
    const double wanted = entropy(predictions, labels);
    const double have = entropy(payload.subspan(2, labels.size()), labels);
    const double off = std::abs(have - wanted) / std::abs(wanted);
    worst = std::max(worst, off);
    if (!(off <= kRelative)) ++different;
  }
  ComplianceVerdict out{.passed = !performance.empty() && unmatched == 0 && different == 0,
                        .file = "verify_accuracy.txt"};
  out.lines = {format("{} requests of the accuracy run, {} logged in performance mode",
                      known.size(), performance.size()),
               format("{} are not of the accuracy run, {} differ in NE; the most by {:.4f} %",
                      unmatched, different, worst * 100),
               std::string(verdict_line(out.passed))};
  return out;
}

}  // namespace assay::loadgen
