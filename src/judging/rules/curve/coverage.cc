#include "rules/catalogue.h"

namespace assay::rules {
namespace {

template <rulebook::Region region>
void check_coverage(const Scope& at, Out& out) {
  const Curve& curve = *at.curve;
  if (!curve.regions) return out.not_applicable();
  const rulebook::Band& band = (*curve.regions)[region];
  for (const PointFolder& point : curve.points) {
    if (point.dedicated()) continue;
    if (curve.in_region(point, region)) return;
    const bool margin_counts =
        region == rulebook::Region::high_concurrency && at.tree.edition.margin_is_high;
    if (margin_counts && curve.in_region(point, rulebook::Region::margin)) return;
    // Rounding left the region empty: a point on that level counts for it.
    if (band.empty() && point.concurrency == band.last) return;
  }
  out.error({curve.path}, format("no point in {}", to_string(region)),
            band.empty() ? format("one at {}: rounding leaves the region empty", band.last)
                         : format("one at {}..{}", band.first, band.last));
}

void check_ultra_low_concurrency_coverage(const Scope& at, Out& out) {
  for (const PointFolder& point : at.curve->points) {
    if (at.curve->ultra_low(point)) return;
  }
  out.error({at.curve->path}, format("no point at concurrency 1..{}", at.curve->ultra_low_end()),
            "one or more");
}

constexpr Rule kCoverageRules[] = {
    {.id = "ultra-low-concurrency-coverage",
     .level = Level::curve,
     .action = Action::reject_submission,
     .clause = "§5.4: Ultra Low Concurrency coverage",
     .demand = "a point at concurrency 1..32, or 1..C_min where C_min is declared",
     .fix = "measure one; it decides C_min",
     .check = check_ultra_low_concurrency_coverage},
    {.id = "low-concurrency-coverage",
     .level = Level::curve,
     .action = Action::reject_submission,
     .clause = "§5.5: Low Concurrency coverage",
     .demand = "a point in the region low_concurrency",
     .fix = "measure one there; plan a spare, for withdrawing the lowest point moves all regions",
     .check = check_coverage<rulebook::Region::low_concurrency>},
    {.id = "med-concurrency-coverage",
     .level = Level::curve,
     .action = Action::reject_submission,
     .clause = "§5.5: Medium Concurrency coverage",
     .demand = "a point in the region med_concurrency",
     .fix = "measure one there; plan a spare, for withdrawing the lowest point moves all regions",
     .check = check_coverage<rulebook::Region::med_concurrency>},
    {.id = "high-concurrency-coverage",
     .level = Level::curve,
     .action = Action::reject_submission,
     .clause = "§5.5: High Concurrency coverage",
     .demand = "a point in the region high_concurrency; the margin does not count",
     .fix = "measure one there, at C_max to elect it as Offline",
     .check = check_coverage<rulebook::Region::high_concurrency>},
};

}  // namespace

std::span<const Rule> coverage_rules() { return kCoverageRules; }

}  // namespace assay::rules
