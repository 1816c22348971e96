#include "loadgen/verdict.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <string_view>

#include "base/format.h"
#include "metrics/early_stopping.h"

namespace assay::loadgen {
namespace {

using Latencies = std::vector<std::int64_t>;

std::int64_t at_fraction(std::span<const std::int64_t> sorted, double fraction) {
  return sorted[static_cast<std::size_t>(static_cast<double>(sorted.size()) * fraction)];
}

// LoadGen divides by an unsigned count, so that the mean of a negative sum is a huge number.
std::int64_t mean_of(std::span<const std::int64_t> values) {
  const auto sum =
      static_cast<std::uint64_t>(std::accumulate(values.begin(), values.end(), std::int64_t{0}));
  return static_cast<std::int64_t>(sum / values.size());
}

Spread spread_of(std::span<const std::int64_t> sorted, double target) {
  Spread out{.min = sorted.front(),
             .max = sorted.back(),
             .mean = mean_of(sorted),
             .target = at_fraction(sorted, target)};
  for (std::size_t i = 0; i < kPercentiles.size(); ++i) {
    out.at.at(i) = at_fraction(sorted, kPercentiles.at(i));
  }
  return out;
}

Latencies sorted(Latencies values) {
  std::sort(values.begin(), values.end());
  return values;
}

// How the texts name a percentile.
std::string name_of(double fraction) { return format("{:.1f}th percentile", fraction * 100); }

// SingleStream's and MultiStream's rule. `values` has one value a query.
EarlyStopping estimated(std::span<const std::int64_t> values, double fraction, bool also_99) {
  constexpr double kMultiStream = 0.99;
  EarlyStopping out;
  const std::uint64_t least = metrics::least_below(fraction, 1) + 1;
  const std::uint64_t above = metrics::values_above(fraction, values.size());
  if (above == 0) {
    out.met = false;
    out.text = format(
        " * Only processed {} queries.\n * Need to process at least {} queries for early stopping.",
        values.size(), least);
    return out;
  }
  out.estimate = values[values.size() - above];
  out.text = format(
      " * Processed at least {} queries ({}).\n * Would discard {} highest latency queries.\n"
      " * Early stopping {} estimate: {}",
      least, values.size(), above - 1, name_of(fraction), *out.estimate);
  if (!also_99) return out;
  const std::uint64_t above_99 = metrics::values_above(kMultiStream, values.size());
  if (above_99 == 0) {
    out.text += format(
        "\n * Not enough queries processed for {}\n early stopping estimate (would need to process"
        " at\n least {} total queries).",
        name_of(kMultiStream), metrics::least_below(kMultiStream, 1) + 1);
    return out;
  }
  out.estimate_99 = values[values.size() - above_99];
  out.text +=
      format("\n * Early stopping {} estimate: {}", name_of(kMultiStream), *out.estimate_99);
  return out;
}

// Server's rule: are there enough queries for those that were over the limit?
EarlyStopping within(std::span<const std::int64_t> values, std::int64_t limit, double fraction,
                     std::uint64_t queries) {
  const auto over = static_cast<std::uint64_t>(
      std::count_if(values.begin(), values.end(), [limit](std::int64_t v) { return v > limit; }));
  const std::uint64_t needed = metrics::least_below(fraction, over) + over;
  if (queries >= needed) return {.met = true, .text = " * Run successful."};
  return {.met = false,
          .text = format(" * Run unsuccessful.\n * Processed {} queries.\n * Would need to run at "
                         "least {} more queries,\n with the run being successful if every "
                         "additional\n query were under latency.",
                         queries, needed - queries)};
}

// What each rule looks at, sorted.
struct Series {
  Latencies samples{};
  Latencies queries{};
  Latencies first_tokens{};
  Latencies output_tokens{};
};

EarlyStopping stopping(const EffectiveSettings& settings, const Series& series,
                       const Latencies& values, std::int64_t limit, std::uint64_t queries) {
  const double fraction = settings.target_latency_percentile;
  switch (settings.scenario) {
    case Scenario::SingleStream:
      return estimated(values, fraction, true);
    case Scenario::MultiStream:  // by queries, whatever was measured
      return estimated(series.queries, fraction, false);
    case Scenario::Server:
      return within(values, limit, fraction, queries);
    case Scenario::Offline:
      break;
  }
  return {};
}

void judge_early_stopping(const EffectiveSettings& settings, const Series& series,
                          std::uint64_t queries, Verdict& out) {
  const TestSettings& asked = settings.requested;
  if (!asked.use_token_latencies) {
    out.latency = stopping(settings, series, series.samples, settings.target_latency_ns, queries);
    out.early_stopping_met = out.latency.met;
    return;
  }
  out.tpot = stopping(settings, series, series.output_tokens,
                      static_cast<std::int64_t>(asked.server_tpot_latency), queries);
  out.early_stopping_met = out.tpot.met;
  if (!out.tpot.met) return;
  out.ttft = stopping(settings, series, series.first_tokens,
                      static_cast<std::int64_t>(asked.server_ttft_latency), queries);
  out.early_stopping_met = out.ttft.met;
}

void judge_duration(const EffectiveSettings& settings, const Recorded& recorded, Verdict& out) {
  const double least = static_cast<double>(settings.min_duration_ms) / 1000.0;
  std::int64_t lasted = 0;
  std::string_view advice;
  switch (settings.scenario) {
    case Scenario::Offline:
      lasted = out.sample_latency.max;
      advice = "Increase expected QPS so the loadgen pre-generates a larger (coalesced) query.";
      break;
    case Scenario::Server:
      lasted = recorded.last_due;
      advice = "Increase the target QPS so the loadgen pre-generates more queries.";
      break;
    case Scenario::SingleStream:
    case Scenario::MultiStream:
      lasted = recorded.last_issued;
      advice = "Decrease the expected latency so the loadgen pre-generates more queries.";
      break;
  }
  out.min_duration_met = static_cast<double>(lasted) / 1e9 >= least;
  if (!out.min_duration_met) out.duration_advice = advice;
}

void judge_performance(const EffectiveSettings& settings, Verdict& out) {
  if (settings.scenario != Scenario::Server) return;
  const TestSettings& asked = settings.requested;
  if (!asked.use_token_latencies) {
    if (out.sample_latency.target > settings.target_latency_ns) {
      out.performance_advice = "Reduce target QPS to improve latency.";
    }
  } else {
    const auto add = [&](std::string_view name) {
      out.performance_advice +=
          format("{}{} constrain not met: Reduce target QPS to improve latency.",
                 out.performance_advice.empty() ? "" : "\n * ", name);
    };
    if (out.first_token.target > static_cast<std::int64_t>(asked.server_ttft_latency)) add("TTFT");
    if (out.output_token.target > static_cast<std::int64_t>(asked.server_tpot_latency)) {
      add("TPOT");
    }
  }
  out.performance_met = out.performance_advice.empty();
}

// An answer of one token counts as one of none, whose time per output token is negative.
Latencies output_tokens(const Recorded& recorded) {
  Latencies out;
  out.reserve(recorded.tokens.size());
  for (std::size_t i = 0; i < recorded.first_tokens.size(); ++i) {
    const std::int64_t tokens = recorded.tokens[i] > 1 ? recorded.tokens[i] : 0;
    out.push_back((recorded.sample_latencies[i] - recorded.first_tokens[i]) / (tokens - 1));
  }
  return out;
}

Result<void> check(const EffectiveSettings& settings, const Recorded& recorded) {
  const std::size_t samples = recorded.sample_latencies.size();
  if (samples == 0) return invalid("sample_latencies_ns: a test without a sample has no result");
  const bool stream = settings.scenario == Scenario::SingleStream;
  if ((stream || settings.scenario == Scenario::Server) && samples != recorded.queries_issued) {
    return invalid(format("sample_latencies_ns: {} for {} queries of one sample", samples,
                          recorded.queries_issued));
  }
  if (settings.scenario == Scenario::MultiStream) {
    const std::size_t queries = recorded.query_latencies.size();
    if (queries == 0 || queries != recorded.queries_issued) {
      return invalid(
          format("query_latencies_ns: {} for {} queries", queries, recorded.queries_issued));
    }
  }
  if (!settings.requested.use_token_latencies) return {};
  if (recorded.tokens.size() != samples) {
    return invalid(format("tokens: {} for {} samples", recorded.tokens.size(), samples));
  }
  if (settings.scenario != Scenario::Offline && recorded.first_tokens.size() != samples) {
    return invalid(
        format("first_tokens_ns: {} for {} samples", recorded.first_tokens.size(), samples));
  }
  return {};
}

Result<Latencies> numbers(const Json& json, std::string_view key) {
  Latencies out;
  const Json* const found = json.find(key);
  if (found == nullptr) return out;
  if (!found->is_array()) return invalid(format("{}: must be a list", key));
  for (const Json& item : found->items()) {
    if (!item.is_integer()) return invalid(format("{}: must be whole numbers", key));
    out.push_back(item.as_int());
  }
  return out;
}

}  // namespace

std::string Verdict::reasons() const {
  std::string out;
  if (!performance_met) out += performance_advice + " ";
  if (!min_duration_met) out += duration_advice + " ";
  if (!min_queries_met) out += "The test exited early, before enough queries were issued.";
  for (const std::string& other : others) {
    out += format("{}{}.", out.empty() || out.back() == ' ' ? "" : " ", other);
  }
  std::replace(out.begin(), out.end(), '\n', ' ');
  return out;
}

Result<Verdict> verdict(const EffectiveSettings& settings, const Recorded& recorded) {
  TRY(check(settings, recorded));
  const double target = settings.target_latency_percentile;
  Verdict out;
  Series series{.samples = sorted(recorded.sample_latencies),
                .queries = sorted(recorded.query_latencies)};
  out.samples = series.samples.size();
  out.sample_latency = spread_of(series.samples, target);
  if (settings.scenario == Scenario::MultiStream) {
    out.query_latency = spread_of(series.queries, target);
  }
  if (settings.requested.use_token_latencies) {
    for (const std::int64_t tokens : recorded.tokens) {
      if (tokens > 1) out.tokens += static_cast<std::uint64_t>(tokens);
    }
    if (settings.scenario != Scenario::Offline) {
      series.first_tokens = sorted(recorded.first_tokens);
      series.output_tokens = sorted(output_tokens(recorded));
      out.first_token = spread_of(series.first_tokens, target);
      out.output_token = spread_of(series.output_tokens, target);
    }
  }
  judge_duration(settings, recorded, out);
  judge_performance(settings, out);
  judge_early_stopping(settings, series, recorded.queries_issued, out);
  out.min_queries_met = recorded.queries_issued >= settings.min_query_count &&
                        out.samples >= settings.min_sample_count;
  return out;
}

Result<Recorded> Recorded::from_json(const Json& json) {
  if (!json.is_object()) return invalid("must be an object");
  Recorded out;
  out.sut_name = json["sut_name"].as_string("");
  out.queries_issued = json["queries_issued"].as_uint();
  ASSIGN_OR_RETURN(out.sample_latencies, numbers(json, "sample_latencies_ns"));
  ASSIGN_OR_RETURN(out.query_latencies, numbers(json, "query_latencies_ns"));
  ASSIGN_OR_RETURN(out.first_tokens, numbers(json, "first_tokens_ns"));
  ASSIGN_OR_RETURN(out.tokens, numbers(json, "tokens"));
  out.last_due = json["last_due_ns"].as_int();
  out.last_issued = json["last_issued_ns"].as_int();
  out.last_done = json["last_done_ns"].as_int();
  out.warnings = json["warnings"].as_uint();
  out.errors = json["errors"].as_uint();
  return out;
}

}  // namespace assay::loadgen
