// CMaxSearch: the highest concurrency at which more concurrency still gives enough throughput. The
// rules let the submitter choose C_max (above 32; 33 needs a reason in writing). This search is the
// default:
//
//   A level is good when every query at it succeeds, and each doubling since the last good level
//   has raised the throughput by 5 % or more (for other ratios, by its power).
//
// Levels double from the first until one is not good; then the interval is halved on a logarithmic
// scale (level_search.h). The caller measures. Pure; one thread.
#pragma once

#include <cstdint>
#include <optional>

#include "plan/curve_plan.h"
#include "plan/level_search.h"

namespace assay::plan {

// Least throughput, as a factor, that twice the concurrency must give.
inline constexpr double kWorthwhileGain = 1.05;
// Relative width of the interval at which a search ends.
inline constexpr double kSearchTolerance = 0.05;
// The lowest C_max that needs no reason in writing.
inline constexpr std::int64_t kCMaxLeast = 34;

// Where to look for a curve's C_max.
struct CMaxRange {
  std::int64_t least = kCMaxLeast;
  std::int64_t most = 4096;
};
// The highest level leaves enough rows for Offline to be a run of its own, unless the wish turns
// Offline off.
CMaxRange c_max_range(const CurveWish& wish);

class CMaxSearch {
 public:
  // REQUIRES: 1 <= least <= first <= most. No level below `least` is measured.
  CMaxSearch(std::int64_t first, std::int64_t most, std::int64_t least = 1)
      : search_(first, most, kSearchTolerance), least_(least) {}

  // The level to measure; nullopt when the search is done.
  std::optional<std::int64_t> next() const;
  // Records a result. `rate`: tokens a second, or queries a second if tokens are not known.
  // `whole`: every query succeeded. Returns true if the level is good.
  bool tell(std::int64_t level, double rate, bool whole);

  // The highest good level and the lowest bad one; 0: none.
  std::int64_t good() const { return search_.good(); }
  std::int64_t bad() const { return search_.bad(); }

 private:
  LevelSearch search_;
  std::int64_t least_;
  double best_ = 0;
};

}  // namespace assay::plan
