// What the pages with curves share: one chart as a figure in two widths, and how a point is drawn.
// Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "metrics/curve.h"
#include "report/svg/step_chart.h"

namespace assay::report {

svg::Marker point_marker(const metrics::CurvePoint& point);  // by its region
std::string point_hint(const metrics::CurvePoint& point);
// "r8", and where the point has a safety grade "r8 Good".
std::string graded_name(const metrics::CurvePoint& point);
// By concurrency.
std::vector<const metrics::CurvePoint*> measured_points(const metrics::Curve& curve);

struct CurveChart {
  std::string title{};
  std::string text{};
  svg::StepChartOptions options{};
  std::vector<svg::StepPoint> points{};
};

// "" without points. `half`: of the page's width.
std::string chart_figure(const CurveChart& chart, bool half);

}  // namespace assay::report
