// The shared parts of charts over time: the axis since the start of the run, and its shaded phases.
// Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "report/svg/drawing.h"
#include "report/svg/frame.h"

namespace assay::report::svg {

// A shaded part of the run: "warm-up", "drain". In ns since the start.
struct Shade {
  std::string name{};
  double from = 0;
  double to = 0;
  bool counted = false;  // its replies are part of the result: a lighter shade
};

struct TimeAxis {
  double end = 0;        // ns; the axis begins at 0
  bool labelled = true;  // in a stack only the lowest chart's axis is
  std::vector<Shade> shades{};
  bool shades_named = true;  // in a stack only the highest chart's shades are
  double tick_room = 0;      // the widest label column of the stack, in pixels
};

// Pixels that a value axis needs for the labels at its left.
double tick_room(const Axis& axis);
// All charts over time have these margins, so that stacked ones line up.
Margins time_margins(const TimeAxis& axis);
Axis make_time_axis(const TimeAxis& axis, double width);
// Draw the shades before the axes, and their names after the data, so that no line crosses them.
void draw_shades(Drawing& drawing, const Frame& frame, const TimeAxis& axis);
void draw_shade_names(Drawing& drawing, const Frame& frame, const TimeAxis& axis);

}  // namespace assay::report::svg
