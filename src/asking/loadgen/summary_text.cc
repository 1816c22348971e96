#include <string_view>

#include "base/format.h"
#include "loadgen/verdict.h"

namespace assay::loadgen {
namespace {

constexpr std::string_view kRule = "================================================\n";

double seconds_of(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }
double number(std::uint64_t count) { return static_cast<double>(count); }

// Rates are of the gaps between samples: the last one only ends the time.
double gaps(const Verdict& v) { return number(v.samples - 1); }

std::string title(std::string_view name) { return format("\n{}{}\n{}", kRule, name, kRule); }

std::string_view yes(bool met) { return met ? "Yes" : "NO"; }

std::string headline(const EffectiveSettings& s, const Recorded& r, const Verdict& v) {
  const TestSettings& asked = s.requested;
  const double percent = s.target_latency_percentile * 100;
  const double slowest = seconds_of(v.sample_latency.max);
  const double done = seconds_of(r.last_done);
  const bool server = s.scenario == Scenario::Server;
  const bool offline = s.scenario == Scenario::Offline;
  std::string out;
  if (server) {
    out += format("Completed samples per second    : {:.2f}\n", gaps(v) / done);
  } else if (offline) {
    out += format("Samples per second: {:g}\n", number(v.samples) / slowest);
  } else {
    const Spread& spread = s.scenario == Scenario::MultiStream ? v.query_latency : v.sample_latency;
    out += format("{:.1f}th percentile latency (ns) : {}\n", percent, spread.target);
  }
  if (asked.use_token_latencies) {
    if (server) {
      out += format("Completed tokens per second: {:.2f}\n", number(v.tokens) / done);
    } else if (offline) {
      out += format("Tokens per second: {:g}\n", number(v.tokens) / slowest);
    } else {
      out += format("{:.1f}th first token percentile latency (ns) : {}\n", percent,
                    v.first_token.target);
    }
  }
  if (asked.infer_token_latencies && server) {
    out += format("Completed tokens per second (inferred): {:.2f}\n",
                  number(asked.token_latency_scaling_factor * (v.samples - 1)) / done);
  } else if (asked.infer_token_latencies && offline) {
    out += format("Tokens per second (inferred): {:g}\n",
                  number(asked.token_latency_scaling_factor * v.samples) / slowest);
  }
  return out;
}

std::string constraints(const EffectiveSettings& s, const Verdict& v) {
  std::string out = format("Result is : {}\n", v.valid() ? "VALID" : "INVALID");
  if (s.scenario == Scenario::Server) {
    out += format("  Performance constraints satisfied : {}\n", yes(v.performance_met));
  }
  out += format(
      "  Min duration satisfied : {}\n  Min queries satisfied : {}\n"
      "  Early stopping satisfied: {}\n",
      yes(v.min_duration_met), yes(v.min_queries_met), yes(v.early_stopping_met));
  if (!v.valid()) {
    out += "Recommendations:\n";
    if (!v.performance_met) out += format(" * {}\n", v.performance_advice);
    if (!v.min_duration_met) out += format(" * {}\n", v.duration_advice);
    if (!v.min_queries_met) {
      out +=
          " * The test exited early, before enough queries were issued.\n"
          "   See the detailed log for why this may have occurred.\n";
    }
    for (const std::string& other : v.others) out += format(" * {}.\n", other);
  }
  if (s.scenario == Scenario::Offline) return out;
  if (!s.requested.use_token_latencies) {
    return out + format("Early Stopping Result:\n{}\n", v.latency.text);
  }
  return out + format("TTFT Early Stopping Result:\n{}\nTPOT Early Stopping Result:\n{}\n",
                      v.ttft.text, v.tpot.text);
}

// `what` and `percentile` carry the file's own padding.
std::string spread_text(const Spread& spread, std::string_view what, std::string_view percentile) {
  std::string out = format("Min {0}: {1}\nMax {0}: {2}\nMean {3}: {4}\n", what, spread.min,
                           spread.max, what.substr(0, what.size() - 1), spread.mean);
  for (std::size_t i = 0; i < kPercentiles.size(); ++i) {
    out +=
        format("{:.2f} percentile {}: {}\n", kPercentiles.at(i) * 100, percentile, spread.at.at(i));
  }
  return out;
}

std::string token_statistics(const EffectiveSettings& s, const Recorded& r, const Verdict& v) {
  std::string out = "\n";
  if (s.scenario == Scenario::SingleStream) {
    out += format("TPS w/ loadgen overhead         : {:.2f}\n",
                  number(v.tokens) / seconds_of(r.last_issued));
    out += format("TPS w/o loadgen overhead        : {:.2f}\n",
                  number(v.tokens) / (seconds_of(v.sample_latency.mean) * number(v.samples)));
  } else if (s.scenario == Scenario::Server) {
    out += format("Completed tokens per second                 : {:.2f}\n",
                  number(v.tokens) / seconds_of(r.last_done));
  }
  if (s.scenario == Scenario::Offline) return out;
  out += spread_text(v.first_token, "First Token latency (ns)                ",
                     "first token latency (ns)   ");
  out += "\n";
  return out + spread_text(v.output_token, "Time per Output Token (ns)                ",
                           "time to output token (ns)   ");
}

std::string statistics(const EffectiveSettings& s, const Recorded& r, const Verdict& v) {
  std::string out = title("Additional Stats");
  if (s.scenario == Scenario::SingleStream) {
    out +=
        format("QPS w/ loadgen overhead         : {:.2f}\n", gaps(v) / seconds_of(r.last_issued));
    out += format("QPS w/o loadgen overhead        : {:.2f}\n\n",
                  1 / seconds_of(v.sample_latency.mean));
  } else if (s.scenario == Scenario::Server) {
    out += format("Scheduled samples per second : {:.2f}\n", gaps(v) / seconds_of(r.last_due));
  }
  const bool queries = s.scenario == Scenario::MultiStream;
  if (queries) out += "Per-query latency:  \n";
  out += spread_text(queries ? v.query_latency : v.sample_latency, "latency (ns)                ",
                     "latency (ns)   ");
  if (s.requested.use_token_latencies) out += token_statistics(s, r, v);
  return out;
}

std::string parameters(const EffectiveSettings& s) {
  const TestSettings& asked = s.requested;
  std::string out = title("Test Parameters Used");
  const auto line = [&out](std::string_view name, std::uint64_t value) {
    out += format("{} : {}\n", name, value);
  };
  line("samples_per_query", s.samples_per_query);
  out += format("target_qps : {:g}\n", s.target_qps);
  if (asked.use_token_latencies) {
    out += format("ttft_latency (ns): {}\ntpot_latency (ns): {}\n", asked.server_ttft_latency,
                  asked.server_tpot_latency);
  } else {
    out += format("target_latency (ns): {}\n", s.target_latency_ns);
  }
  line("max_async_queries", s.max_async_queries);
  out += format("min_duration (ms): {}\nmax_duration (ms): {}\n", s.min_duration_ms,
                s.max_duration_ms);
  line("min_query_count", s.min_query_count);
  line("max_query_count", s.max_query_count);
  line("qsl_rng_seed", asked.qsl_rng_seed);
  line("sample_index_rng_seed", asked.sample_index_rng_seed);
  line("schedule_rng_seed", asked.schedule_rng_seed);
  line("accuracy_log_rng_seed", asked.accuracy_log_rng_seed);
  out += format("accuracy_log_probability : {:g}\n", asked.accuracy_log_probability);
  line("accuracy_log_sampling_target", asked.accuracy_log_sampling_target);
  line("print_timestamps", asked.print_timestamps ? 1 : 0);
  line("performance_issue_unique", asked.performance_issue_unique ? 1 : 0);
  line("performance_issue_same", asked.performance_issue_same ? 1 : 0);
  line("performance_issue_same_index", asked.performance_issue_same_index);
  line("performance_sample_count", s.performance_sample_count);
  line("accuracy_sample_count", s.accuracy_sample_count);
  if (asked.sample_concatenate_permutation) {
    out +=
        "WARNING: sample_concatenate_permutation was set to true. \n"
        "Generated samples per query might be different as the one in the setting.\n"
        "Check the generated_samples_per_query line in the detailed log for the real\n"
        "samples_per_query value\n";
  }
  return out;
}

std::string count_line(std::uint64_t count, std::string_view none, std::string_view one,
                       std::string_view many) {
  if (count == 0) return format("\nNo {} encountered during test.\n", none);
  return format("\n{} {} encountered. See detailed log.\n", count, count == 1 ? one : many);
}

}  // namespace

std::string summary_trailer(std::uint64_t warnings, std::uint64_t errors) {
  return count_line(warnings, "warnings", "warning", "warnings") +
         count_line(errors, "errors", "ERROR", "ERRORS");
}

std::string summary_text(const EffectiveSettings& settings, const Recorded& recorded,
                         const Verdict& v) {
  return format("{}MLPerf Results Summary\n{}SUT name : {}\nScenario : {}\nMode     : {}\n", kRule,
                kRule, recorded.sut_name, to_string(settings.scenario), to_string(settings.mode)) +
         headline(settings, recorded, v) + constraints(settings, v) +
         statistics(settings, recorded, v) + parameters(settings) +
         summary_trailer(recorded.warnings, recorded.errors);
}

}  // namespace assay::loadgen
