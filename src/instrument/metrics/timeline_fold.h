// TimelineFold: the run over time, in at most kBucketsMax buckets for any length. Buckets begin 125
// ms wide; when the run outgrows them, neighbours are merged and the width doubles. Merging is only
// addition, and the order of calls does not matter, so shards and replays give the same timeline.
// One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "metrics/point.h"

namespace assay::metrics {

class TimelineFold {
 public:
  static constexpr std::size_t kBucketsMax = 1920;
  static constexpr Duration kNarrowest = 125_ms;

  // The first instant reported is the origin; reports for an earlier instant count at the origin.
  void sent(Instant at);
  void ended(Instant at, bool was_sent, bool ok);
  void fragment(Instant at) { ++bucket(at).fragments; }
  // `count` tokens of a reply arrived in the cell that cell_of() returned.
  std::uint32_t cell_of(Instant at);
  void tokens(std::uint32_t cell, double count);
  void first_token(Instant at, Duration ttft);

  Timeline finish();

 private:
  struct Sums {
    double tokens = 0;
    std::uint64_t fragments = 0;
    std::uint32_t sent = 0;
    std::uint32_t completed = 0;
    std::uint32_t failed = 0;
    std::uint32_t left = 0;  // ended, of those that were sent
    double sent_at = 0;      // sums of instants, ns from the origin
    double left_at = 0;
  };

  std::int64_t offset(Instant at);
  std::size_t index(Instant at);
  Sums& bucket(Instant at) { return buckets_[index(at)]; }
  void reach(std::size_t index);
  void widen();

  bool begun_ = false;
  Instant origin_{};
  int doublings_ = 0;
  std::vector<Sums> buckets_{};
  std::vector<std::array<std::uint32_t, Timeline::kTtftBins>> ttft_{};
};

// How many fragments of a reply came in which cell: their times are known before its tokens, which
// are known when it is done.
using Spread = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

}  // namespace assay::metrics
