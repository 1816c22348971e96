#include "sut/result_lines.h"

#include <algorithm>
#include <string>

#include "base/format.h"

namespace assay::sut {
namespace {

using loadgen::EffectiveSettings;
using loadgen::kPercentiles;
using loadgen::Recorded;
using loadgen::Scenario;
using loadgen::Spread;
using loadgen::Verdict;

double in_seconds(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }
double as_double(std::uint64_t count) { return static_cast<double>(count); }

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

void log_scenario(const mlperf::TestSettings& s, LogFiles& log) {
  switch (s.scenario) {
    case mlperf::TestScenario::SingleStream:
      log.line("requested_single_stream_expected_latency_ns", s.single_stream_expected_latency_ns);
      log.line("requested_single_stream_target_latency_percentile",
               s.single_stream_target_latency_percentile);
      break;
    case mlperf::TestScenario::MultiStream:
      log.line("requested_multi_stream_expected_latency_ns", s.multi_stream_expected_latency_ns);
      log.line("requested_multi_stream_target_latency_percentile",
               s.multi_stream_target_latency_percentile);
      log.line("requested_multi_stream_samples_per_query", s.multi_stream_samples_per_query);
      break;
    case mlperf::TestScenario::Server:
      log.line("requested_server_target_qps", s.server_target_qps);
      log.line("requested_server_target_latency_ns", s.server_target_latency_ns);
      log.line("requested_server_target_latency_percentile", s.server_target_latency_percentile);
      log.line("requested_server_coalesce_queries", s.server_coalesce_queries);
      log.line("requested_server_find_peak_qps_decimals_of_precision",
               s.server_find_peak_qps_decimals_of_precision);
      log.line("requested_server_find_peak_qps_boundary_step_size",
               s.server_find_peak_qps_boundary_step_size);
      log.line("requested_server_max_async_queries", s.server_max_async_queries);
      log.line("requested_server_num_issue_query_threads", s.server_num_issue_query_threads);
      break;
    case mlperf::TestScenario::Offline:
      log.line("requested_offline_expected_qps", s.offline_expected_qps);
      break;
  }
}

void log_requested(const mlperf::TestSettings& s, const EffectiveSettings& effective,
                   LogFiles& log) {
  log.line("requested_scenario", to_string(effective.scenario));
  log.line("requested_test_mode", to_string(effective.mode));
  log_scenario(s, log);
  log.line("requested_min_duration_ms", s.min_duration_ms);
  log.line("requested_max_duration_ms", s.max_duration_ms);
  log.line("requested_min_query_count", s.min_query_count);
  log.line("requested_max_query_count", s.max_query_count);
  // test05 changes these three before they are logged.
  log.line("requested_qsl_rng_seed", effective.requested.qsl_rng_seed);
  log.line("requested_sample_index_rng_seed", effective.requested.sample_index_rng_seed);
  log.line("requested_schedule_rng_seed", effective.requested.schedule_rng_seed);
  log.line("requested_accuracy_log_rng_seed", s.accuracy_log_rng_seed);
  log.line("requested_accuracy_log_probability", s.accuracy_log_probability);
  log.line("requested_accuracy_log_sampling_target", s.accuracy_log_sampling_target);
  log.line("requested_print_timestamps", s.print_timestamps);
  log.line("requested_performance_issue_unique", s.performance_issue_unique);
  log.line("requested_performance_issue_same", s.performance_issue_same);
  log.line("requested_performance_issue_same_index", s.performance_issue_same_index);
  log.line("requested_performance_sample_count_override", s.performance_sample_count_override);
  log.line("requested_accuracy_sample_count_override", s.accuracy_sample_count_override);
  log.line("requested_sample_concatenate_permutation", s.sample_concatenate_permutation);
  if (!s.use_token_latencies) return;
  log.line("requested_use_token_latencies", s.use_token_latencies);
  if (s.scenario == mlperf::TestScenario::Offline) return;
  log.line("requested_server_ttft_latency", s.server_ttft_latency);
  log.line("requested_server_tpot_latency", s.server_tpot_latency);
}

std::string value_of_json(const Json& value) {
  if (value.is_string()) return value_of(value.as_string());
  if (value.is_bool()) return value_of(value.as_bool());
  return value.is_integer() ? value.dump() : value_of(value.as_double());
}

void log_validity(const EffectiveSettings& s, const Verdict& v, LogFiles& log) {
  log.line("result_validity", v.valid() ? "VALID" : "INVALID");
  if (s.scenario == Scenario::Server) log.line("result_perf_constraints_met", v.performance_met);
  log.line("result_min_duration_met", v.min_duration_met);
  log.line("result_min_queries_met", v.min_queries_met);
  log.line("early_stopping_met", v.early_stopping_met);
  if (!v.valid()) log.line("result_invalid_reason", v.reasons());
  if (s.requested.use_token_latencies) {
    log.line("early_stopping_ttft_result", one_line(v.ttft.text));
    log.line("early_stopping_tpot_result", one_line(v.tpot.text));
  } else {
    log.line("early_stopping_result", one_line(v.latency.text));
  }
}

void log_percentiles(const Spread& spread, std::string_view before, std::string_view behind,
                     LogFiles& log) {
  for (std::size_t i = 0; i < kPercentiles.size(); ++i) {
    log.line(format("{}{:.2f}{}", before, kPercentiles.at(i) * 100, behind), spread.at.at(i));
  }
}

void log_spread(const Spread& spread, std::string_view name, LogFiles& log) {
  log.line(format("result_{}min_latency_ns", name), spread.min);
  log.line(format("result_{}max_latency_ns", name), spread.max);
  log.line(format("result_{}mean_latency_ns", name), spread.mean);
}

// What early stopping found, by tokens where they are measured.
const loadgen::EarlyStopping& stopped_by(const EffectiveSettings& s, const Verdict& v) {
  if (!s.requested.use_token_latencies) return v.latency;
  return v.tpot.met ? v.ttft : v.tpot;
}

void log_rates(const EffectiveSettings& s, const Recorded& r, const Verdict& v, LogFiles& log) {
  const double gaps = as_double(v.samples - 1);
  const loadgen::EarlyStopping& stopped = stopped_by(s, v);
  switch (s.scenario) {
    case Scenario::SingleStream:
      log.line("result_qps_with_loadgen_overhead", gaps / in_seconds(r.last_issued));
      log.line("result_qps_without_loadgen_overhead", 1 / in_seconds(v.sample_latency.mean));
      log.line("early_stopping_latency_ss", stopped.estimate.value_or(0));
      log.line("early_stopping_latency_ms", stopped.estimate_99.value_or(0));
      break;
    case Scenario::MultiStream:
      log.line("result_min_query_latency_ns", v.query_latency.min);
      log.line("result_max_query_latency_ns", v.query_latency.max);
      log.line("result_mean_query_latency_ns", v.query_latency.mean);
      log_percentiles(v.query_latency, "result_", "_percentile_per_query_latency_ns", log);
      log.line("early_stopping_latency_ms", stopped.estimate.value_or(0));
      break;
    case Scenario::Server:
      log.line("result_scheduled_samples_per_sec", gaps / in_seconds(r.last_due));
      log.line("result_completed_samples_per_sec", gaps / in_seconds(r.last_done));
      break;
    case Scenario::Offline:
      log.line("result_samples_per_second",
               as_double(v.samples) / in_seconds(v.sample_latency.max));
      break;
  }
}

void log_tokens(const EffectiveSettings& s, const Recorded& r, const Verdict& v, LogFiles& log) {
  const double tokens = as_double(v.tokens);
  if (s.scenario == Scenario::Offline) {
    return log.line("result_tokens_per_second", tokens / in_seconds(v.sample_latency.max));
  }
  log_spread(v.first_token, "first_token_", log);
  log_percentiles(v.first_token, "result_first_token_", "_percentile_latency_ns", log);
  log.line("result_token_throughput_with_loadgen_overhead", tokens / in_seconds(r.last_issued));
  log.line("result_token_throughput",
           tokens / as_double(static_cast<std::uint64_t>(v.sample_latency.mean) * v.samples));
  log_percentiles(v.output_token, "result_time_per_output_token_", "_percentile_ns", log);
  log.line("result_time_to_output_token_min", v.output_token.min);
  log.line("result_time_to_output_token_max", v.output_token.max);
  log.line("result_time_to_output_token_mean", v.output_token.mean);
  log.line("result_completed_tokens_per_second", tokens / in_seconds(r.last_done));
}

}  // namespace

void log_settings(const mlperf::TestSettings& asked, const EffectiveSettings& settings,
                  LogFiles& log) {
  log_requested(asked, settings, log);
  const Json effective = settings.to_json();
  for (const auto& [name, value] : effective.members()) {
    log.detail(format("effective_{}", name), value_of_json(value));
  }
}

void log_result(const EffectiveSettings& s, const Recorded& r, const Verdict& v, LogFiles& log) {
  log_validity(s, v, log);
  log.line("result_query_count", r.queries_issued);
  if (s.scenario == Scenario::Server) {
    const auto over = std::count_if(r.sample_latencies.begin(), r.sample_latencies.end(),
                                    [&](std::int64_t ns) { return ns > s.target_latency_ns; });
    log.line("result_overlatency_query_count", static_cast<std::uint64_t>(over));
  }
  log_rates(s, r, v, log);
  log_spread(v.sample_latency, "", log);
  log_percentiles(v.sample_latency, "result_", "_percentile_latency_ns", log);
  if (s.requested.use_token_latencies) log_tokens(s, r, v, log);
  if (s.requested.infer_token_latencies) {
    const std::uint64_t factor = s.requested.token_latency_scaling_factor;
    if (s.scenario == Scenario::Server) {
      log.line("result_inferred_completed_tokens_per_second",
               as_double((v.samples - 1) * factor) / in_seconds(r.last_done));
    } else if (s.scenario == Scenario::Offline) {
      log.line("result_inferred_tokens_per_second",
               as_double(v.samples * factor) / in_seconds(v.sample_latency.max));
    }
  }
  log.line("num_errors", log.errors());
}

}  // namespace assay::sut
