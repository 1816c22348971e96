#include "sut/settings_copy.h"

namespace assay::sut {
namespace {

template <typename From, typename To>
void copy_fields(const From& from, To& to) {
  to.single_stream_expected_latency_ns = from.single_stream_expected_latency_ns;
  to.single_stream_target_latency_percentile = from.single_stream_target_latency_percentile;
  to.multi_stream_expected_latency_ns = from.multi_stream_expected_latency_ns;
  to.multi_stream_target_latency_percentile = from.multi_stream_target_latency_percentile;
  to.multi_stream_samples_per_query = from.multi_stream_samples_per_query;
  to.server_target_qps = from.server_target_qps;
  to.server_target_latency_ns = from.server_target_latency_ns;
  to.server_target_latency_percentile = from.server_target_latency_percentile;
  to.server_coalesce_queries = from.server_coalesce_queries;
  to.server_max_async_queries = from.server_max_async_queries;
  to.offline_expected_qps = from.offline_expected_qps;
  to.sample_concatenate_permutation = from.sample_concatenate_permutation;
  to.min_duration_ms = from.min_duration_ms;
  to.max_duration_ms = from.max_duration_ms;
  to.min_query_count = from.min_query_count;
  to.max_query_count = from.max_query_count;
  to.qsl_rng_seed = from.qsl_rng_seed;
  to.sample_index_rng_seed = from.sample_index_rng_seed;
  to.schedule_rng_seed = from.schedule_rng_seed;
  to.accuracy_log_rng_seed = from.accuracy_log_rng_seed;
  to.accuracy_log_probability = from.accuracy_log_probability;
  to.accuracy_log_sampling_target = from.accuracy_log_sampling_target;
  to.test05 = from.test05;
  to.test05_qsl_rng_seed = from.test05_qsl_rng_seed;
  to.test05_sample_index_rng_seed = from.test05_sample_index_rng_seed;
  to.test05_schedule_rng_seed = from.test05_schedule_rng_seed;
  to.print_timestamps = from.print_timestamps;
  to.performance_issue_unique = from.performance_issue_unique;
  to.performance_issue_same = from.performance_issue_same;
  to.performance_issue_same_index = from.performance_issue_same_index;
  to.performance_sample_count_override = from.performance_sample_count_override;
  to.accuracy_sample_count_override = from.accuracy_sample_count_override;
  to.use_token_latencies = from.use_token_latencies;
  to.server_ttft_latency = from.server_ttft_latency;
  to.server_tpot_latency = from.server_tpot_latency;
  to.infer_token_latencies = from.infer_token_latencies;
  to.token_latency_scaling_factor = from.token_latency_scaling_factor;
}

}  // namespace

loadgen::TestSettings settings_of(const mlperf::TestSettings& settings) {
  loadgen::TestSettings out;
  out.scenario = static_cast<loadgen::Scenario>(settings.scenario);
  out.mode = static_cast<loadgen::Mode>(settings.mode);
  copy_fields(settings, out);
  return out;
}

void set_from(const loadgen::TestSettings& from, mlperf::TestSettings& to) {
  to.scenario = static_cast<mlperf::TestScenario>(from.scenario);
  to.mode = static_cast<mlperf::TestMode>(from.mode);
  copy_fields(from, to);
}

}  // namespace assay::sut
