// Is a series level? The statistics of the steady-state detector. A series is a few block values in
// the order of time (10 to some 100), each the percentile of many replies.
//
// Mann-Kendall with Hamed and Rao's correction tests whether it rises or falls at all: it counts
// the pairs that rise and that fall; the variance is corrected for the correlation of neighbouring
// values. The slope is Theil and Sen's (the median of all pairs' slopes), which one outlier does
// not move; its error comes from the residuals. Pettitt's test asks whether a series changed its
// level at one place. Sources: Hamed and Rao, J. Hydrology 204 (1998); Sen, JASA 63 (1968);
// Pettitt, Applied Statistics 28 (1979). Pure; any thread.
#pragma once

#include <cstddef>
#include <span>

namespace assay::metrics {

struct Trend {
  double drift = 0;        // the fitted line's gain over the series, relative to its median
  double drift_error = 0;  // standard error of `drift`
  double p_value = 1;      // two-sided: the chance of such values without a trend
};
// Fewer than 3 values, or a median that is not positive: the trend is unknown, the error infinite.
Trend trend_of(std::span<const double> values);

struct Break {
  std::size_t at = 0;  // the first value after it; 0: there is none
  double p_value = 1;
  double shift = 0;       // (mean after − mean before) / mean before
  double step_error = 0;  // sum of squares about the two levels, and about the best line
  double line_error = 0;
};
Break break_of(std::span<const double> values);

// Standard deviation (n − 1) over mean; 0 for fewer than 2 values.
double variation(std::span<const double> values);

}  // namespace assay::metrics
