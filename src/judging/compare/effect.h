// An effect of B against A as it was found, and the verdicts on several of them together.
//
// "Worse" is Student's t against the regression margin, one-sided, adjusted by Holm (1979) over all
// effects; intervals are two-sided and simultaneous (Bonferroni). What the clients may have added
// to the times widens each interval and counts against each verdict. Pure; any thread.
#pragma once

#include <vector>

#include "compare/compare.h"

namespace assay::compare {

// How far the true value of a metric may be below and above its figure, on the logarithmic scale,
// because the run's own client saw arrivals late. Infinite where nothing is known.
struct Room {
  double below = 0;
  double above = 0;
};
Room room_of(const metrics::Point& point, ComparedMetric metric);
// The room of B / A.
constexpr Room room_of_ratio(const Room& a, const Room& b) {
  return {b.below + a.above, b.above + a.below};
}

struct FoundEffect {
  ComparedMetric metric{};
  double a = 0;  // ns, or per second; above 0
  double b = 0;
  double deviation = 0;  // of ln(b / a)
  double degrees = 1;    // of freedom of that deviation
  Room room{};           // of b / a
};

std::vector<MetricComparison> judge_effects(const std::vector<FoundEffect>& found,
                                            const CompareOptions& options);

}  // namespace assay::compare
