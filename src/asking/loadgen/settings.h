// TestSettings: what a LoadGen test is asked to be, with the field names, units and defaults of
// LoadGen 6.0.17's struct, and EffectiveSettings: what the test makes of them for its scenario.
//
// Settings come from configuration files (conf_file.h). LoadGen goes on after an impossible setting
// and computes with what it has; effective() refuses what would end in undefined behaviour there,
// and names it. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace assay::loadgen {

// Spelled as in configuration keys and logs.
// NOLINTBEGIN(readability-identifier-naming)
enum class Scenario { SingleStream, MultiStream, Server, Offline };
enum class Mode { SubmissionRun, AccuracyOnly, PerformanceOnly, FindPeakPerformance };
// NOLINTEND(readability-identifier-naming)

std::string_view to_string(Scenario scenario);
std::string_view to_string(Mode mode);
std::vector<std::string_view> scenario_names();
std::vector<std::string_view> mode_names();
std::optional<Scenario> scenario_named(std::string_view name);
std::optional<Mode> mode_named(std::string_view name);

struct TestSettings {
  Scenario scenario = Scenario::SingleStream;
  Mode mode = Mode::PerformanceOnly;
  double single_stream_expected_latency_ns = 1'000'000;
  double single_stream_target_latency_percentile = 0.90;  // fractions, here and below
  double multi_stream_expected_latency_ns = 8'000'000;
  double multi_stream_target_latency_percentile = 0.99;
  std::uint64_t multi_stream_samples_per_query = 8;
  double server_target_qps = 1;
  std::uint64_t server_target_latency_ns = 100'000'000;
  double server_target_latency_percentile = 0.99;
  bool server_coalesce_queries = false;
  std::uint64_t server_max_async_queries = 0;  // 0: no limit
  double offline_expected_qps = 1;
  bool sample_concatenate_permutation = false;
  std::uint64_t min_duration_ms = 10'000;
  std::uint64_t max_duration_ms = 0;  // 0: no limit
  std::uint64_t min_query_count = 100;
  std::uint64_t max_query_count = 0;  // 0: no limit
  std::uint64_t qsl_rng_seed = 0;
  std::uint64_t sample_index_rng_seed = 0;
  std::uint64_t schedule_rng_seed = 0;
  std::uint64_t accuracy_log_rng_seed = 0;
  double accuracy_log_probability = 0;
  std::uint64_t accuracy_log_sampling_target = 0;
  bool test05 = false;
  std::uint64_t test05_qsl_rng_seed = 0;
  std::uint64_t test05_sample_index_rng_seed = 0;
  std::uint64_t test05_schedule_rng_seed = 0;
  bool print_timestamps = false;
  bool performance_issue_unique = false;
  bool performance_issue_same = false;
  std::uint64_t performance_issue_same_index = 0;
  std::uint64_t performance_sample_count_override = 0;  // 0: the library's own count
  std::uint64_t accuracy_sample_count_override = 0;
  bool use_token_latencies = false;
  std::uint64_t server_ttft_latency = 100'000'000;  // ns
  std::uint64_t server_tpot_latency = 100'000'000;  // ns
  bool infer_token_latencies = false;
  std::uint64_t token_latency_scaling_factor = 0;  // LoadGen leaves it uninitialised

  // A member for each field, in this order; from_json() takes a missing one as its default, and
  // fails on a value of another kind.
  Json to_json() const;
  static Result<TestSettings> from_json(const Json& json);
};

// What a sample library reports of itself.
struct SampleLibrary {
  std::uint64_t total = 0;
  std::uint64_t performance = 0;  // how many fit in memory together
};

struct EffectiveSettings {
  TestSettings requested{};
  SampleLibrary library{};
  Scenario scenario = Scenario::SingleStream;
  Mode mode = Mode::PerformanceOnly;
  std::uint64_t samples_per_query = 1;
  double target_qps = 1;
  std::int64_t target_latency_ns = 0;  // Server only
  double target_latency_percentile = 0;
  std::uint64_t max_async_queries = 0;
  std::int64_t target_duration_ms = 0;  // queries are generated for this long
  std::int64_t min_duration_ms = 0;     // a valid test is at least this long
  std::int64_t max_duration_ms = 0;
  std::uint64_t min_query_count = 0;
  std::uint64_t max_query_count = 0;
  std::uint64_t min_sample_count = 0;
  std::uint64_t performance_sample_count = 0;
  std::uint64_t accuracy_sample_count = 0;

  bool accuracy() const { return mode == Mode::AccuracyOnly || mode == Mode::SubmissionRun; }
  bool performance() const { return mode != Mode::AccuracyOnly; }
  Json to_json() const;  // under the names of the detail log, without "effective_"
};

Result<EffectiveSettings> effective(const TestSettings& requested, const SampleLibrary& library);

}  // namespace assay::loadgen
