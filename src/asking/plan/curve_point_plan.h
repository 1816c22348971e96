// plan_point: the run of one point of a curve: the curve's config with the point's level, its own
// length and its own phases:
//
//   warm-up      synthetic prompts, never the measured ones; drained before measuring begins
//   performance  in whole passes, for the time that the rules ask; salted if the rows can be
//   accuracy     directly after, at the same level, if the point needs accuracy; not salted
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
  Config config{};  // as written beside the point
  PlanBundle bundle{};
  std::string warmup_source{};  // "" without a warm-up
};

// `datasets`: the result of load_datasets(config). `rate`: expected queries a second of the point,
// 0 if unknown.
Result<PointPlan> plan_point(const Config& config, const std::vector<Dataset>& datasets,
                             const CurvePlan& curve, const CurvePoint& point, double rate);

// One phase of the output caching audit (metrics/caching_audit.h): a number of queries at a fixed
// level, without salts, after the same warm-up as a point's. It asks distinct rows in the curve's
// own order, or one row every time. REQUIRES: 1 <= queries, and without a row at most the dataset's
// rows.
struct AuditPhase {
  std::int64_t concurrency = 1;
  std::uint64_t queries = 1;
  std::optional<std::uint32_t> row{};
};
Result<PointPlan> plan_audit_phase(const Config& config, const std::vector<Dataset>& datasets,
                                   const CurvePlan& curve, const AuditPhase& wanted);

}  // namespace assay::plan
