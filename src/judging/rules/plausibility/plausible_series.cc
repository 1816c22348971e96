#include "rules/plausibility/series_figures.h"
#include "rules/rule.h"

namespace assay::rules {
namespace {

// Two sums of doubles may differ in their last digits.
constexpr double kSeriesSlack = 1 + 1e-9;

void check_one_series(const Document& summary, std::string_view name, Out& out) {
  const std::string pointer = pointer_to("", name);
  const SeriesFigures series = series_figures(summary.at(pointer));
  const auto refuse = [&](std::string found, std::string expected) {
    out.error(summary.place(pointer), std::move(found), std::move(expected));
  };
  for (std::size_t i = 1; i < series.percentiles.size(); ++i) {
    const auto& [low, below] = series.percentiles[i - 1];
    const auto& [high, above] = series.percentiles[i];
    if (below <= above) continue;
    refuse(format("{}: P{} is {}, P{} is {}", name, low, below, high, above),
           "percentiles that ascend");
    return;
  }
  if (series.percentiles.empty()) return;
  const double least = series.percentiles.front().second;
  const double most = series.percentiles.back().second;
  if (least < 0) refuse(format("{}: a percentile of {}", name, least), "0 or more");
  if (series.min && *series.min < 0) refuse(format("{}.min is {}", name, *series.min), "0 or more");
  if (series.min && *series.min > least * kSeriesSlack) {
    refuse(format("{}.min is {}, a percentile {}", name, *series.min, least),
           "a least value that no percentile is below");
  }
  if (series.max && *series.max * kSeriesSlack < most) {
    refuse(format("{}.max is {}, a percentile {}", name, *series.max, most),
           "a largest value that no percentile is above");
  }
  if (series.avg && series.min && series.max &&
      (*series.avg * kSeriesSlack < *series.min || *series.avg > *series.max * kSeriesSlack)) {
    refuse(format("{}.avg is {}, outside {} to {}", name, *series.avg, *series.min, *series.max),
           "a mean between the least and the largest value");
  }
}

void check_plausible_series(const Scope& at, Out& out) {
  for (const std::string_view name :
       {"ttft", "tpot", "latency", "output_sequence_lengths", "input_sequence_lengths"}) {
    check_one_series(at.point->summary, name, out);
  }
}

}  // namespace

Rule plausible_series() {
  return {.id = "plausible-series",
          .needs = Needs::measured_point,
          .clause = "Assay's own: arithmetic",
          .demand = "percentiles ascend, and lie with the mean between least and largest value",
          .fix = "copy result_summary.json from the run folder as it is",
          .check = check_plausible_series};
}

}  // namespace assay::rules
