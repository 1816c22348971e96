#include "campaign/curve/curve_run.h"

namespace assay::campaign {

Result<CurveEnd> run_curve(CurveFolder& curve, const MeasurePoint& measure,
                           const std::function<void(std::size_t point)>& ended) {
  CurveEnd out;
  const plan::CurvePlan& plan = curve.settings().plan;
  for (std::size_t i = 0; i < plan.points.size(); ++i) {
    if (curve.points()[i].finished) continue;
    TRY(curve.begin(i));
    ASSIGN_OR_RETURN(const PointOutcome outcome, measure(plan.points[i], curve.point_folder(i),
                                                         expected_rate(plan, curve.points(), i)));
    TRY(curve.end(i, outcome.complete, outcome.qps, outcome.took, outcome.why));
    if (ended) ended(i);
    if (outcome.stop) {
      out.why = outcome.why;
      return out;
    }
  }
  out.finished = curve.finished();
  if (!out.finished) out.why = "a point did not end as planned";
  return out;
}

}  // namespace assay::campaign
