// LevelSearch: finds the highest good level, if all lower levels are good and all higher ones are
// bad. It doubles from the start until a level is bad, then halves the interval on a logarithmic
// scale until it is small enough. The caller measures and decides what is good. Pure; one thread.
#pragma once

#include <cstdint>
#include <optional>

namespace assay::plan {

class LevelSearch {
 public:
  // REQUIRES: 1 <= first <= most. `tolerance`: relative width of the interval at which to stop.
  LevelSearch(std::int64_t first, std::int64_t most, double tolerance)
      : first_(first), most_(most), tolerance_(tolerance) {}

  // The level to measure; nullopt when the search is done.
  std::optional<std::int64_t> next() const;
  void tell(std::int64_t level, bool good);

  // The highest good level and the lowest bad one; 0: none.
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
