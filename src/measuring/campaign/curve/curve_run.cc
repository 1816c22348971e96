#include "campaign/curve/curve_run.h"

namespace assay::campaign {
namespace {

Result<PointOutcome> measure_one(CurveFolder& curve, std::size_t i, const MeasurePoint& measure) {
  const plan::CurvePlan& plan = curve.settings().plan;
  TRY(curve.begin(i));
  ASSIGN_OR_RETURN(PointOutcome outcome, measure(plan.points[i], curve.point_folder(i),
                                                 expected_rate(plan, curve.points(), i)));
  const auto told = curve.end(i, outcome.complete, outcome.qps, outcome.took, outcome.why);
  // If the disk was full and the journal has no room for the line, the point is measured again
  // anyway.
  if (!told && (outcome.complete || told.error().code != Code::exhausted)) return told.error();
  return outcome;
}

}  // namespace

Result<CurveEnd> run_curve(CurveFolder& curve, const MeasurePoint& measure,
                           const std::function<void(std::size_t point)>& ended) {
  CurveEnd out;
  const plan::CurvePlan& plan = curve.settings().plan;
  for (std::size_t i = 0; i < plan.points.size(); ++i) {
    if (curve.points()[i].finished) continue;
    const auto measured = measure_one(curve, i, measure);
    if (!measured && measured.error().code == Code::exhausted) {
      return CurveEnd{.why = measured.error().message, .exhausted = true};
    }
    if (!measured) return measured.error();
    if (ended) ended(i);
    if (measured->stop) {
      out.why = measured->why;
      return out;
    }
  }
  out.finished = curve.finished();
  if (!out.finished) out.why = "a point did not end as planned";
  return out;
}

}  // namespace assay::campaign
