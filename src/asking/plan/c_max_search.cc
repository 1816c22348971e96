#include "plan/c_max_search.h"

#include <algorithm>
#include <cmath>

namespace assay::plan {

CMaxRange c_max_range(const CurveWish& wish) {
  CMaxRange out;
  // Quick curves are for trying things out.
  constexpr std::int64_t kQuickMost = 128;
  if (wish.quick) out.most = kQuickMost;
  const bool dedicated = !wish.offline || *wish.offline == Offline::dedicated;
  const auto rows = static_cast<std::int64_t>(wish.rows);
  if (dedicated && rows > out.least) out.most = std::min(out.most, rows - 1);
  return out;
}

std::optional<std::int64_t> CMaxSearch::next() const {
  const auto level = search_.next();
  return level && *level >= least_ ? level : std::nullopt;
}

bool CMaxSearch::tell(std::int64_t level, double rate, bool whole) {
  bool good = whole;
  if (good && search_.good() > 0) {
    const double ratio = static_cast<double>(level) / static_cast<double>(search_.good());
    good = rate >= best_ * std::pow(kWorthwhileGain, std::log2(ratio));
  }
  if (good) best_ = std::max(best_, rate);
  search_.tell(level, good);
  return good;
}

}  // namespace assay::plan
