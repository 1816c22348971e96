// The settings of a LoadGen test and of its logs, field for field as LoadGen 6.0.17 has them.
// loadgen/settings.h has the same settings for our own code, and says what a test makes of them.
// Plain data; FromConfig from one thread at a time.
#pragma once

#include <cstdint>
#include <string>

// NOLINTBEGIN(readability-identifier-naming)
namespace mlperf {

enum class TestScenario { SingleStream, MultiStream, Server, Offline };
enum class TestMode { SubmissionRun, AccuracyOnly, PerformanceOnly, FindPeakPerformance };

struct TestSettings {
  TestScenario scenario = TestScenario::SingleStream;
  TestMode mode = TestMode::PerformanceOnly;

  double single_stream_expected_latency_ns = 1000000;
  double single_stream_target_latency_percentile = 0.90;  // fractions, here and below

  double multi_stream_expected_latency_ns = 8000000;
  double multi_stream_target_latency_percentile = 0.99;
  std::uint64_t multi_stream_samples_per_query = 8;

  double server_target_qps = 1;
  std::uint64_t server_target_latency_ns = 100000000;
  double server_target_latency_percentile = 0.99;
  bool server_coalesce_queries = false;
  int server_find_peak_qps_decimals_of_precision = 1;
  double server_find_peak_qps_boundary_step_size = 1;
  std::uint64_t server_max_async_queries = 0;  // 0: no limit
  std::uint64_t server_num_issue_query_threads = 0;

  double offline_expected_qps = 1;
  bool sample_concatenate_permutation = false;

  std::uint64_t min_duration_ms = 10000;
  std::uint64_t max_duration_ms = 0;  // 0: no limit
  std::uint64_t min_query_count = 100;
  std::uint64_t max_query_count = 0;  // 0: no limit

  std::uint64_t qsl_rng_seed = 0;
  std::uint64_t sample_index_rng_seed = 0;
  std::uint64_t schedule_rng_seed = 0;
  std::uint64_t accuracy_log_rng_seed = 0;
  double accuracy_log_probability = 0.0;
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
  std::uint64_t server_ttft_latency = 100000000;
  std::uint64_t server_tpot_latency = 100000000;
  bool infer_token_latencies = false;
  std::uint64_t token_latency_scaling_factor = 0;  // the stock header leaves it uninitialised

  // Reads a configuration file for a model and a scenario ("SingleStream"). conf_type 0: the
  // built-in file of v6.1, `path` is ignored; 1: a user's file, on top of the built-in one where it
  // is the process's first; 2: a file alone. Returns 0, -ENOENT or -EINVAL. The next test's detail
  // log names what was wrong.
  int FromConfig(const std::string& path, const std::string& model, const std::string& scenario,
                 int conf_type = 1);
};

enum class LoggingMode { AsyncPoll, EndOfTestOnly, Synchronous };

struct LogOutputSettings {
  std::string outdir = ".";
  std::string prefix = "mlperf_log_";
  std::string suffix = "";
  bool prefix_with_datetime = false;
  bool copy_detail_to_stdout = false;
  bool copy_summary_to_stdout = false;
};

// As in the stock library, the mode and the interval have no effect.
struct LogSettings {
  LogOutputSettings log_output;
  LoggingMode log_mode = LoggingMode::AsyncPoll;
  std::uint64_t log_mode_async_poll_interval_ms = 1000;
  bool enable_trace = true;
};

}  // namespace mlperf
// NOLINTEND(readability-identifier-naming)
