#include "report/svg/step_chart.h"

#include <algorithm>

#include "base/format.h"
#include "report/svg/frame.h"
#include "report/svg/scale.h"

namespace assay::report::svg {
namespace {

constexpr double kNameGap = 8;
constexpr double kLineHeight = 13;

struct Range {
  double low = 0;
  double high = 0;
};

Range range_of(const std::vector<StepPoint>& points, double StepPoint::*value) {
  Range out{points[0].*value, points[0].*value};
  for (const StepPoint& point : points) {
    out.low = std::min(out.low, point.*value);
    out.high = std::max(out.high, point.*value);
  }
  return out;
}

// Leaves out a name that would overlap another; the marker's hint has it.
void draw_names(Drawing& drawing, const Frame& frame, const std::vector<StepPoint>& points) {
  struct Box {
    double left = 0;
    double right = 0;
    double y = 0;
  };
  std::vector<Box> taken;
  for (const StepPoint& point : points) {
    if (point.name.empty()) continue;
    const double width = text_width(point.name, kFontSize);
    double left = frame.x.scale(point.x) + kNameGap;
    if (left + width > frame.right) left -= width + 2 * kNameGap;
    const double y = std::max(frame.top + kLineHeight, frame.y.scale(point.y) - 6);
    const bool free = std::ranges::none_of(taken, [&](const Box& box) {
      return left < box.right && box.left < left + width && y < box.y + kLineHeight &&
             box.y < y + kLineHeight;
    });
    if (!free) continue;
    taken.push_back({left, left + width, y});
    drawing.text(left, y, Anchor::start, "label halo", point.name);
  }
}

}  // namespace

std::string step_chart(const std::vector<StepPoint>& points, const StepChartOptions& options) {
  if (points.empty()) return {};
  const Range xs = range_of(points, &StepPoint::x);
  const Range ys = range_of(points, &StepPoint::y);
  // A narrow range has no round numbers on a logarithmic axis.
  constexpr double kWide = 3;
  const bool log_x = options.log_x && xs.low > 0 && xs.high > kWide * xs.low;
  Axis x{log_x ? log_scale(xs.low, xs.high) : linear_scale(options.log_x ? xs.low : 0, xs.high),
         options.x, options.x_title, 5};
  Axis y{linear_scale(0, ys.high), options.y, options.y_title, 5};
  const Frame frame = make_frame(options.width, options.height, Margins{.left = 72, .bottom = 46},
                                 std::move(x), std::move(y));
  Drawing drawing(options.width, options.height, options.label);
  draw_axes(drawing, frame);
  if (options.simulated) draw_simulated(drawing, frame);
  const auto series_of = [&options](const StepPoint& point) {
    return point.series > 0 ? point.series : options.series;
  };
  Path path;
  double held = 0;
  int series = options.series;
  const auto finish_path = [&] {
    if (path.empty()) return;
    drawing.path(path, format("line s{}{}", series, options.simulated ? " dashed" : ""));
    path = Path();
  };
  for (const StepPoint& point : points) {
    if (point.apart) continue;
    if (series_of(point) != series) finish_path();
    series = series_of(point);
    const double px = frame.x.scale(point.x);
    const double py = frame.y.scale(point.y);
    if (path.empty()) {
      path.move_to(px, py);
    } else {
      path.line_to(px, held).line_to(px, py);
    }
    held = py;
  }
  finish_path();
  for (const StepPoint& point : points) {
    const double py = frame.y.scale(point.y);
    if (point.apart) drawing.line(frame.left, py, frame.right, py, "drop");
    drawing.marker(point.marker, frame.x.scale(point.x), py, format("mark s{}", series_of(point)),
                   point.hint);
  }
  draw_names(drawing, frame, points);
  return drawing.finish();
}

}  // namespace assay::report::svg
