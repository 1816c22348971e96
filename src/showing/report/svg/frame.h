// Frame: the box that a chart draws in, with its axes, grid and tick labels.
//
// All charts share it, so that stacked charts align to the pixel and look alike. Pure; one thread a
// frame.
#pragma once

#include <string>
#include <vector>

#include "report/svg/drawing.h"
#include "report/svg/scale.h"

namespace assay::report::svg {

inline constexpr double kFontSize = 12;  // of tick labels; style.h has the same for the browser

struct Axis {
  Scale scale{};  // `from` and `to` are set by frame()
  Quantity quantity = Quantity::count;
  std::string title{};  // "tok/s", "since the start"; may be empty
  int ticks_wanted = 5;
};

struct Margins {
  double left = 58;
  double right = 16;
  double top = 16;
  double bottom = 34;
};

struct Frame {
  double left = 0;
  double right = 0;
  double top = 0;
  double bottom = 0;
  double picture_width = 0;
  Axis x{};
  Axis y{};

  double width() const { return right - left; }
  double height() const { return bottom - top; }
};

// Fits the scales' pixels to the box. REQUIRES: the box is larger than its margins.
Frame make_frame(double width, double height, const Margins& margins, Axis x, Axis y);

// Draws grid and axes with their labels; draw them first, so that data lies on top.
// `x_labels` false: for stacked charts, where only the lowest labels x.
void draw_axes(Drawing& drawing, const Frame& frame, bool x_labels = true);

// Writes above the frame's right corner that these values were not measured.
void draw_simulated(Drawing& drawing, const Frame& frame);

// One entry of a key: a piece of the line as drawn, and its name.
struct KeyEntry {
  std::string classes{};
  std::string name{};
};
// The corner that the lines leave free: a distribution the lower right one, what grows with the
// load the upper left one.
enum class KeyPlace { lower_right, upper_left };
void draw_key(Drawing& drawing, const Frame& frame, const std::vector<KeyEntry>& entries,
              KeyPlace place = KeyPlace::lower_right);

}  // namespace assay::report::svg
