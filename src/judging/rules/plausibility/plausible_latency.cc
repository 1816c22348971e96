#include "rules/plausibility/series_figures.h"
#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_plausible_latency(const Scope& at, Out& out) {
  const Document& summary = at.point->summary;
  const SeriesFigures ttft = series_figures(summary.at("/ttft"));
  const SeriesFigures latency = series_figures(summary.at("/latency"));
  if (ttft.percentiles.empty() || latency.percentiles.empty()) return out.not_applicable();
  if (ttft.max && latency.max && *ttft.max > *latency.max) {
    out.error(
        summary.place("/ttft/max"),
        format("the longest TTFT is {} ns, the longest latency {} ns", *ttft.max, *latency.max),
        "a first token before the reply's end");
    return;
  }
  // The reference client has failed queries in its latencies, and most of them have no TTFT.
  if (at.point->metrics.failed.value_or(0) > 0) return;
  for (const auto& [p, first] : ttft.percentiles) {
    const auto whole = latency.at(p);
    if (!whole || first <= *whole) continue;
    out.error(summary.place("/ttft/percentiles"),
              format("TTFT P{} is {} ns, latency P{} {} ns", p, first, p, *whole),
              "a first token before the reply's end");
    return;
  }
}

}  // namespace

Rule plausible_latency() {
  return {.id = "plausible-latency",
          .needs = Needs::measured_point,
          .clause = "Assay's own: cause and effect",
          .demand = "no percentile of TTFT is above that of latency",
          .fix = "the two series are not of one run, or not in one unit: measure the point again",
          .check = check_plausible_latency};
}

}  // namespace assay::rules
