#include "compare/effect.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compare/bootstrap.h"

namespace assay::compare {

Room room_of(const metrics::Point& point, ComparedMetric metric) {
  const metrics::Distribution* const series = series_in(point, metric);
  if (series == nullptr) return {};
  const double value = series->percentile(metric.percentile);
  if (!series->limits || value <= 0) return {};
  const auto at =
      std::ranges::find(metrics::kPercentiles, metric.percentile) - metrics::kPercentiles.begin();
  const metrics::Between& limits = series->limits->percentiles[static_cast<std::size_t>(at)];
  return {limits.low > 0 ? std::log(value / limits.low) : std::numeric_limits<double>::infinity(),
          std::log(std::max(1.0, limits.high / value))};
}

namespace {

// A metric's effect on the logarithmic scale: positive harm is worse.
struct Tested {
  double harm = 0;
  double deviation = 0;
  double degrees = 1;
  Room room{};  // of the harm
};

// The probability of a harm this large if the true one were `margin` and the clients' uncertainty
// added to it. Without any spread (a simulated run whose times are all equal) the result is 0 or 1.
double p_above(const Tested& t, double margin) {
  const double distance = t.harm - t.room.below - margin;
  // Below the resolution of a percentile's last digit.
  if (t.deviation < 1e-9) return distance > 1e-9 ? 0 : 1;
  return student_tail(distance / t.deviation, t.degrees);
}

// Holm's step-down adjustment, in place.
void adjust(std::vector<double>& p) {
  std::vector<std::size_t> order(p.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&p](std::size_t i) { return p[i]; });
  double highest = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const double scaled = p[order[k]] * static_cast<double>(p.size() - k);
    highest = std::min(1.0, std::max(highest, scaled));
    p[order[k]] = highest;
  }
}

MetricVerdict verdict_of(const MetricComparison& m, const CompareOptions& options) {
  if (m.p_worse < options.alpha) return MetricVerdict::worse;
  if (m.p_better < options.alpha) return MetricVerdict::better;
  const bool within = m.low >= -options.equivalence_margin && m.high <= options.equivalence_margin;
  return within ? MetricVerdict::same : MetricVerdict::unresolved;
}

}  // namespace

std::vector<MetricComparison> judge_effects(const std::vector<FoundEffect>& found,
                                            const CompareOptions& options) {
  std::vector<Tested> tested;
  std::vector<MetricComparison> out;
  for (const FoundEffect& one : found) {
    const double change = std::log(one.b / one.a);
    // Only times have a room, and longer times are worse.
    tested.push_back(
        {higher_is_better(one.metric) ? -change : change, one.deviation, one.degrees, one.room});
    out.push_back({.metric = one.metric, .a = one.a, .b = one.b, .effect = std::expm1(change)});
  }
  const double margin = std::log1p(options.regression_margin);
  std::vector<double> worse;
  std::vector<double> better;
  for (const Tested& t : tested) {
    worse.push_back(p_above(t, margin));
    better.push_back(
        p_above({-t.harm, t.deviation, t.degrees, {t.room.above, t.room.below}}, margin));
  }
  adjust(worse);
  adjust(better);
  const double tail =
      options.alpha / 2 / static_cast<double>(std::max<std::size_t>(1, tested.size()));
  double quantile = 0;
  for (std::size_t i = 0; i < tested.size(); ++i) {
    MetricComparison& m = out[i];
    // Most often all metrics have the same degrees.
    if (i == 0 || tested[i].degrees != tested[i - 1].degrees) {
      quantile = student_quantile(tail, tested[i].degrees);
    }
    const double reach = quantile * tested[i].deviation;
    m.low = std::expm1(std::log1p(m.effect) - reach - tested[i].room.below);
    m.high = std::expm1(std::log1p(m.effect) + reach + tested[i].room.above);
    m.p_worse = worse[i];
    m.p_better = better[i];
    m.verdict = verdict_of(m, options);
  }
  return out;
}

}  // namespace assay::compare
