// What one run's own figures exclude. By Little's law the time that queries spent in flight is at
// most the concurrency times the duration.
#include "rules/plausibility/series_figures.h"
#include "rules/rule.h"

namespace assay::rules {
namespace {

constexpr double kLoadSlack = 1.01;  // the rules' own tolerance for figures

void check_plausible_load(const Scope& at, Out& out) {
  const Document& summary = at.point->summary;
  const Metrics& metrics = at.point->metrics;
  const SeriesFigures latency = series_figures(summary.at("/latency"));
  if (!metrics.duration_ns || *metrics.duration_ns <= 0) return out.not_applicable();
  const double duration = *metrics.duration_ns;
  if (latency.max && *latency.max > duration * kLoadSlack) {
    out.error(summary.place("/latency/max"),
              format("a query of {} ns in a run of {} ns", *latency.max, duration),
              "no query longer than the run that it is part of");
  }
  const bool fixed = at.point->load_pattern == "concurrency" && !at.point->dedicated();
  const auto concurrency = static_cast<double>(at.point->concurrency);
  if (fixed && latency.total && *latency.total > concurrency * duration * kLoadSlack) {
    out.error(summary.place("/latency/total"),
              format("{:.1f} queries in flight on average (latency.total over the duration)",
                     *latency.total / duration),
              format("at most the concurrency, {}", at.point->concurrency));
  }
  const Json& said = summary.at("/qps");
  if (fixed && said.is_number() && metrics.completed) {
    const double qps = static_cast<double>(*metrics.completed) / (duration * 1e-9);
    if (said.as_double() > qps * kLoadSlack) {
      out.error(summary.place("/qps"), format("{} queries/s are stated", said.as_double()),
                format("{:.4f}: completed over the duration", qps));
    }
  }
  double reasons = 0;
  for (const auto& [name, count] : summary.at("/finish_reason_counts").members()) {
    reasons += count.as_double();
  }
  if (metrics.completed && reasons > static_cast<double>(*metrics.completed)) {
    out.error(summary.place("/finish_reason_counts"), format("{} finish reasons", reasons),
              format("at most {}: one for each query that ended", *metrics.completed));
  }
}

}  // namespace

Rule plausible_load() {
  return {.id = "plausible-load",
          .needs = Needs::measured_point,
          .clause = "Assay's own: Little's law",
          .demand = "no more queries in flight than the concurrency, none longer than the run",
          .fix = "copy result_summary.json from the run of this point as it is",
          .check = check_plausible_load};
}

}  // namespace assay::rules
