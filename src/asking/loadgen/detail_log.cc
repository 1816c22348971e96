#include "loadgen/detail_log.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "base/format.h"
#include "base/json.h"
#include "base/version.h"
#include "loadgen/queries.h"

namespace assay::loadgen {
namespace {

constexpr std::string_view kRelease = "6.0.17";  // whose formats and rules these are

// A value of any kind, to what takes lines.
class Lines {
 public:
  explicit Lines(const SayDetail& say) : say_(say) {}
  template <typename T>
  void operator()(std::string_view key, const T& value) const {
    say_(key, detail_value(value));
  }

 private:
  const SayDetail& say_;
};

double in_seconds(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }
double as_double(std::uint64_t count) { return static_cast<double>(count); }

std::string joined_lines(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

void say_scenario(const TestSettings& s, const ProcessSettings& process, const Lines& say) {
  switch (s.scenario) {
    case Scenario::SingleStream:
      say("requested_single_stream_expected_latency_ns", s.single_stream_expected_latency_ns);
      say("requested_single_stream_target_latency_percentile",
          s.single_stream_target_latency_percentile);
      break;
    case Scenario::MultiStream:
      say("requested_multi_stream_expected_latency_ns", s.multi_stream_expected_latency_ns);
      say("requested_multi_stream_target_latency_percentile",
          s.multi_stream_target_latency_percentile);
      say("requested_multi_stream_samples_per_query", s.multi_stream_samples_per_query);
      break;
    case Scenario::Server:
      say("requested_server_target_qps", s.server_target_qps);
      say("requested_server_target_latency_ns", s.server_target_latency_ns);
      say("requested_server_target_latency_percentile", s.server_target_latency_percentile);
      say("requested_server_coalesce_queries", s.server_coalesce_queries);
      say("requested_server_find_peak_qps_decimals_of_precision", process.find_peak_decimals);
      say("requested_server_find_peak_qps_boundary_step_size", process.find_peak_step);
      say("requested_server_max_async_queries", s.server_max_async_queries);
      say("requested_server_num_issue_query_threads", process.issue_threads);
      break;
    case Scenario::Offline:
      say("requested_offline_expected_qps", s.offline_expected_qps);
      break;
  }
}

// test05 has changed the seeds before they are logged.
void say_requested(const TestSettings& s, const ProcessSettings& process, const Lines& say) {
  say("requested_scenario", to_string(s.scenario));
  say("requested_test_mode", to_string(s.mode));
  say_scenario(s, process, say);
  say("requested_min_duration_ms", s.min_duration_ms);
  say("requested_max_duration_ms", s.max_duration_ms);
  say("requested_min_query_count", s.min_query_count);
  say("requested_max_query_count", s.max_query_count);
  say("requested_qsl_rng_seed", s.qsl_rng_seed);
  say("requested_sample_index_rng_seed", s.sample_index_rng_seed);
  say("requested_schedule_rng_seed", s.schedule_rng_seed);
  say("requested_accuracy_log_rng_seed", s.accuracy_log_rng_seed);
  say("requested_accuracy_log_probability", s.accuracy_log_probability);
  say("requested_accuracy_log_sampling_target", s.accuracy_log_sampling_target);
  say("requested_print_timestamps", s.print_timestamps);
  say("requested_performance_issue_unique", s.performance_issue_unique);
  say("requested_performance_issue_same", s.performance_issue_same);
  say("requested_performance_issue_same_index", s.performance_issue_same_index);
  say("requested_performance_sample_count_override", s.performance_sample_count_override);
  say("requested_accuracy_sample_count_override", s.accuracy_sample_count_override);
  say("requested_sample_concatenate_permutation", s.sample_concatenate_permutation);
  if (!s.use_token_latencies) return;
  say("requested_use_token_latencies", s.use_token_latencies);
  if (s.scenario == Scenario::Offline) return;
  say("requested_server_ttft_latency", s.server_ttft_latency);
  say("requested_server_tpot_latency", s.server_tpot_latency);
}

std::string value_of_json(const Json& value) {
  if (value.is_string()) return detail_value(value.as_string());
  if (value.is_bool()) return detail_value(value.as_bool());
  return value.is_integer() ? value.dump() : detail_value(value.as_double());
}

void say_validity(const EffectiveSettings& s, const Verdict& v, const Lines& say) {
  say("result_validity", v.valid() ? "VALID" : "INVALID");
  if (s.scenario == Scenario::Server) say("result_perf_constraints_met", v.performance_met);
  say("result_min_duration_met", v.min_duration_met);
  say("result_min_queries_met", v.min_queries_met);
  say("early_stopping_met", v.early_stopping_met);
  if (!v.valid()) say("result_invalid_reason", v.reasons());
  if (s.requested.use_token_latencies) {
    say("early_stopping_ttft_result", joined_lines(v.ttft.text));
    say("early_stopping_tpot_result", joined_lines(v.tpot.text));
  } else {
    say("early_stopping_result", joined_lines(v.latency.text));
  }
}

void say_percentiles(const Spread& spread, std::string_view before, std::string_view behind,
                     const Lines& say) {
  for (std::size_t i = 0; i < kPercentiles.size(); ++i) {
    say(format("{}{:.2f}{}", before, kPercentiles.at(i) * 100, behind), spread.at.at(i));
  }
}

void say_spread(const Spread& spread, std::string_view name, const Lines& say) {
  say(format("result_{}min_latency_ns", name), spread.min);
  say(format("result_{}max_latency_ns", name), spread.max);
  say(format("result_{}mean_latency_ns", name), spread.mean);
}

// What early stopping found, by tokens where they are measured.
const EarlyStopping& stopped_by(const EffectiveSettings& s, const Verdict& v) {
  if (!s.requested.use_token_latencies) return v.latency;
  return v.tpot.met ? v.ttft : v.tpot;
}

void say_rates(const EffectiveSettings& s, const Recorded& r, const Verdict& v, const Lines& say) {
  const double gaps = as_double(v.samples - 1);
  const EarlyStopping& stopped = stopped_by(s, v);
  switch (s.scenario) {
    case Scenario::SingleStream:
      say("result_qps_with_loadgen_overhead", gaps / in_seconds(r.last_issued));
      say("result_qps_without_loadgen_overhead", 1 / in_seconds(v.sample_latency.mean));
      say("early_stopping_latency_ss", stopped.estimate.value_or(0));
      say("early_stopping_latency_ms", stopped.estimate_99.value_or(0));
      break;
    case Scenario::MultiStream:
      say("result_min_query_latency_ns", v.query_latency.min);
      say("result_max_query_latency_ns", v.query_latency.max);
      say("result_mean_query_latency_ns", v.query_latency.mean);
      say_percentiles(v.query_latency, "result_", "_percentile_per_query_latency_ns", say);
      say("early_stopping_latency_ms", stopped.estimate.value_or(0));
      break;
    case Scenario::Server:
      say("result_scheduled_samples_per_sec", gaps / in_seconds(r.last_due));
      say("result_completed_samples_per_sec", gaps / in_seconds(r.last_done));
      break;
    case Scenario::Offline:
      say("result_samples_per_second", as_double(v.samples) / in_seconds(v.sample_latency.max));
      break;
  }
}

void say_tokens(const EffectiveSettings& s, const Recorded& r, const Verdict& v, const Lines& say) {
  const double tokens = as_double(v.tokens);
  if (s.scenario == Scenario::Offline) {
    return say("result_tokens_per_second", tokens / in_seconds(v.sample_latency.max));
  }
  say_spread(v.first_token, "first_token_", say);
  say_percentiles(v.first_token, "result_first_token_", "_percentile_latency_ns", say);
  say("result_token_throughput_with_loadgen_overhead", tokens / in_seconds(r.last_issued));
  say("result_token_throughput",
      tokens / as_double(static_cast<std::uint64_t>(v.sample_latency.mean) * v.samples));
  say_percentiles(v.output_token, "result_time_per_output_token_", "_percentile_ns", say);
  say("result_time_to_output_token_min", v.output_token.min);
  say("result_time_to_output_token_max", v.output_token.max);
  say("result_time_to_output_token_mean", v.output_token.mean);
  say("result_completed_tokens_per_second", tokens / in_seconds(r.last_done));
}

std::string time_text(const char* layout, WallTime at, bool utc) {
  const std::time_t seconds = at.ns / 1'000'000'000;
  std::tm parts{};
  if (utc) {
    ::gmtime_r(&seconds, &parts);
  } else {
    ::localtime_r(&seconds, &parts);
  }
  std::array<char, 64> out{};
  const std::size_t size = std::strftime(out.data(), out.size(), layout, &parts);
  return {out.data(), size};
}

// The log of a recorded phase. Each of its lines is JSON: a quote in a system's name is escaped,
// and a rate over no time is null.
class RecordedLog {
 public:
  void line(std::string_view key, std::string value, Severity severity = Severity::plain) {
    if (value.starts_with('"')) {
      value = Json(value.substr(1, value.size() - 2)).dump();
    } else if (value.ends_with("inf") || value.ends_with("nan")) {
      value = "null";
    }
    text_ += detail_line({key, value, since_ns_, severity, ::getpid(), 0});
  }
  void error(std::string_view text) {
    line("error_runtime", detail_value(text), Severity::error);
    ++errors_;
  }
  SayDetail say() {
    return [this](std::string_view key, const std::string& value) { line(key, value); };
  }

  void head(const Test& test, const EffectiveSettings& settings, const LoggedPhase& phase) {
    say_version(say());
    line("test_datetime", detail_value(local_time(phase.began)));
    line("sut_name", detail_value(test.sut_name));
    line("get_sut_name_duration_ns", "0");
    line("qsl_name", detail_value(phase.library));
    line("qsl_reported_total_count", detail_value(settings.library.total));
    line("qsl_reported_performance_count", detail_value(settings.library.performance));
    say_settings(settings, {}, say());
  }
  void series(const std::vector<std::uint64_t>& loaded, std::uint64_t queries,
              std::uint64_t per_query, std::int64_t generated_ns) {
    line("loaded_qsl_set", detail_value(loaded));
    line("generated_query_count", detail_value(queries));
    line("generated_samples_per_query", detail_value(per_query));
    line("generated_query_duration", detail_value(generated_ns));
  }
  void end_of_load(const LoggedPhase& phase) {
    since_ns_ = phase.lasted_ns;
    if (phase.failed > 0) {
      error(format("{} samples failed, and have no answer.", phase.failed));
    }
    if (!phase.trouble.empty()) error("There is no accuracy log: " + phase.trouble);
    line("power_begin", detail_value(power_time(phase.began)));
    line("power_end", detail_value(power_time({phase.began.ns + phase.lasted_ns})));
  }
  std::string finish(std::uint64_t errors) {
    line("num_errors", detail_value(errors));
    return std::move(text_);
  }
  std::uint64_t errors() const { return errors_; }

 private:
  std::string text_{};
  std::int64_t since_ns_ = 0;
  std::uint64_t errors_ = 0;
};

}  // namespace

std::string detail_value(bool value) { return value ? "true" : "false"; }
std::string detail_value(double value) { return format("{:g}", value); }
std::string detail_value(std::uint64_t value) { return format("{}", value); }
std::string detail_value(std::int64_t value) { return format("{}", value); }
std::string detail_value(int value) { return format("{}", value); }
std::string detail_value(std::string_view value) { return format("\"{}\"", value); }
std::string detail_value(const char* value) { return detail_value(std::string_view(value)); }
std::string detail_value(const std::vector<std::uint64_t>& value) {
  // An empty list is "]" in the stock library.
  std::string out = value.empty() ? "" : "[";
  for (const std::uint64_t one : value) {
    if (out.size() > 1) out += ',';
    out += format("{}", one);
  }
  return out + "]";
}

std::string detail_line(const DetailLine& line) {
  return format(
      ":::MLLOG {{\"key\": \"{}\", \"value\": {}, \"time_ms\": {}.{:06}, "
      "\"namespace\": \"mlperf::logging\", \"event_type\": \"POINT_IN_TIME\", "
      "\"metadata\": {{\"is_error\": {}, \"is_warning\": {}, \"file\": \"assay\", \"line_no\": 0, "
      "\"pid\": {}, \"tid\": {}}}}}\n",
      line.key, line.value, line.since_ns / 1'000'000, line.since_ns % 1'000'000,
      line.severity == Severity::error, line.severity == Severity::warning, line.pid, line.thread);
}

std::string local_time(WallTime at) { return time_text("%FT%TZ", at, false); }

std::string power_time(WallTime at) {
  return format("{}.{:03}", time_text("%m-%d-%Y %T", at, true), at.ns / 1'000'000 % 1000);
}

void say_version(const SayDetail& say) {
  const Lines line(say);
  line("loadgen_version", format("{} @ assay-{}", kRelease, version()));
  line("loadgen_build_date_local", "NA");
  line("loadgen_build_date_utc", "NA");
  line("loadgen_git_commit_date", "NA");
  line("loadgen_git_log_message", source_revision());
  line("loadgen_git_status_message", "");
  say("loadgen_file_sha1", "{}");
}

void say_settings(const EffectiveSettings& settings, const ProcessSettings& process,
                  const SayDetail& say) {
  say_requested(settings.requested, process, Lines(say));
  const Json effective = settings.to_json();
  for (const auto& [name, value] : effective.members()) {
    say(format("effective_{}", name), value_of_json(value));
  }
}

void say_result(const EffectiveSettings& s, const Recorded& r, const Verdict& v,
                const SayDetail& out) {
  const Lines say(out);
  say_validity(s, v, say);
  say("result_query_count", r.queries_issued);
  if (s.scenario == Scenario::Server) {
    const auto over = std::count_if(r.sample_latencies.begin(), r.sample_latencies.end(),
                                    [&](std::int64_t ns) { return ns > s.target_latency_ns; });
    say("result_overlatency_query_count", static_cast<std::uint64_t>(over));
  }
  say_rates(s, r, v, say);
  say_spread(v.sample_latency, "", say);
  say_percentiles(v.sample_latency, "result_", "_percentile_latency_ns", say);
  if (s.requested.use_token_latencies) say_tokens(s, r, v, say);
  if (!s.requested.infer_token_latencies) return;
  const std::uint64_t factor = s.requested.token_latency_scaling_factor;
  if (s.scenario == Scenario::Server) {
    say("result_inferred_completed_tokens_per_second",
        as_double((v.samples - 1) * factor) / in_seconds(r.last_done));
  } else if (s.scenario == Scenario::Offline) {
    say("result_inferred_tokens_per_second",
        as_double(v.samples * factor) / in_seconds(v.sample_latency.max));
  }
}

Result<std::string> performance_log(const Judgement& judged, const LoggedPhase& phase) {
  RecordedLog log;
  log.head(judged.test, judged.settings, phase);
  log.line("generic_message", detail_value("Starting performance mode"));
  const LoadedSet set = loaded_sets(judged.settings, Phase::performance).front();
  ASSIGN_OR_RETURN(QueryStream stream, QueryStream::make(judged.settings, set, Phase::performance));
  for (Query query; stream.next(query);) {
  }
  log.series(set.samples, stream.made(), stream.samples_per_query(), stream.end_ns());
  for (const std::string& error : judged.errors) log.error(error);
  log.end_of_load(phase);
  if (judged.verdict) {
    say_result(judged.settings, judged.recorded, *judged.verdict, log.say());
  } else {
    log.error("There is no result: " + judged.reasons());
  }
  return log.finish(judged.recorded.errors);
}

Result<std::string> accuracy_log(const Test& test, const LoggedPhase& phase,
                                 const std::vector<std::uint64_t>& samples) {
  Test asked = test;
  asked.library = {.total = samples.size(), .performance = samples.size()};
  asked.requested.accuracy_sample_count_override = 0;
  asked.requested.performance_sample_count_override = 0;
  ASSIGN_OR_RETURN(const EffectiveSettings settings, effective(asked.requested, asked.library));
  RecordedLog log;
  log.head(asked, settings, phase);
  log.line("generic_message", detail_value("Starting accuracy mode"));
  log.series(samples, settings.scenario == Scenario::Offline ? 1 : samples.size(),
             settings.scenario == Scenario::Offline ? samples.size() : 1, 0);
  log.end_of_load(phase);
  return log.finish(log.errors());
}

}  // namespace assay::loadgen
