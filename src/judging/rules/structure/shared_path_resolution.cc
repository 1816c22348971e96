#include <algorithm>
#include <vector>

#include "base/text.h"
#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_shared_path_resolution(const Scope& at, Out& out) {
  for (const std::string_view name : {"/shared_src", "/shared_docs"}) {
    const Json& value = at.point->point.at(name);
    if (!value.is_string()) continue;
    const std::string_view path = value.as_string();
    const std::vector<std::string_view> steps = split(path, '/');
    const bool leads_out = path.empty() || path.front() == '/' || path.front() == '~' ||
                           std::ranges::count(steps, "..") > 0;
    if (leads_out || !at.tree.folder(path)) {
      out.error(at.point->point.place(name), format("{} is {}", spoken(name), said(value)),
                "a folder of the submission, without .. or ~");
    }
  }
}

}  // namespace

Rule shared_path_resolution() {
  return {.id = "shared-path-resolution",
          .group = "structure",
          .level = Level::point,
          .needs = Needs::usable_point,
          .action = Action::reject_submission,
          .clause = "§9.1: Shared path resolution",
          .demand = "shared_src and shared_docs are folders below the root",
          .fix = "name a folder relative to the submission's root, such as src/vllm",
          .check = check_shared_path_resolution};
}

}  // namespace assay::rules
