#include "rules/metrics/stored.h"

#include <algorithm>
#include <cmath>

namespace assay::rules {

void check_stored(const Scope& at, Out& out, std::string_view pointer,
                  std::optional<double> derived) {
  const Document& from = at.point->metadata.absent() ? at.point->summary : at.point->metadata;
  const Json& stored = from.at(pointer);
  if (!stored.is_number() || !derived) return out.not_applicable();
  constexpr double kFloor = 1e-9;
  const double off =
      std::fabs(stored.as_double() - *derived) / std::max(std::fabs(*derived), kFloor);
  const double tolerance = at.tree.edition.metric_tolerance;
  if (off <= tolerance) return;
  out.error(from.place(pointer), format("{} is {}", spoken(pointer), stored.dump()),
            format("{:.4g}, give or take {} %", *derived, tolerance * 100));
}

}  // namespace assay::rules
