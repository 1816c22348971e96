#include <algorithm>

#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_region_placement(const Scope& at, Out& out) {
  const std::string_view declared = at.point->point.at("/region").as_string();
  const auto computed = at.curve->region_of(*at.point);
  const auto& names = at.tree.edition.region_names;
  if (!computed || std::ranges::count(names, declared) == 0) return out.not_applicable();
  const std::string_view name = names.at(static_cast<std::size_t>(*computed));
  if (declared != name) {
    out.warning(at.point->point.place("/region"),
                format("region is {} at concurrency {}", declared, at.point->concurrency),
                std::string(name));
  }
}

}  // namespace

Rule region_placement() {
  return {.id = "region-placement",
          .group = "curve",
          .level = Level::point,
          .needs = Needs::usable_point,
          .severity = Severity::warning,
          .action = Action::flag,
          .clause = "§8.3: Concurrency in range",
          .demand = "a point is declared in the region that its concurrency falls into",
          .fix = "declare the computed region, or submitters_choice; C_min may have moved",
          .check = check_region_placement};
}

}  // namespace assay::rules
