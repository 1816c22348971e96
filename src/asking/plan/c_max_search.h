// CMaxSearch: the highest concurrency at which a system still pays for more of it. The rules leave
// the choice of C_max to the submitter (it must be above 32, and 33 needs a reason in writing);
// this is the choice where nobody made one:
//
//   a level is good when every query at it succeeds, and throughput has grown by a twentieth or
//   more with each doubling since the last good level (for other ratios, by its power).
//
// Levels double from the first until one is not good, then halve the interval on the scale of
// ratios (level_search.h). What is measured is the caller's. Pure; one thread.
#pragma once

#include <cstdint>
#include <optional>

#include "plan/curve_plan.h"
#include "plan/level_search.h"

namespace assay::plan {

// With twice the concurrency so much more throughput is worth it.
inline constexpr double kWorthwhileGain = 1.05;
// The interval's width, relative, at which a search ends.
inline constexpr double kSearchTolerance = 0.05;
// The lowest C_max that needs no reason in writing.
inline constexpr std::int64_t kCMaxLeast = 34;

// Where a curve's C_max is looked for.
struct CMaxRange {
  std::int64_t least = kCMaxLeast;
  std::int64_t most = 4096;
};
// At most so many that the dataset still has more rows than C_max and Offline can be a run of its
// own, unless the wish says that it is none.
CMaxRange c_max_range(const CurveWish& wish);

class CMaxSearch {
 public:
  // REQUIRES: 1 <= least <= first <= most. No level below `least` is asked.
  CMaxSearch(std::int64_t first, std::int64_t most, std::int64_t least = 1)
      : search_(first, most, kSearchTolerance), least_(least) {}

  // The level to measure; nothing when the search is done.
  std::optional<std::int64_t> next() const;
  // `rate`: tokens a second, or queries where tokens are not known. `whole`: every query succeeded.
  // Returns whether the level is good.
  bool tell(std::int64_t level, double rate, bool whole);

  // The highest that was good and the lowest that was not. 0: none was.
  std::int64_t good() const { return search_.good(); }
  std::int64_t bad() const { return search_.bad(); }

 private:
  LevelSearch search_;
  std::int64_t least_;
  double best_ = 0;
};

}  // namespace assay::plan
