// UncertainValues: those values of a series that are not exact, with the limits between which each
// must lie; at the end, the limits of the series' own figures.
//
// Of a true series we know, for each value, a low and a high. Then each percentile of the truth
// lies between that of the lows and that of the highs, whatever the order, and so do mean, minimum
// and maximum. Most values of a run are exact: kept are only those that are not, as what has to be
// taken out of the series and what has to be put in for it. From `most` of them on they are counted
// in buckets (base/histogram.h), and limits of percentiles then are edges of buckets.
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
  // Values of which the limits hold as a whole: for every x, no more of the truth is above x than
  // of `high`, and no less than of `low`. Their sum is known better than one by one.
  struct Together {
    std::span<const T> values{};
    std::span<const T> low{};  // as many
    std::span<const T> high{};
    T total_low{};
    T total_high{};
  };
  void add_together(const Together& group);

  // `sorted`: all values of the series, ascending.
  Limits limits(std::span<const T> sorted);
  // The same where the series is counted in buckets: how many are in each, and the smallest and the
  // largest value.
  Limits limits(std::vector<std::int64_t> counts, double total, double min, double max);

 private:
  // The series with this taken out and that put in is that of the lows, or of the highs.
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
