// RateSearch: the highest Server rate whose latency limits hold, in few runs. The caller measures a
// rate and says how many queries were over a limit; the search says which rate to measure next and
// for how long, and in the end where the edge is: the rate at which just the permitted share of
// queries (1 % for P99) is over.
//
//   1. Short probes double or halve the rate until the edge lies between two of them, at most a
//      tenth apart. An overloaded probe shows the capacity, which no edge exceeds. The upper one is
//      asked twice: a moment's trouble of the machine may make one probe fail far below the edge.
//   2. Long probes, a few, near the edge. The logarithm of the share over the limit grows about
//      linearly with that of the rate at which the queries arrived, so a line through all probes
//      there says where it crosses the permitted share, and its scatter how sure that is. The line
//      is a logistic regression of counts: queries are late in clusters, and a probe with
//      none late counts too. A step (none over, or all) is narrowed by halving instead. Where the
//      first two long probes have none late the third asks the upper end itself; if none is late
//      there either, what failed up to it is void, and the short probes go on.
//
// Each probe should have arrivals of its own, or all would share one schedule's luck. Pure; one
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "loadgen/test.h"

namespace assay::loadgen {

struct RateWish {
  double first = 1;          // where to begin, queries a second
  double percentile = 0.99;  // of the limits
  // Probes of each kind, at most.
  std::uint32_t short_max = 14;
  std::uint32_t long_max = 6;
  // The interval's half width, as a share of the edge, at which the long probes may end early.
  double tolerance = 0.01;
};

struct RateProbe {
  double rate = 0;
  std::uint64_t queries = 0;
  std::uint64_t over = 0;     // of a limit, or failed; of several limits the most
  double completed_rate = 0;  // queries a second that the system answered; 0: unknown
  // Queries a second that its arrivals came to, which chance takes a little off `rate`; 0: unknown.
  double arrived_rate = 0;
  bool is_long = false;
};

// What a judged Server test says of its rate.
RateProbe probe_of(const Judgement& judgement);

struct RateFound {
  double edge = 0;  // 0: no rate holds the limits
  // 95 % of such searches have the edge between these; equal where the probes leave no scatter.
  double low = 0;
  double high = 0;
  // LoadGen's rule: the highest rate measured whose limits hold with 99 % confidence, and the
  // lowest whose limits do not hold; 0: none.
  double good = 0;
  double bad = 0;
  bool open_end = false;  // no rate was too high
};

class RateSearch {
 public:
  // REQUIRES: first > 0, 0 < percentile < 1.
  explicit RateSearch(const RateWish& wish) : wish_(wish) {}

  struct Next {
    double rate = 0;
    bool is_long = false;
  };
  std::optional<Next> next() const;
  void tell(const RateProbe& probe) { probes_.push_back(probe); }
  RateFound found() const;
  const std::vector<RateProbe>& probes() const { return probes_; }

 private:
  struct Line {
    double edge = 0;
    double low = 0;
    double high = 0;
    bool fitted = false;  // else the middle of the bracket
  };
  struct Bounds {
    double good = 0;  // 0: none
    double bad = 0;
  };
  double permitted() const { return 1 - wish_.percentile; }
  double share(const RateProbe& probe) const;
  bool holds(const RateProbe& probe) const;
  // How the probes of one rate ended.
  struct Votes {
    std::uint32_t good = 0;
    std::uint32_t bad = 0;
    bool hold() const { return good > bad; }
  };
  Votes votes(double rate) const;
  std::uint32_t count(bool is_long) const;
  double void_up_to() const;
  double lowest_bad() const;                // 0: none
  double highest_good(double below) const;  // 0: none
  Bounds bounds() const;
  std::optional<Next> bracket() const;
  double between(double good, double bad) const;
  bool tells_slope(const RateProbe& probe) const;
  const RateProbe* centre() const;
  Line line() const;

  RateWish wish_;
  std::vector<RateProbe> probes_{};
};

}  // namespace assay::loadgen
