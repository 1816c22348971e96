// Series: collects values and makes their Distribution at the end.
//
// Sums of whole numbers are kept in 128 bits, so totals, means and deviations do not depend on the
// order of the values, and two machines publish the same digits. The first `values_max` values are
// kept; later values are counted in buckets (base/histogram.h) and the Distribution says so (exact
// = false): memory is bounded for every run.
//
// One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "base/histogram.h"
#include "base/time.h"
#include "metrics/point.h"
#include "metrics/uncertain_values.h"

namespace assay::metrics {

__extension__ using Int128 = __int128;

// A series of whole numbers: durations in ns, tokens.
class Series {
 public:
  explicit Series(std::size_t values_max = std::numeric_limits<std::size_t>::max())
      : values_max_(values_max), uncertain_(values_max) {}

  void add(std::int64_t value);
  void add(Duration value) { add(value.ns); }
  // The truth lies in [low, high].
  void add(Duration value, Duration low, Duration high) {
    add(value.ns);
    uncertain_.add(value.ns, low.ns, high.ns);
  }
  // Limits for a group of values that were added before: see UncertainValues.
  void limit_together(const UncertainValues<std::int64_t>::Together& group) {
    uncertain_.add_together(group);
  }
  std::uint64_t count() const { return count_; }
  std::int64_t total() const;  // saturating

  // `estimates`: with early-stopping estimates; `limits`: with its limits. The series is empty
  // afterwards.
  Distribution finish(bool estimates, bool limits = false);

 private:
  void to_buckets();
  void from_values(Distribution& out, bool estimates, bool limits);
  void from_buckets(Distribution& out, bool limits);

  std::size_t values_max_;
  std::vector<std::int64_t> values_{};
  std::unique_ptr<Histogram> buckets_{};  // instead of values
  UncertainValues<std::int64_t> uncertain_;
  std::uint64_t count_ = 0;
  Int128 total_ = 0;
  Int128 sum_sq_ = 0;
  std::int64_t min_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t max_ = std::numeric_limits<std::int64_t>::min();
};

// A series of ratios: TPOT, tokens per fragment.
class RatioSeries {
 public:
  void add(double value) { values_.push_back(value); }
  void add(double value, double low, double high) {
    values_.push_back(value);
    uncertain_.add(value, low, high);
  }
  std::uint64_t count() const { return values_.size(); }
  Distribution finish(bool estimates, bool limits = false);

 private:
  std::vector<double> values_{};
  UncertainValues<double> uncertain_{};
};

// The public rule for percentiles: floor(p / 100 × (n − 1)), computed in double. REQUIRES: n > 0.
std::uint64_t percentile_index(double p, std::uint64_t n);

}  // namespace assay::metrics
