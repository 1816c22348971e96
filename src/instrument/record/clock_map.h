// ClockMap: the difference between two hosts' clocks during a run, from the messages that they
// exchanged. It gives an offset for each instant, and a bound that the offset's error cannot
// exceed.
//
// A probe is a message there and back: sent at `asked` and received at `heard` by the own clock,
// received at `received` and answered at `answered` by the reference clock. A message takes time,
// so reference − own is at most received − asked at the instant `asked`, and at least answered −
// heard at the instant `heard`. Between probes the clocks may drift apart by `drift_max` (NTP slews
// a Linux clock by up to 500 ppm, and there are two clocks). The offset is the middle of what is
// left, the bound half of it. A network with unequal ways there and back is inside the bound.
//
// Pure. Any thread may read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"

namespace assay::record {

struct ClockProbe {
  Instant asked{};     // own clock
  Instant received{};  // reference clock
  Instant answered{};  // reference clock
  Instant heard{};     // own clock
};

// The farthest that two clocks drift apart: 1,000 ppm.
inline constexpr double kDriftMax = 1e-3;

class ClockMap {
 public:
  // The reference's own clock: offset 0, bound 0.
  ClockMap() = default;
  // Fails where the probes contradict one another: a clock was set, or drifted more than allowed.
  // REQUIRES: at least one probe.
  static Result<ClockMap> make(std::vector<ClockProbe> probes, double drift_max = kDriftMax);

  // What to add to an own instant to have the reference's.
  Duration offset(Instant own) const;
  // How far from the truth offset() may be.
  Duration bound(Instant own) const;
  // The largest bound between two own instants.
  Duration bound_max(Instant from, Instant to) const;
  // How much faster the reference runs, from the first to the last probe; 0 for a single one.
  double drift() const;
  bool is_reference() const { return lows_.empty(); }

 private:
  struct Knot {
    std::int64_t at = 0;
    double limit = 0;  // of reference − own − base_, ns
  };
  struct Limits {
    double low = 0;
    double high = 0;
  };
  static void tighten(std::vector<Knot>& knots, double slope);
  static double at(const std::vector<Knot>& knots, std::int64_t own, double slope);
  Limits limits(Instant own) const;

  double drift_max_ = kDriftMax;
  std::int64_t base_ = 0;      // subtracted from the limits: a double keeps 2^53 ns exactly
  std::vector<Knot> lows_{};   // ascending by `at`
  std::vector<Knot> highs_{};  // with limits negated, so that both are maxima
};

// What a merged run's folder says of one rank (assay/clocks.json).
struct RankClock {
  std::uint32_t rank = 0;
  std::string host{};
  std::uint32_t shard_first = 0;  // its logs: events-(shard_first + i).alog, i < threads
  std::uint32_t threads = 1;
  std::vector<ClockProbe> probes{};  // none for the reference
  std::string lost{};                // why its record is not whole; "" if it is
};

inline constexpr const char* kClocksName = "clocks.json";  // beside the logs: all ranks
inline constexpr const char* kRankName = "rank.json";      // in a rank's own folder: that rank

Json to_json(const RankClock& rank);
Result<RankClock> rank_clock_from_json(const Json& json);
Json to_json(const std::vector<RankClock>& ranks);
// Code::corrupt where the ranks are not numbered from 0, or their logs do not follow one another.
Result<std::vector<RankClock>> rank_clocks_from_json(const Json& json);

}  // namespace assay::record
