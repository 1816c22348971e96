#include "loadgen/conf_file.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

#include "base/format.h"
#include "base/text.h"

namespace assay::loadgen {
namespace {

constexpr std::uint64_t kNsPerMs = 1'000'000;
constexpr std::string_view kSpaces = " \t\n\v\f\r";

// Every key that a test looks up; those of one scenario are looked up there whatever runs.
constexpr std::array<std::string_view, 34> kKeys{"mode",
                                                 "qsl_rng_seed",
                                                 "sample_index_rng_seed",
                                                 "schedule_rng_seed",
                                                 "accuracy_log_probability",
                                                 "test05",
                                                 "test05_qsl_rng_seed",
                                                 "test05_sample_index_rng_seed",
                                                 "test05_schedule_rng_seed",
                                                 "use_token_latencies",
                                                 "ttft_latency",
                                                 "tpot_latency",
                                                 "infer_token_latencies",
                                                 "token_latency_scaling_factor",
                                                 "target_latency_percentile",
                                                 "samples_per_query",
                                                 "target_latency",
                                                 "performance_issue_unique",
                                                 "performance_issue_same",
                                                 "performance_issue_same_index",
                                                 "sample_concatenate_permutation",
                                                 "coalesce_queries",
                                                 "max_async_queries",
                                                 "min_duration",
                                                 "max_duration",
                                                 "min_query_count",
                                                 "max_query_count",
                                                 "performance_sample_count_override",
                                                 "accuracy_sample_count_override",
                                                 "target_qps",
                                                 "print_timestamps",
                                                 "accuracy_log_rng_seed",
                                                 "accuracy_log_sampling_target",
                                                 "target_duration"};

bool is_number(const std::string& word) {
  const char* const end = word.c_str() + word.size();
  char* stop = nullptr;
  static_cast<void>(std::strtoull(word.c_str(), &stop, 0));
  if (stop == end) return true;
  static_cast<void>(std::strtod(word.c_str(), &stop));
  return stop == end;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (;;) {
    const std::size_t first = line.find_first_not_of(kSpaces);
    if (first == std::string_view::npos) return words;
    line.remove_prefix(first);
    const std::size_t end = std::min(line.find_first_of(kSpaces), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

// The lines that one model and one scenario read.
class Lookup {
 public:
  Lookup(const std::map<std::string, std::string, std::less<>>& lines, std::string_view model,
         Scenario scenario)
      : lines_(lines), model_(model), scenario_(to_string(scenario)) {}

  std::optional<std::uint64_t> whole(std::string_view key, std::string_view scenario = {}) const {
    const std::string* const found = find(key, scenario);
    if (found == nullptr) return std::nullopt;
    return std::strtoull(found->c_str(), nullptr, 0);
  }
  std::optional<double> decimal(std::string_view key, std::string_view scenario = {}) const {
    const std::string* const found = find(key, scenario);
    if (found == nullptr) return std::nullopt;
    return std::strtod(found->c_str(), nullptr);
  }
  void take(std::string_view key, std::uint64_t& field, std::string_view scenario = {},
            std::uint64_t times = 1) const {
    if (const auto value = whole(key, scenario)) field = *value * times;
  }
  void take(std::string_view key, double& field, std::string_view scenario = {},
            double times = 1) const {
    if (const auto value = decimal(key, scenario)) field = *value * times;
  }
  // Some flags are set by 1 alone, the others by everything but 0.
  void take_one(std::string_view key, bool& field) const {
    if (const auto value = whole(key)) field = *value == 1;
  }
  void take_any(std::string_view key, bool& field, std::string_view scenario = {}) const {
    if (const auto value = whole(key, scenario)) field = *value != 0;
  }

 private:
  const std::string* find(std::string_view key, std::string_view scenario) const {
    const std::string_view in = scenario.empty() ? scenario_ : scenario;
    for (const auto& [model, where] : std::array<std::pair<std::string_view, std::string_view>, 4>{
             {{model_, in}, {"*", in}, {model_, "*"}, {"*", "*"}}}) {
      const auto found = lines_.find(format("{}.{}.{}", model, where, key));
      if (found != lines_.end()) return &found->second;
    }
    return nullptr;
  }

  const std::map<std::string, std::string, std::less<>>& lines_;
  std::string_view model_;
  std::string_view scenario_;
};

void take_locked(const Lookup& from, TestSettings& s) {
  from.take("qsl_rng_seed", s.qsl_rng_seed);
  from.take("sample_index_rng_seed", s.sample_index_rng_seed);
  from.take("schedule_rng_seed", s.schedule_rng_seed);
  from.take("accuracy_log_probability", s.accuracy_log_probability, {}, 0.01);
  from.take_one("test05", s.test05);
  from.take("test05_qsl_rng_seed", s.test05_qsl_rng_seed);
  from.take("test05_sample_index_rng_seed", s.test05_sample_index_rng_seed);
  from.take("test05_schedule_rng_seed", s.test05_schedule_rng_seed);
}

// Looked up under the scenario's own name, whatever scenario the test has.
void take_of_scenarios(const Lookup& from, TestSettings& s) {
  from.take("target_latency_percentile", s.single_stream_target_latency_percentile, "SingleStream",
            0.01);
  from.take("target_latency", s.single_stream_expected_latency_ns, "SingleStream", 1e6);
  from.take("target_latency_percentile", s.multi_stream_target_latency_percentile, "MultiStream",
            0.01);
  from.take("target_latency", s.multi_stream_expected_latency_ns, "MultiStream", 1e6);
  from.take("samples_per_query", s.multi_stream_samples_per_query, "MultiStream");
  from.take("target_latency_percentile", s.server_target_latency_percentile, "Server", 0.01);
  from.take("target_latency", s.server_target_latency_ns, "Server", kNsPerMs);
  from.take("target_qps", s.server_target_qps, "Server");
  from.take_any("coalesce_queries", s.server_coalesce_queries, "Server");
  // LoadGen stores this one through an int of 32 bits.
  if (const auto value = from.whole("max_async_queries", "Server")) {
    s.server_max_async_queries = static_cast<std::uint64_t>(
        static_cast<std::int64_t>(static_cast<std::int32_t>(static_cast<std::uint32_t>(*value))));
  }
  from.take("target_qps", s.offline_expected_qps, "Offline");
}

}  // namespace

Result<ConfFile> ConfFile::parse(std::string_view text) {
  ConfFile out;
  std::string wrong;
  std::size_t number = 0;
  const auto refuse = [&](std::string_view why) {
    wrong += format("{}line {}: {}", wrong.empty() ? "" : "\n", number, why);
  };
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    const std::vector<std::string_view> words = words_of(line);
    if (words.empty() || words[0] == "#" || words.size() == 1 || words[1] == "#") continue;
    if (words[1] != "=") {
      refuse(format("\"=\" must follow the key, not \"{}\"", words[1]));
      continue;
    }
    for (std::size_t i = 2; i < words.size(); ++i) {
      const std::string value(words[i]);
      if (!is_number(value)) {
        refuse(format("\"{}\" is not a number", value));
        break;
      }
      out.values_.insert_or_assign(std::string(words[0]), value);
    }
  }
  if (!wrong.empty()) return invalid(std::move(wrong));
  return out;
}

Result<void> ConfFile::apply(std::string_view model, Scenario scenario, ConfKind kind,
                             TestSettings& s) const {
  const Lookup from(values_, model, scenario);
  if (const auto mode = from.whole("mode")) {
    if (*mode > 3) return invalid(format("mode: must be 0 to 3, is {}", *mode));
    s.mode = static_cast<Mode>(*mode);
  }
  if (kind == ConfKind::built_in) take_locked(from, s);
  from.take_one("use_token_latencies", s.use_token_latencies);
  if (s.use_token_latencies) {
    from.take("ttft_latency", s.server_ttft_latency, "Server", kNsPerMs);
    from.take("tpot_latency", s.server_tpot_latency, "Server", kNsPerMs);
  }
  from.take_one("infer_token_latencies", s.infer_token_latencies);
  if (s.infer_token_latencies) {
    from.take("token_latency_scaling_factor", s.token_latency_scaling_factor);
  }
  take_of_scenarios(from, s);
  from.take_any("performance_issue_unique", s.performance_issue_unique);
  from.take_any("performance_issue_same", s.performance_issue_same);
  from.take("performance_issue_same_index", s.performance_issue_same_index);
  from.take_one("sample_concatenate_permutation", s.sample_concatenate_permutation);
  from.take("min_duration", s.min_duration_ms);
  from.take("max_duration", s.max_duration_ms);
  from.take("min_query_count", s.min_query_count);
  from.take("max_query_count", s.max_query_count);
  from.take("performance_sample_count_override", s.performance_sample_count_override);
  from.take("accuracy_sample_count_override", s.accuracy_sample_count_override);
  from.take_any("print_timestamps", s.print_timestamps);
  from.take("accuracy_log_rng_seed", s.accuracy_log_rng_seed);
  from.take("accuracy_log_sampling_target", s.accuracy_log_sampling_target);
  return {};
}

std::vector<std::string> ConfFile::unused_keys() const {
  std::vector<std::string> out;
  for (const auto& entry : values_) {
    const std::string_view whole = entry.first;
    // A model's name may have dots: the key is the last part, the scenario the one before.
    const std::size_t key = whole.rfind('.');
    const std::size_t scenario =
        key == std::string_view::npos || key == 0 ? key : whole.rfind('.', key - 1);
    const bool known = key != std::string_view::npos && scenario != std::string_view::npos &&
                       scenario != key &&
                       std::ranges::find(kKeys, whole.substr(key + 1)) != kKeys.end() &&
                       (whole.substr(scenario + 1, key - scenario - 1) == "*" ||
                        scenario_named(whole.substr(scenario + 1, key - scenario - 1)).has_value());
    if (!known) out.emplace_back(whole);
  }
  return out;
}

}  // namespace assay::loadgen
