// What charts over time share: the axis since the start of the run, and the phases that are shaded
// because they are not measured. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "report/svg/drawing.h"
#include "report/svg/frame.h"

namespace assay::report::svg {

// A stretch of the run outside the measured window: "warm-up", "drain". In ns since the start.
struct Shade {
  std::string name{};
  double from = 0;
  double to = 0;
};

struct TimeAxis {
  double end = 0;        // ns; the axis begins at 0
  bool labelled = true;  // of stacked charts only the lowest is
  std::vector<Shade> shades{};
  bool shades_named = true;  // of stacked charts only the highest is
};

// All charts over time have these margins, so that stacked ones line up.
Margins time_margins(const TimeAxis& axis);
Axis make_time_axis(const TimeAxis& axis, double width);
// Draw before the axes.
void draw_shades(Drawing& drawing, const Frame& frame, const TimeAxis& axis);

}  // namespace assay::report::svg
