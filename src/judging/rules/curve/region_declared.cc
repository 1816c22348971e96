#include <algorithm>
#include <vector>

#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_region_declared(const Scope& at, Out& out) {
  const Json& region = at.point->point.at("/region");
  std::vector<std::string_view> names = at.tree.edition.region_names;
  names.push_back(at.tree.edition.choice_region);
  // Edition v0.7 required none.
  if (at.tree.pareto && region.is_null()) return;
  if (region.is_string() && std::ranges::count(names, region.as_string()) > 0) return;
  if (region.is_null()) {
    out.warning(at.point->point.place(), "no region is declared", "the region that it stands for");
    return;
  }
  std::string all;
  for (const std::string_view name : names) all += (all.empty() ? "" : ", ") + std::string(name);
  out.error(at.point->point.place("/region"), format("region is {}", said(region)), all);
}

}  // namespace

Rule region_declared() {
  return {.id = "region-declared",
          .group = "curve",
          .level = Level::point,
          .needs = Needs::usable_point,
          .action = Action::flag,
          .clause = "§8.3: Concurrency in range",
          .demand = "region is one of the edition's names",
          .fix = "`assay regions C_MAX C_MIN` says which",
          .check = check_region_declared};
}

}  // namespace assay::rules
