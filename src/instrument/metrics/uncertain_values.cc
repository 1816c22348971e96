#include "metrics/uncertain_values.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/histogram.h"
#include "metrics/series.h"

namespace assay::metrics {
namespace {

template <typename T>
std::size_t bucket_index(T value) {
  return Histogram::index(static_cast<std::uint64_t>(std::max<T>(value, T{})));
}

template <typename T>
std::int64_t at_most(std::span<const T> sorted, T x) {
  return std::upper_bound(sorted.begin(), sorted.end(), x) - sorted.begin();
}

// The value of this rank (from 0) among `all` without `out` and with `in`, each ascending.
template <typename T>
T ranked(std::span<const T> all, std::span<const T> out, std::span<const T> in, std::int64_t rank) {
  const auto reaches = [&](T x) {
    return at_most(all, x) - at_most(out, x) + at_most(in, x) > rank;
  };
  const auto below = [&](T x) { return !reaches(x); };
  const auto a = std::partition_point(all.begin(), all.end(), below);
  const auto b = std::partition_point(in.begin(), in.end(), below);
  // One of them has it: as many were put in as were taken out.
  if (b == in.end()) return *a;
  return a == all.end() ? *b : std::min(*a, *b);
}

// The bucket with this rank. REQUIRES: the counts add up to more.
std::size_t ranked_bucket(const std::vector<std::int64_t>& counts, std::int64_t rank) {
  std::size_t at = 0;
  for (std::int64_t seen = counts[0]; seen <= rank;) seen += counts[++at];
  return at;
}

double upper_edge(std::size_t bucket) {
  return bucket + 1 < Histogram::kBuckets ? static_cast<double>(Histogram::lowest(bucket + 1))
                                          : Histogram::middle(bucket);
}

}  // namespace

template <typename T>
void UncertainValues<T>::exchange(Side& side, T out, T in) {
  if (out == in) return;
  side.min = std::min(side.min, static_cast<double>(in));
  side.max = std::max(side.max, static_cast<double>(in));
  if (side.counts.empty() && side.in.size() >= most_) to_buckets(side);
  if (side.counts.empty()) {
    side.out.push_back(out);
    side.in.push_back(in);
  } else {
    --side.counts[bucket_index(out)];
    ++side.counts[bucket_index(in)];
  }
}

template <typename T>
void UncertainValues<T>::to_buckets(Side& side) {
  side.counts.assign(Histogram::kBuckets, 0);
  for (const T value : side.out) --side.counts[bucket_index(value)];
  for (const T value : side.in) ++side.counts[bucket_index(value)];
  side.out = {};
  side.in = {};
}

template <typename T>
void UncertainValues<T>::add(T value, T low, T high) {
  low = std::min(low, value);
  high = std::max(high, value);
  exchange(low_, value, low);
  exchange(high_, value, high);
  low_.total += static_cast<double>(low) - static_cast<double>(value);
  high_.total += static_cast<double>(high) - static_cast<double>(value);
}

template <typename T>
void UncertainValues<T>::add_together(const Together& group) {
  CHECK(group.values.size() == group.low.size() && group.values.size() == group.high.size());
  double total = 0;
  for (std::size_t i = 0; i < group.values.size(); ++i) {
    exchange(low_, group.values[i], group.low[i]);
    exchange(high_, group.values[i], group.high[i]);
    total += static_cast<double>(group.values[i]);
  }
  low_.total += static_cast<double>(group.total_low) - total;
  high_.total += static_cast<double>(group.total_high) - total;
}

template <typename T>
Limits UncertainValues<T>::limits(std::span<const T> sorted) {
  CHECK(!sorted.empty());
  double total = 0;
  for (const T value : sorted) total += static_cast<double>(value);
  if (!low_.counts.empty() || !high_.counts.empty()) {
    std::vector<std::int64_t> counts(Histogram::kBuckets, 0);
    for (const T value : sorted) ++counts[bucket_index(value)];
    return limits(std::move(counts), total, static_cast<double>(sorted.front()),
                  static_cast<double>(sorted.back()));
  }
  Limits out{};
  const auto n = static_cast<double>(sorted.size());
  out.mean = {(total + low_.total) / n, (total + high_.total) / n};
  for (Side* const side : {&low_, &high_}) {
    std::sort(side->out.begin(), side->out.end());
    std::sort(side->in.begin(), side->in.end());
  }
  const auto range = [&](std::uint64_t rank) {
    const auto value = [&](const Side& side) {
      return static_cast<double>(ranked(sorted, std::span<const T>(side.out),
                                        std::span<const T>(side.in),
                                        static_cast<std::int64_t>(rank)));
    };
    return Between{value(low_), value(high_)};
  };
  for (std::size_t i = 0; i < kPercentiles.size(); ++i) {
    out.percentiles[i] = range(percentile_index(kPercentiles[i], sorted.size()));
  }
  out.min = range(0);
  out.max = range(sorted.size() - 1);
  return out;
}

template <typename T>
Limits UncertainValues<T>::limits(std::vector<std::int64_t> counts, double total, double min,
                                  double max) {
  std::int64_t count = 0;
  for (const std::int64_t in_bucket : counts) count += in_bucket;
  CHECK(count > 0);
  Limits out{};
  const auto n = static_cast<double>(count);
  out.mean = {(total + low_.total) / n, (total + high_.total) / n};
  std::vector<std::int64_t> highs = counts;
  for (const auto& [side, into] : {std::pair{&low_, &counts}, std::pair{&high_, &highs}}) {
    if (side->counts.empty()) to_buckets(*side);
    for (std::size_t i = 0; i < into->size(); ++i) (*into)[i] += side->counts[i];
  }
  // No limit lies outside the observed values and those put in for them.
  const double least = std::min(min, low_.min);
  const double most = std::max(max, high_.max);
  const auto range = [&](std::uint64_t rank) {
    const auto r = static_cast<std::int64_t>(rank);
    const auto low = static_cast<double>(Histogram::lowest(ranked_bucket(counts, r)));
    const double high = upper_edge(ranked_bucket(highs, r));
    return Between{std::clamp(low, least, most), std::clamp(high, least, most)};
  };
  const auto whole = static_cast<std::uint64_t>(count);
  for (std::size_t i = 0; i < kPercentiles.size(); ++i) {
    out.percentiles[i] = range(percentile_index(kPercentiles[i], whole));
  }
  out.min = range(0);
  out.max = range(whole - 1);
  return out;
}

template class UncertainValues<std::int64_t>;
template class UncertainValues<double>;

}  // namespace assay::metrics
