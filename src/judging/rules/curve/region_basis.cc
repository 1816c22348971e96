#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_region_basis(const Scope& at, Out& out) {
  if (!at.curve->c_max) {
    out.warning({at.curve->path}, "C_max is unknown: no system_desc.json declares it",
                "max_supported_concurrency");
  } else if (at.curve->c_min_override) {
    out.info({at.curve->path}, format("C_min is {} by c_min_override, C_max is {}",
                                      *at.curve->c_min_override, *at.curve->c_max));
  } else if (at.curve->c_min_partial && at.tree.edition.c_min_derived) {
    out.warning({at.curve->path},
                format("C_min {} rests on folder names: a point.yaml can't be used",
                       at.curve->c_min.value_or(0)),
                "every point's concurrency from its point.yaml");
  } else {
    out.info({at.curve->path},
             format("C_min is {}, C_max is {}", at.curve->c_min.value_or(0), *at.curve->c_max));
  }
}

}  // namespace

Rule region_basis() {
  return {.id = "region-basis",
          .group = "curve",
          .level = Level::curve,
          .severity = Severity::warning,
          .clause = "§5.4: Concurrency in range",
          .demand = "C_min and C_max are known from the points",
          .fix = "mend the point.yaml files whose concurrency can't be read",
          .check = check_region_basis};
}

}  // namespace assay::rules
