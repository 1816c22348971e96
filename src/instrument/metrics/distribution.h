// Distribution: a series of values as numbers: total, mean, percentiles, histogram. What every
// figure of a Point is made of. Times are in ns. Plain data; any thread may read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace assay::metrics {

// The grid of every result file, in its order. The first kEstimates, those from the median up, also
// get an early-stopping estimate.
inline constexpr std::array<double, 12> kPercentiles = {99.9, 99.0, 97.0, 95.0, 90.0, 80.0,
                                                        75.0, 50.0, 25.0, 10.0, 5.0,  1.0};
inline constexpr std::size_t kEstimates = 8;

// Half-open [low, high), the last one closed.
struct Bucket {
  double low = 0;
  double high = 0;
  std::uint64_t count = 0;
};

struct QuantilePoint {
  double fraction = 0;  // 0 to 1
  double value = 0;     // this share of the values is at or below
};

// Between these the truth lies.
struct Between {
  double low = 0;
  double high = 0;
  double width() const { return high - low; }
};

// The ranges of a series' figures, from what is known of each of its values.
struct Limits {
  std::array<Between, kPercentiles.size()> percentiles{};
  Between mean{};
  Between min{};
  Between max{};
};

// A series of n values. Percentiles are values that occurred: sorted[floor(p / 100 × (n − 1))].
struct Distribution {
  std::uint64_t count = 0;
  bool whole = true;  // of whole numbers; TPOT is not
  // False: too many values to keep. Percentiles, quantiles and the histogram then come from buckets
  // 0.8 % wide; count, total, min, max, mean and std_dev are exact all the same.
  bool exact = true;
  double total = 0;
  std::int64_t total_whole = 0;  // the same, exactly, where `whole` (saturating)
  double min = 0;
  double max = 0;
  double sum_sq = 0;
  double mean = 0;
  double std_dev = 0;  // n − 1 in the denominator; 0 for n = 1
  std::array<double, kPercentiles.size()> percentiles{};
  // Values that bound the percentile with 99 % confidence; absent where n is too small (p99 needs
  // 662 values), and all of them where they were not asked for. See metrics/early_stopping.h.
  bool estimated = false;
  std::array<std::optional<double>, kEstimates> early_stopping{};
  std::vector<Bucket> histogram{};         // 30 buckets of equal ratio; empty where count is 0
  std::vector<QuantilePoint> quantiles{};  // for curves: at most 256, ascending, finer in the tail

  // Absent where nobody wrote down how uncertain the values are, or where the series has none.
  std::optional<Limits> limits{};

  bool empty() const { return count == 0; }
  // REQUIRES: p is in kPercentiles. 0 when empty.
  double percentile(double p) const;
  double median() const { return percentile(50.0); }
};

}  // namespace assay::metrics
