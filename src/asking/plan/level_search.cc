#include "plan/level_search.h"

#include <algorithm>
#include <cmath>

namespace assay::plan {

std::optional<std::int64_t> LevelSearch::next() const {
  if (bad_ == 0) {
    if (good_ == 0) return first_;
    if (good_ >= most_) return std::nullopt;
    return std::min(2 * good_, most_);
  }
  if (good_ == 0) {
    // The first level was bad: look below it.
    if (bad_ <= 1) return std::nullopt;
    return bad_ / 2;
  }
  const auto low = static_cast<double>(good_);
  const auto high = static_cast<double>(bad_);
  if (bad_ - good_ <= 1 || high <= low * (1 + tolerance_)) return std::nullopt;
  return std::clamp(static_cast<std::int64_t>(std::llround(std::sqrt(low * high))), good_ + 1,
                    bad_ - 1);
}

void LevelSearch::tell(std::int64_t level, bool good) {
  if (good) {
    good_ = std::max(good_, level);
  } else {
    bad_ = bad_ == 0 ? level : std::min(bad_, level);
  }
}

}  // namespace assay::plan
