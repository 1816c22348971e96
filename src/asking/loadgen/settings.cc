#include "loadgen/settings.h"

#include <algorithm>

#include "base/enum_name.h"
#include "base/format.h"

namespace assay::loadgen {
namespace {

// Far beyond any test; below it no product of these limits leaves 64 bits.
constexpr std::uint64_t kDurationMaxMs = 1'000'000'000'000;  // 31 years
constexpr std::uint64_t kSamplesMax = 4'000'000'000;
constexpr double kQpsMin = 1e-6;
constexpr double kQpsMax = 1e9;  // a nanosecond a query

double seconds(std::int64_t ms) { return static_cast<double>(ms) / 1000.0; }

Result<void> within_limits(const TestSettings& s, const SampleLibrary& library) {
  if (library.total == 0 || library.performance == 0) {
    return invalid("samples: the sample library must have at least one");
  }
  if (library.total > kSamplesMax || library.performance > kSamplesMax) {
    return invalid(format("samples: must be at most {}", kSamplesMax));
  }
  if (s.min_duration_ms > kDurationMaxMs || s.max_duration_ms > kDurationMaxMs) {
    return invalid(format("min_duration, max_duration: must be at most {} ms", kDurationMaxMs));
  }
  if (s.min_query_count > kSamplesMax) {
    return invalid(format("min_query_count: must be at most {}", kSamplesMax));
  }
  if (s.performance_sample_count_override > kSamplesMax ||
      s.accuracy_sample_count_override > kSamplesMax) {
    return invalid(format("*_sample_count_override: must be at most {}", kSamplesMax));
  }
  if (s.performance_issue_unique && s.performance_issue_same) {
    return invalid("performance_issue_unique and performance_issue_same: only one can be set");
  }
  return {};
}

// The rate that queries are generated at, and the scenario's other numbers.
Result<void> set_scenario(EffectiveSettings& out) {
  const TestSettings& s = out.requested;
  switch (s.scenario) {
    case Scenario::SingleStream:
      out.target_qps = 1e9 / s.single_stream_expected_latency_ns;
      out.max_async_queries = 1;
      out.target_latency_percentile = s.single_stream_target_latency_percentile;
      break;
    case Scenario::MultiStream:
      out.target_qps = 1e9 / s.multi_stream_expected_latency_ns;
      out.max_async_queries = 1;
      out.target_latency_percentile = s.multi_stream_target_latency_percentile;
      out.samples_per_query = s.multi_stream_samples_per_query;
      break;
    case Scenario::Server:
      out.target_qps = s.server_target_qps;
      out.target_latency_ns = static_cast<std::int64_t>(s.server_target_latency_ns);
      out.target_latency_percentile = s.server_target_latency_percentile;
      out.max_async_queries = s.server_max_async_queries;
      break;
    case Scenario::Offline:
      out.target_qps = s.offline_expected_qps;
      out.max_async_queries = 1;
      out.target_latency_percentile = 0.99;
      break;
  }
  if (!(out.target_qps >= kQpsMin && out.target_qps <= kQpsMax)) {
    return invalid(format("{}: queries per second come out as {}: must be {} to {}",
                          to_string(s.scenario), out.target_qps, kQpsMin, kQpsMax));
  }
  if (!(out.target_latency_percentile > 0 && out.target_latency_percentile < 1)) {
    return invalid(format("target_latency_percentile: must be above 0 and below 100, is {}",
                          out.target_latency_percentile * 100));
  }
  if (out.samples_per_query == 0 || out.samples_per_query > 1'000'000) {
    return invalid("samples_per_query: must be 1 to 1000000");
  }
  return {};
}

// A count from a product of doubles: truncated, and within our limit.
Result<std::uint64_t> count_of(double product) {
  if (!(product < static_cast<double>(kSamplesMax))) {
    return invalid(format("{} samples are more than {}: a lower rate or a shorter min_duration",
                          product, kSamplesMax));
  }
  return static_cast<std::uint64_t>(product);
}

Result<void> set_counts(EffectiveSettings& out) {
  const TestSettings& s = out.requested;
  if (s.scenario == Scenario::Offline) {
    // One query with everything; 10 % more than the rate asks for.
    ASSIGN_OR_RETURN(const std::uint64_t expected,
                     count_of(1.1 * seconds(out.target_duration_ms) * out.target_qps));
    out.samples_per_query = s.performance_issue_unique ? out.performance_sample_count
                                                       : std::max(out.min_query_count, expected);
    out.min_query_count = 1;
    out.target_duration_ms = 0;
  }
  if (s.scenario == Scenario::SingleStream && s.sample_concatenate_permutation) {
    // Whole passes, of the library's own count even where that is overridden, and a pass more
    // where the number is whole already.
    ASSIGN_OR_RETURN(const std::uint64_t expected,
                     count_of(2.0 * seconds(out.target_duration_ms) * out.target_qps));
    out.min_query_count = std::max(out.min_query_count, expected);
    out.min_query_count += out.library.performance - out.min_query_count % out.library.performance;
  }
  out.min_sample_count = out.min_query_count * out.samples_per_query;
  return {};
}

}  // namespace

std::string_view to_string(Scenario scenario) { return enum_name(scenario); }
std::string_view to_string(Mode mode) { return enum_name(mode); }
std::vector<std::string_view> scenario_names() {
  return {kEnumNames<Scenario>.begin(), kEnumNames<Scenario>.end()};
}
std::vector<std::string_view> mode_names() {
  return {kEnumNames<Mode>.begin(), kEnumNames<Mode>.end()};
}
std::optional<Scenario> scenario_named(std::string_view name) { return enum_named<Scenario>(name); }
std::optional<Mode> mode_named(std::string_view name) { return enum_named<Mode>(name); }

Result<EffectiveSettings> effective(const TestSettings& requested, const SampleLibrary& library) {
  TRY(within_limits(requested, library));
  EffectiveSettings out{.requested = requested, .library = library};
  TestSettings& s = out.requested;
  if (s.test05) {
    s.mode = Mode::PerformanceOnly;
    s.qsl_rng_seed = s.test05_qsl_rng_seed;
    s.sample_index_rng_seed = s.test05_sample_index_rng_seed;
    s.schedule_rng_seed = s.test05_schedule_rng_seed;
  }
  out.scenario = s.scenario;
  out.mode = s.mode;
  out.target_duration_ms = static_cast<std::int64_t>(s.min_duration_ms);
  out.min_duration_ms = static_cast<std::int64_t>(s.min_duration_ms);
  out.max_duration_ms = static_cast<std::int64_t>(s.max_duration_ms);
  out.min_query_count = s.min_query_count;
  out.max_query_count = s.max_query_count;
  out.performance_sample_count = s.performance_sample_count_override != 0
                                     ? s.performance_sample_count_override
                                     : library.performance;
  out.accuracy_sample_count =
      s.accuracy_sample_count_override != 0 ? s.accuracy_sample_count_override : library.total;
  TRY(set_scenario(out));
  TRY(set_counts(out));
  if (s.performance_issue_same && s.performance_issue_same_index >= out.performance_sample_count) {
    return invalid(format("performance_issue_same_index: {} is not below {} loaded samples",
                          s.performance_issue_same_index, out.performance_sample_count));
  }
  return out;
}

Json EffectiveSettings::to_json() const {
  Json out = Json::object();
  out.set("scenario", to_string(scenario));
  out.set("test_mode", to_string(mode));
  out.set("samples_per_query", samples_per_query);
  out.set("target_qps", target_qps);
  out.set("target_latency_ns", target_latency_ns);
  out.set("target_latency_percentile", target_latency_percentile);
  out.set("max_async_queries", max_async_queries);
  out.set("target_duration_ms", target_duration_ms);
  out.set("min_duration_ms", min_duration_ms);
  out.set("max_duration_ms", max_duration_ms);
  out.set("min_query_count", min_query_count);
  out.set("max_query_count", max_query_count);
  out.set("min_sample_count", min_sample_count);
  out.set("qsl_rng_seed", requested.qsl_rng_seed);
  out.set("sample_index_rng_seed", requested.sample_index_rng_seed);
  out.set("schedule_rng_seed", requested.schedule_rng_seed);
  out.set("accuracy_log_rng_seed", requested.accuracy_log_rng_seed);
  out.set("accuracy_log_probability", requested.accuracy_log_probability);
  out.set("accuracy_log_sampling_target", requested.accuracy_log_sampling_target);
  out.set("print_timestamps", requested.print_timestamps);
  out.set("performance_issue_unique", requested.performance_issue_unique);
  out.set("performance_issue_same", requested.performance_issue_same);
  out.set("performance_issue_same_index", requested.performance_issue_same_index);
  out.set("performance_sample_count", performance_sample_count);
  out.set("accuracy_sample_count", accuracy_sample_count);
  out.set("sample_concatenate_permutation", requested.sample_concatenate_permutation);
  return out;
}

}  // namespace assay::loadgen
