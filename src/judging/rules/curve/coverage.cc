#include "rules/curve/coverage.h"

namespace assay::rules {

void check_coverage(const Scope& at, Out& out, rulebook::Region region) {
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

}  // namespace assay::rules
