#include "metrics/series.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "metrics/early_stopping.h"

namespace assay::metrics {
namespace {

constexpr std::size_t kHistogramBuckets = 30;
using Edges = std::array<double, kHistogramBuckets + 1>;

// Edges of equal ratio from max(min, 1) to max(max, 10 × that).
Edges histogram_edges(double min, double max) {
  const double low = std::max(min, 1.0);
  const double high = std::max(max, 10.0 * low);
  Edges edges{};
  for (std::size_t i = 0; i < edges.size(); ++i) {
    edges[i] = std::exp(std::log(low) + static_cast<double>(i) * (std::log(high) - std::log(low)) /
                                            kHistogramBuckets);
  }
  return edges;
}

// Values outside the edges belong to the outermost bucket.
std::size_t bucket_of(const Edges& edges, double value) {
  const auto* const above = std::upper_bound(edges.begin() + 1, edges.end() - 1, value);
  return static_cast<std::size_t>(above - edges.begin()) - 1;
}

std::vector<Bucket> empty_buckets(const Edges& edges) {
  std::vector<Bucket> buckets(kHistogramBuckets);
  for (std::size_t i = 0; i < buckets.size(); ++i) buckets[i] = {edges[i], edges[i + 1], 0};
  return buckets;
}

// Sorts ascending, least significant digit first, and skips digits that all values share: durations
// of a run differ in 36 bits or so, four digits, which is several times faster than comparing.
void sort_whole(std::vector<std::int64_t>& values) {
  constexpr std::size_t kWorthIt = 2048;
  if (values.size() < kWorthIt) return std::sort(values.begin(), values.end());
  constexpr unsigned kDigitBits = 11;
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;  // so that negative values come first
  const auto bits = [](std::int64_t value) { return static_cast<std::uint64_t>(value) ^ kSign; };
  std::uint64_t differ = 0;
  for (const std::int64_t value : values) differ |= bits(value) ^ bits(values.front());
  std::vector<std::int64_t> other(values.size());
  for (unsigned shift = 0; shift < 64 && differ >> shift != 0; shift += kDigitBits) {
    constexpr std::uint64_t kDigit = (std::uint64_t{1} << kDigitBits) - 1;
    if ((differ >> shift & kDigit) == 0) continue;
    const auto digit = [&](std::int64_t value) {
      return static_cast<std::size_t>(bits(value) >> shift & kDigit);
    };
    std::array<std::size_t, kDigit + 1> next{};
    for (const std::int64_t value : values) ++next[digit(value)];
    std::size_t start = 0;
    for (std::size_t& at : next) start += std::exchange(at, start);
    for (const std::int64_t value : values) other[next[digit(value)]++] = value;
    values.swap(other);
  }
}

// Shares at which curves are drawn: every half percent, then ever finer towards 1.
std::vector<double> quantile_fractions() {
  std::vector<double> fractions;
  for (int i = 0; i < 198; ++i) fractions.push_back(i / 200.0);
  for (int i = 0; i <= 48; ++i) fractions.push_back(1 - std::pow(10.0, -2.0 - i / 12.0));
  fractions.push_back(1);
  return fractions;
}

// value_at(rank) for ascending ranks.
template <typename ValueAt>
std::vector<QuantilePoint> quantiles(std::uint64_t n, ValueAt value_at) {
  std::vector<QuantilePoint> points;
  if (n <= 250) {
    for (std::uint64_t rank = 0; rank < n; ++rank) {
      points.push_back({static_cast<double>(rank + 1) / static_cast<double>(n), value_at(rank)});
    }
    return points;
  }
  std::uint64_t last = n;
  for (const double fraction : quantile_fractions()) {
    const auto rank = static_cast<std::uint64_t>(fraction * static_cast<double>(n - 1));
    if (rank == last) continue;
    points.push_back({static_cast<double>(rank + 1) / static_cast<double>(n), value_at(rank)});
    last = rank;
  }
  return points;
}

// Fills the figures that follow from the sorted values themselves.
template <typename T>
void fill_from_sorted(std::span<const T> sorted, bool estimates, Distribution& out) {
  const std::uint64_t n = sorted.size();
  const auto value_at = [sorted](std::uint64_t rank) {
    return static_cast<double>(sorted[static_cast<std::size_t>(rank)]);
  };
  for (std::size_t i = 0; i < kPercentiles.size(); ++i) {
    out.percentiles[i] = value_at(percentile_index(kPercentiles[i], n));
  }
  for (std::size_t i = 0; estimates && i < kEstimates; ++i) {
    out.early_stopping[i] = early_stopping_estimate(sorted, kPercentiles[i]);
  }
  const Edges edges = histogram_edges(out.min, out.max);
  out.histogram = empty_buckets(edges);
  auto from = sorted.begin();
  for (std::size_t i = 0; i < kHistogramBuckets; ++i) {
    const auto to =
        i + 1 == kHistogramBuckets
            ? sorted.end()
            : std::lower_bound(from, sorted.end(), edges[i + 1], [](T value, double edge) {
                return static_cast<double>(value) < edge;
              });
    out.histogram[i].count = static_cast<std::uint64_t>(to - from);
    from = to;
  }
  out.quantiles = quantiles(n, value_at);
}

// sqrt(n × sum_sq − total²) / sqrt(n × (n − 1)) in whole numbers; in double where 128 bits do not
// suffice, which is then precise enough.
double whole_std_dev(std::uint64_t n, Int128 total, Int128 sum_sq) {
  if (n < 2) return 0;
  const auto count = static_cast<double>(n);
  Int128 left = 0;
  Int128 right = 0;
  double squares = 0;
  if (__builtin_mul_overflow(static_cast<Int128>(n), sum_sq, &left) ||
      __builtin_mul_overflow(total, total, &right)) {
    const auto sum = static_cast<double>(total);
    squares = count * static_cast<double>(sum_sq) - sum * sum;
  } else {
    squares = static_cast<double>(left - right);
  }
  return std::sqrt(std::max(0.0, squares)) / std::sqrt(count * (count - 1));
}

}  // namespace

std::uint64_t percentile_index(double p, std::uint64_t n) {
  return static_cast<std::uint64_t>(std::floor(p / 100.0 * static_cast<double>(n - 1)));
}

void Series::add(std::int64_t value) {
  ++count_;
  total_ += value;
  // Only durations of decades reach this bound; the sum then stays below 2^127.
  if (__builtin_add_overflow(sum_sq_, static_cast<Int128>(value) * value, &sum_sq_)) {
    sum_sq_ = std::numeric_limits<std::int64_t>::max();
    sum_sq_ <<= 64;
  }
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  if (buckets_ == nullptr && values_.size() >= values_max_) to_buckets();
  if (buckets_ != nullptr) {
    buckets_->record(static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0)));
  } else {
    values_.push_back(value);
  }
}

