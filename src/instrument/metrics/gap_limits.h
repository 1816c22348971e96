// GapLimits: limits for the true gaps of one reply whose fragments share reads.
//
// Fragments that come in one read all have the arrival of its last byte. So the m gaps of a read
// with m fragments are recorded as (that arrival − the one before), 0, 0, …. In truth the first
// fragment came no earlier than the read's lower limit, all came by its arrival, and the gaps
// between them add up to no more than the time between. So, largest first,
//
//     the k-th of the m gaps  ≤  (arrival − earliest before) / k
//     the k-th of those within the read  ≤  uncertainty / k
//     the largest of the m gaps  ≥  (earliest of the last − arrival before) / m
//     the gap before the read  ≥  earliest − arrival before
//
// Each percentile of the truth lies between those of the series of lows and of highs. One thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"
#include "metrics/series.h"

namespace assay::metrics {

class GapLimits {
 public:
  void clear();
  void fragment(Instant arrival, Instant read, Duration uncertainty);
  // The reply has ended. Adds the limits of its inexact gaps; `gaps` already has all its gaps.
  void limit(Series& gaps);

 private:
  // The fragments of one read, and the fragment before it.
  struct Read {
    std::uint32_t fragments = 0;
    bool first = true;    // of its reply: no gap before it
    Duration gap{};       // from the fragment before to this read, as recorded
    Duration before{};    // uncertainties: of the fragment before it, of its first
    Duration of_first{};  // fragment and of its last
    Duration of_last{};
  };
  void close();
  static void limit(const Read& read, Series& gaps);

  Instant arrival_ = Instant::none();
  Instant read_ = Instant::none();
  Read open_{};
  std::string closed_{};  // reads that leave something uncertain, as varints
};

// value − by and value + by for values ≥ 0; never below zero or above the largest value.
Duration less(Duration value, Duration by);
Duration more(Duration value, Duration by);

}  // namespace assay::metrics
