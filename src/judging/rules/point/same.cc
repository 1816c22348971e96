#include "rules/point/same.h"

namespace assay::rules {

void check_same(const Scope& at, Out& out, std::string_view pointer) {
  const PointFolder* first = nullptr;
  for (const PointFolder& point : at.curve->points) {
    const Json& value = point.point.at(pointer);
    if (!point.usable() || value.is_null()) continue;
    if (first == nullptr) first = &point;
    const Json& wanted = first->point.at(pointer);
    if (value == wanted) continue;
    out.error(point.point.place(pointer), format("{} is {}", spoken(pointer), said(value)),
              format("{}, as in {}", said(wanted), first->name));
  }
}

}  // namespace assay::rules