std::int64_t Series::total() const {
  constexpr Int128 kMin = std::numeric_limits<std::int64_t>::min();
  constexpr Int128 kMax = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::clamp(total_, kMin, kMax));
}

void Series::to_buckets() {
  buckets_ = std::make_unique<Histogram>();
  for (const std::int64_t value : values_) {
    buckets_->record(static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0)));
  }
  values_ = {};
}

Distribution Series::finish(bool estimates, bool limits) {
  Distribution out{};
  out.count = count_;
  out.exact = buckets_ == nullptr;
  out.estimated = estimates;
  if (count_ == 0) return out;
  out.total = static_cast<double>(total_);
  out.total_whole = total();
  out.min = static_cast<double>(min_);
  out.max = static_cast<double>(max_);
  out.sum_sq = static_cast<double>(sum_sq_);
  out.mean = out.total / static_cast<double>(count_);
  out.std_dev = whole_std_dev(count_, total_, sum_sq_);
  if (buckets_ == nullptr) {
    from_values(out, estimates, limits);
  } else {
    from_buckets(out, limits);
  }
  return out;
}

void Series::from_values(Distribution& out, bool estimates, bool limits) {
  sort_whole(values_);
  const std::span<const std::int64_t> sorted(values_);
  fill_from_sorted(sorted, estimates, out);
  if (limits) out.limits = uncertain_.limits(sorted);
  values_ = {};
}

void Series::from_buckets(Distribution& out, bool limits) {
  // Ranks come in ascending order only.
  std::size_t bucket = 0;
  std::uint64_t up_to = buckets_->bucket_count(0);
  const auto value_at = [&](std::uint64_t rank) {
    while (up_to <= rank) up_to += buckets_->bucket_count(++bucket);
    return std::clamp(Histogram::middle(bucket), out.min, out.max);
  };
  for (std::size_t i = kPercentiles.size(); i-- > 0;) {
    out.percentiles[i] = value_at(percentile_index(kPercentiles[i], count_));
  }
  bucket = 0;
  up_to = buckets_->bucket_count(0);
  out.quantiles = quantiles(count_, value_at);
  const Edges edges = histogram_edges(out.min, out.max);
  out.histogram = empty_buckets(edges);
  for (std::size_t i = 0; i < Histogram::kBuckets; ++i) {
    const std::uint64_t in_bucket = buckets_->bucket_count(i);
    if (in_bucket > 0) {
      out.histogram[bucket_of(edges, std::clamp(Histogram::middle(i), out.min, out.max))].count +=
          in_bucket;
    }
  }
  if (!limits) return;
  std::vector<std::int64_t> counts(Histogram::kBuckets);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    counts[i] = static_cast<std::int64_t>(buckets_->bucket_count(i));
  }
  out.limits = uncertain_.limits(std::move(counts), out.total, out.min, out.max);
}

Distribution RatioSeries::finish(bool estimates, bool limits) {
  Distribution out{};
  out.whole = false;
  out.estimated = estimates;
  out.count = values_.size();
  if (values_.empty()) return out;
  const auto n = static_cast<double>(values_.size());
  for (const double value : values_) {
    out.total += value;
    out.sum_sq += value * value;
  }
  out.mean = out.total / n;
  double squares = 0;
  for (const double value : values_) squares += (value - out.mean) * (value - out.mean);
  out.std_dev = values_.size() < 2 ? 0 : std::sqrt(squares / (n - 1));
  std::sort(values_.begin(), values_.end());
  out.min = values_.front();
  out.max = values_.back();
  const std::span<const double> sorted(values_);
  fill_from_sorted(sorted, estimates, out);
  if (limits) out.limits = uncertain_.limits(sorted);
  values_ = {};
  return out;
}

}  // namespace assay::metrics
