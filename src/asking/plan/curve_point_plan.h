// plan_point: what one point of a curve asks of `run`. The curve's config with the point's level,
// its own length and its own phases:
//
//   warm-up      synthetic prompts, never the measured ones, drained before measuring begins
//   performance  salted where the rows can be, in whole passes, as long as the rules want
//   accuracy     straight after, at the same level, where the point has to answer for it; not
//   salted
//
// A dedicated Offline asks the whole dataset at once. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "domain/sample.h"
#include "plan/config.h"
#include "plan/curve_plan.h"
#include "plan/make_plan.h"

namespace assay::plan {

struct PointPlan {
  Config config{};  // as it is written beside the point
  PlanBundle bundle{};
  std::string warmup_source{};  // "" without a warm-up
};

// The datasets as load_datasets(config) gives them. `rate`: queries a second that the point is
// expected to make, 0 where nobody knows.
Result<PointPlan> plan_point(const Config& config, const std::vector<Dataset>& datasets,
                             const CurvePlan& curve, const CurvePoint& point, double rate);

// One phase of the output caching audit (metrics/caching_audit.h): so many queries at a fixed
// level, none of them salted, after the same warm-up as a point's. Of distinct rows in the curve's
// own order, or of one row each time. REQUIRES: 1 <= queries, and without a row no more than the
// dataset has.
struct AuditPhase {
  std::int64_t concurrency = 1;
  std::uint64_t queries = 1;
  std::optional<std::uint32_t> row{};
};
Result<PointPlan> plan_audit_phase(const Config& config, const std::vector<Dataset>& datasets,
                                   const CurvePlan& curve, const AuditPhase& wanted);

}  // namespace assay::plan
