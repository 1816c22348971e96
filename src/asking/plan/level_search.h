// LevelSearch: the highest level that is still good, where every lower one is good too and every
// higher one is not: doubles from the start until one is bad, then halves the interval on the scale
// of ratios, until it is small enough. What is measured, and what good means, is the caller's.
// Pure; one thread.
#pragma once

#include <cstdint>
#include <optional>

namespace assay::plan {

class LevelSearch {
 public:
  // REQUIRES: 1 <= first <= most. `tolerance`: the interval's width, relative, at which to stop.
  LevelSearch(std::int64_t first, std::int64_t most, double tolerance)
      : first_(first), most_(most), tolerance_(tolerance) {}

  // The level to measure; nothing when the search is done.
  std::optional<std::int64_t> next() const;
  void tell(std::int64_t level, bool good);

  // The highest that was good and the lowest that was not. 0: none was.
  std::int64_t good() const { return good_; }
  std::int64_t bad() const { return bad_; }

 private:
  std::int64_t first_;
  std::int64_t most_;
  double tolerance_;
  std::int64_t good_ = 0;
  std::int64_t bad_ = 0;
};

}  // namespace assay::plan
