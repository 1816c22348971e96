#include <set>

#include "rules/derive.h"
#include "rules/rule.h"

namespace assay::rules {
namespace {

constexpr std::string_view kPointer = "/c_min_override";

void check_c_min_override(const Scope& at, Out& out) {
  const Curve& curve = *at.curve;
  if (!curve.c_min_stated) return out.not_applicable();
  std::set<std::int64_t> values;
  for (const PointFolder& point : curve.points) {
    const Json* stated = point.description.root().find("c_min_override");
    if (stated == nullptr) {
      out.error(point.description.place(), "no c_min_override, which other points have",
                "the same in every point, or in none");
    } else if (!valid_c_min(*stated)) {
      out.error(point.description.place(kPointer), format("c_min_override is {}", stated->dump()),
                format("an integer, 1..{}", rulebook::kUltraLowMax));
    } else {
      values.insert(stated->as_int());
    }
  }
  if (values.size() > 1) {
    out.error({curve.path},
              format("c_min_override is {} in one point, {} in another", *values.begin(),
                     *values.rbegin()),
              "one value");
  } else if (curve.c_min_override && !curve.has_level(*curve.c_min_override)) {
    out.error({curve.path},
              format("c_min_override is {}, where no point was measured", *curve.c_min_override),
              "the concurrency of a point of the curve");
  }
}

}  // namespace

Rule c_min_override() {
  return {.id = "c-min-override",
          .group = "curve",
          .level = Level::curve,
          .action = Action::reject_submission,
          .clause = "§5.4: Concurrency in range",
          .demand = "a declared C_min is one of the curve's levels, 1..32, the same in each point",
          .fix = "the same c_min_override in every system_desc.json, or in none",
          .check = check_c_min_override};
}

}  // namespace assay::rules
