#include <algorithm>
#include <set>
#include <vector>

#include "rules/catalogue.h"
#include "rules/derive.h"

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

void check_region_computation(const Scope& at, Out& out) {
  if (at.curve->c_max && !at.curve->regions_trouble.empty()) {
    out.error({at.curve->path}, at.curve->regions_trouble,
              "a lowest concurrency of 1..32, and C_max above 32");
  }
}

void check_concurrency_in_range(const Scope& at, Out& out) {
  if (!at.curve->regions || at.point->dedicated()) return out.not_applicable();
  if (!at.curve->region_of(*at.point)) {
    out.error(at.point->point.place("/concurrency"),
              format("concurrency {}", at.point->concurrency),
              format("1 to {}", (*at.curve->regions)[rulebook::Region::margin].last));
  }
}

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

constexpr Rule kRegionRules[] = {
    {.id = "region-basis",
     .level = Level::curve,
     .severity = Severity::warning,
     .clause = "§5.4: Concurrency in range",
     .demand = "C_min and C_max are known from the points",
     .fix = "mend the point.yaml files whose concurrency can't be read",
     .check = check_region_basis},
    {.id = "c-min-override",
     .level = Level::curve,
     .action = Action::reject_submission,
     .clause = "§5.4: Concurrency in range",
     .demand = "a declared C_min is one of the curve's levels, 1..32, the same in each point",
     .fix = "the same c_min_override in every system_desc.json, or in none",
     .check = check_c_min_override},
    {.id = "region-computation",
     .level = Level::curve,
     .action = Action::reject_submission,
     .clause = "§5.5: Max concurrency",
     .demand = "1 <= C_min <= 32 < C_max",
     .fix = "declare the concurrency that the system supports, above 32; `assay regions` shows "
            "the table",
     .check = check_region_computation},
    {.id = "concurrency-in-range",
     .action = Action::flag,
     .clause = "§5.5: Concurrency in range",
     .demand = "a point's concurrency is at most the margin's end",
     .fix = "measure it at C_max or below, or declare a higher C_max",
     .check = check_concurrency_in_range},
    {.id = "region-declared",
     .needs = Needs::usable_point,
     .action = Action::flag,
     .clause = "§8.3: Concurrency in range",
     .demand = "region is one of the edition's names",
     .fix = "`assay regions C_MAX C_MIN` says which",
     .check = check_region_declared},
    {.id = "region-placement",
     .needs = Needs::usable_point,
     .severity = Severity::warning,
     .action = Action::flag,
     .clause = "§8.3: Concurrency in range",
     .demand = "a point is declared in the region that its concurrency falls into",
     .fix = "declare the computed region, or submitters_choice; C_min may have moved",
     .check = check_region_placement},
};

}  // namespace

std::span<const Rule> region_rules() { return kRegionRules; }

}  // namespace assay::rules
