#include <algorithm>

#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_system_dirname(const Scope& at, Out& out) {
  if (at.system->described == nullptr) return out.not_applicable();
  const Document& description = at.system->described->description;
  std::string name(description.at("/system_name").as_string());
  std::ranges::replace(name, ' ', '_');
  if (!name.empty() && name != at.system->name) {
    out.warning(description.place("/system_name"),
                format("system_name {} in a folder {}", said(description.at("/system_name")),
                       at.system->name),
                "results/" + name);
  }
}

}  // namespace

Rule system_dirname() {
  return {.id = "system-dirname",
          .group = "structure",
          .level = Level::system,
          .severity = Severity::warning,
          .action = Action::flag,
          .clause = "§8.1: Submission completeness",
          .demand = "the system's folder is its system_name, with _ for spaces",
          .fix = "rename the folder, or the system",
          .check = check_system_dirname};
}

}  // namespace assay::rules
