#include "metrics/timeline_fold.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::metrics {

std::int64_t TimelineFold::offset(Instant at) {
  if (!begun_) {
    begun_ = true;
    origin_ = at;
  }
  return at <= origin_ ? 0 : (at - origin_).ns;
}

void TimelineFold::widen() {
  const std::size_t half = (buckets_.size() + 1) / 2;
  for (std::size_t i = 0; i < half; ++i) {
    Sums sums = buckets_[2 * i];
    auto ttft = ttft_[2 * i];
    if (2 * i + 1 < buckets_.size()) {
      const Sums& next = buckets_[2 * i + 1];
      sums.tokens += next.tokens;
      sums.fragments += next.fragments;
      sums.sent += next.sent;
      sums.completed += next.completed;
      sums.failed += next.failed;
      sums.left += next.left;
      sums.sent_at += next.sent_at;
      sums.left_at += next.left_at;
      for (std::size_t bin = 0; bin < ttft.size(); ++bin) ttft[bin] += ttft_[2 * i + 1][bin];
    }
    buckets_[i] = sums;
    ttft_[i] = ttft;
  }
  buckets_.resize(half);
  ttft_.resize(half);
  ++doublings_;
}

void TimelineFold::reach(std::size_t index) {
  if (index < buckets_.size()) return;
  buckets_.resize(index + 1);
  ttft_.resize(index + 1);
}

std::uint32_t TimelineFold::cell_of(Instant at) {
  const std::int64_t cell = offset(at) / kNarrowest.ns;
  // The cell at the current width: cells that would be merged anyway get one number.
  const auto shown = static_cast<std::uint64_t>(cell) >> doublings_ << doublings_;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(shown, std::numeric_limits<std::uint32_t>::max()));
}

std::size_t TimelineFold::index(Instant at) {
  const std::uint32_t cell = cell_of(at);
  while ((cell >> doublings_) >= kBucketsMax) widen();
  const std::size_t i = cell >> doublings_;
  reach(i);
  return i;
}

void TimelineFold::sent(Instant at) {
  Sums& sums = bucket(at);
  ++sums.sent;
  sums.sent_at += static_cast<double>(offset(at));
}

void TimelineFold::ended(Instant at, bool was_sent, bool ok) {
  Sums& sums = bucket(at);
  ++(ok ? sums.completed : sums.failed);
  if (!was_sent) return;
  ++sums.left;
  sums.left_at += static_cast<double>(offset(at));
}

void TimelineFold::tokens(std::uint32_t cell, double count) {
  while ((cell >> doublings_) >= kBucketsMax) widen();
  const std::size_t i = cell >> doublings_;
  reach(i);
  buckets_[i].tokens += count;
}

void TimelineFold::first_token(Instant at, Duration ttft) {
  const double thirds = Timeline::kTtftBinsAnOctave *
                        std::log2(static_cast<double>(std::max<std::int64_t>(ttft.ns, 1)) / 100e3);
  const double bin = std::clamp(std::floor(thirds), 0.0, double{Timeline::kTtftBins - 1});
  ++ttft_[index(at)][static_cast<std::size_t>(bin)];
}

Timeline TimelineFold::finish() {
  Timeline out{};
  out.origin = origin_;
  out.width = Duration{kNarrowest.ns << doublings_};
  const auto width = static_cast<double>(out.width.ns);
  double in_flight = 0;  // at the bucket's start
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    const Sums& sums = buckets_[i];
    const double end = width * static_cast<double>(i + 1);
    const double area =
        in_flight * width + (sums.sent * end - sums.sent_at) - (sums.left * end - sums.left_at);
    TimeBucket bucket{};
    bucket.output_tokens = sums.tokens;
    bucket.fragments = sums.fragments;
    bucket.sent = sums.sent;
    bucket.completed = sums.completed;
    bucket.failed = sums.failed;
    bucket.in_flight = std::max(0.0, area / width);
    in_flight += static_cast<double>(sums.sent) - static_cast<double>(sums.left);
    out.buckets.push_back(bucket);
    out.ttft.insert(out.ttft.end(), ttft_[i].begin(), ttft_[i].end());
  }
  return out;
}

}  // namespace assay::metrics
