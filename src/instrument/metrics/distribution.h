// Distribution: a series of values in numbers: total, mean, percentiles, histogram. All figures of
// a Point are made of it. Times are in ns. Plain data; any thread may read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace assay::metrics {

// The percentiles of every result file, in its order. The first kEstimates, those from the median
// up, also get an early-stopping estimate.
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

// The range in which the true value lies.
struct Between {
  double low = 0;
  double high = 0;
  double width() const { return high - low; }
};

// The ranges of a series' figures, from the limits of its values.
struct Limits {
  std::array<Between, kPercentiles.size()> percentiles{};
  Between mean{};
  Between min{};
  Between max{};
};

// A series of n values. Percentiles are values that occurred: sorted[floor(p / 100 × (n − 1))].
struct Distribution {
  std::uint64_t count = 0;
  bool whole = true;  // whole numbers; TPOT is not
  // False: too many values to keep. Percentiles, quantiles and the histogram then come from buckets
  // 0.8 % wide; count, total, min, max, mean and std_dev stay exact.
  bool exact = true;
  double total = 0;
  std::int64_t total_whole = 0;  // `total`, exactly, where `whole` (saturating)
  double min = 0;
  double max = 0;
  double sum_sq = 0;
  double mean = 0;
  double std_dev = 0;  // n − 1 in the denominator; 0 for n = 1
  std::array<double, kPercentiles.size()> percentiles{};
  // Values that bound the percentile with 99 % confidence; absent where n is too small (p99 needs
  // 662 values), and all absent where they were not requested. See metrics/early_stopping.h.
  bool estimated = false;
  std::array<std::optional<double>, kEstimates> early_stopping{};
  std::vector<Bucket> histogram{};         // 30 buckets of equal ratio; empty where count is 0
  std::vector<QuantilePoint> quantiles{};  // for curves: at most 256, ascending, finer in the tail

  // Absent where the uncertainty was not recorded, or where the series has none.
  std::optional<Limits> limits{};

  bool empty() const { return count == 0; }
  // REQUIRES: p is in kPercentiles. 0 when empty.
  double percentile(double p) const;
  double median() const { return percentile(50.0); }
};

}  // namespace assay::metrics
