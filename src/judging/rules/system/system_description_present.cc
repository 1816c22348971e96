#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_system_description_present(const Scope& at, Out& out) {
  int readable = 0;
  for (const PointFolder& point : at.curve->points) {
    readable += point.description.good() ? 1 : 0;
    if (point.description.absent()) {
      out.error({point.path}, "no system_desc.json", point.path + "/system_desc.json");
    }
  }
  if (readable == 0)
    out.error({at.curve->path}, "no system_desc.json that can be read", "one a point");
}

}  // namespace

Rule system_description_present() {
  return {.id = "system-description-present",
          .group = "system",
          .level = Level::curve,
          .action = Action::reject_submission,
          .clause = "§8.2: Submission completeness",
          .demand = "each point has its system_desc.json",
          .fix = "copy the description into each point; `assay pack` does",
          .check = check_system_description_present};
}

}  // namespace assay::rules
