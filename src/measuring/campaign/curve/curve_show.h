// What `assay curve` shows: the plan as a table before anything is asked, and while it measures the
// growing curve and how far the whole is, above the live block of the point at hand.
#pragma once

#include <string>
#include <vector>

#include "campaign/curve/curve_folder.h"
#include "campaign/recorded_run.h"
#include "metrics/curve.h"
#include "report/terminal_style.h"

namespace assay::campaign {

// The points with their regions and the time that each takes: a least where rates are not known.
std::string plan_table(const CurveSettings& settings, const std::vector<PointState>& points,
                       const report::TerminalStyle& style);

// The time that what is not finished takes at least.
Duration time_left(const plan::CurvePlan& plan, const std::vector<PointState>& points);

// The lines above a point's live block. `curve` as it was before the point.
std::vector<std::string> curve_lines(const metrics::Curve& curve, const CurveFolder& folder,
                                     std::size_t point, Duration left, std::size_t columns);

}  // namespace assay::campaign
