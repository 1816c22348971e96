// The display of `assay curve`: the plan as a table before the first query; then the growing curve
// and the total progress, above the live block of the current point.
#pragma once

#include <string>
#include <vector>

#include "campaign/curve/curve_folder.h"
#include "campaign/recorded_run.h"
#include "metrics/curve.h"
#include "report/terminal_style.h"

namespace assay::campaign {

// The points with their regions and durations: a minimum where rates are not known.
std::string plan_table(const CurveSettings& settings, const std::vector<PointState>& points,
                       const report::TerminalStyle& style);

// The minimum time for the unfinished points.
Duration time_left(const plan::CurvePlan& plan, const std::vector<PointState>& points);

// The lines above a point's live block. `curve`: its state before the point.
std::vector<std::string> curve_lines(const metrics::Curve& curve, const CurveFolder& folder,
                                     std::size_t point, Duration left, std::size_t columns);

}  // namespace assay::campaign
