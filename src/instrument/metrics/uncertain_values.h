// UncertainValues: the inexact values of a series with the limits of each; at the end, the limits
// of the series' own figures.
//
// Each value of the true series has a low and a high. So each percentile of the truth lies between
// that of the lows and that of the highs, in any order, and so do mean, minimum and maximum. Most
// values of a run are exact, so only the inexact ones are kept: the values to take out of the
// series, and those to put in instead. After `most` of them they are counted in buckets
// (base/histogram.h), and limits of percentiles are then edges of buckets.
//
// One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "metrics/distribution.h"

namespace assay::metrics {

template <typename T>  // std::int64_t or double
class UncertainValues {
 public:
  explicit UncertainValues(std::size_t most = std::numeric_limits<std::size_t>::max())
      : most_(most) {}

  // The series has `value`; the truth lies in [low, high].
  void add(T value, T low, T high);
  // Values whose limits hold for the group: for every x, the truth has at most as many values above
  // x as `high`, at least as many as `low`. The sum's limits are narrower than those of each.
  struct Together {
    std::span<const T> values{};
    std::span<const T> low{};  // same length as `values`
    std::span<const T> high{};
    T total_low{};
    T total_high{};
  };
  void add_together(const Together& group);

  // `sorted`: all values of the series, ascending.
  Limits limits(std::span<const T> sorted);
  // As above for a series that is counted in buckets: the count of each bucket, and the smallest
  // and the largest value.
  Limits limits(std::vector<std::int64_t> counts, double total, double min, double max);

 private:
  // The series without `out` and with `in` is the series of the lows, or of the highs.
  struct Side {
    std::vector<T> out{};
    std::vector<T> in{};
    std::vector<std::int64_t> counts{};                    // instead of both: in less out, a bucket
    double total = 0;                                      // in less out
    double min = std::numeric_limits<double>::infinity();  // of `in`
    double max = -std::numeric_limits<double>::infinity();
  };
  void exchange(Side& side, T out, T in);
  static void to_buckets(Side& side);

  std::size_t most_;
  Side low_{};
  Side high_{};
};

extern template class UncertainValues<std::int64_t>;
extern template class UncertainValues<double>;

}  // namespace assay::metrics
