#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_plausible_names(const Scope& at, Out& out) {
  for (const std::string& name : at.curve->unread) {
    out.error({at.curve->path + "/" + name}, "a point's files in a folder that is read as no point",
              at.curve->path + "/r<concurrency>/");
  }
  for (const PointFolder& point : at.curve->points) {
    if (point.name.starts_with("r0")) {
      out.error({point.path}, format("zeros before the concurrency in \"{}\"", point.name),
                "r<concurrency>, as a whole number is written");
    }
  }
}

}  // namespace

Rule plausible_names() {
  return {.id = "plausible-names",
          .level = Level::curve,
          .clause = "Assay's own: what is measured is read",
          .demand = "each folder with a point's files is named r<concurrency>",
          .fix = "rename the folder: r96; or take it out of the tree",
          .check = check_plausible_names};
}

}  // namespace assay::rules
