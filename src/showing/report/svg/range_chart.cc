#include "report/svg/range_chart.h"

#include <algorithm>

#include "base/format.h"
#include "report/svg/frame.h"

namespace assay::report::svg {
namespace {

constexpr std::size_t kColours = 4;

struct Extent {
  double x_low = 0;
  double x_high = 0;
  double y_high = 0;
  bool any = false;
};

Extent extent_of(const std::vector<RangeSeries>& series) {
  Extent out;
  for (const RangeSeries& one : series) {
    for (const RangePoint& point : one.points) {
      out.x_low = out.any ? std::min(out.x_low, point.x) : point.x;
      out.x_high = std::max(out.x_high, point.x);
      out.y_high = std::max({out.y_high, point.y, point.high});
      out.any = true;
    }
  }
  return out;
}

// Around the runs of points that have a range.
void draw_bands(Drawing& drawing, const Frame& frame, const std::vector<RangePoint>& points,
                std::size_t colour) {
  for (std::size_t from = 0; from < points.size();) {
    std::size_t to = from;
    while (to < points.size() && points[to].low < points[to].high) ++to;
    Path band;
    for (std::size_t i = from; i < to; ++i) {
      const double x = frame.x.scale(points[i].x);
      const double y = frame.y.scale(points[i].high);
      i == from ? band.move_to(x, y) : band.line_to(x, y);
    }
    for (std::size_t i = to; i-- > from;) {
      band.line_to(frame.x.scale(points[i].x), frame.y.scale(points[i].low));
    }
    if (to > from) drawing.path(band.close(), format("area s{}", colour));
    from = std::max(to, from + 1);
  }
}

}  // namespace

std::string range_chart(const std::vector<RangeSeries>& series, const RangeChartOptions& options) {
  const Extent extent = extent_of(series);
  if (!extent.any) return {};
  const bool log_x = extent.x_low > 0 && extent.x_high > 3 * extent.x_low;
  Axis x{log_x ? log_scale(extent.x_low, extent.x_high) : linear_scale(0, extent.x_high), options.x,
         options.x_title, 5};
  Axis y{linear_scale(0, extent.y_high), options.y, options.y_title, 5};
  const Frame frame = make_frame(options.width, options.height, Margins{.left = 72, .bottom = 46},
                                 std::move(x), std::move(y));
  Drawing drawing(options.width, options.height, options.label);
  draw_axes(drawing, frame);
  std::vector<KeyEntry> key;
  for (std::size_t n = 0; n < series.size(); ++n) {
    const std::size_t colour = n % kColours + 1;
    const std::string classes = format("line s{}{}", colour, series[n].measured ? "" : " dashed");
    draw_bands(drawing, frame, series[n].points, colour);
    Path line;
    for (const RangePoint& point : series[n].points) {
      const double px = frame.x.scale(point.x);
      const double py = frame.y.scale(point.y);
      line.empty() ? line.move_to(px, py) : line.line_to(px, py);
    }
    if (line.empty()) continue;
    drawing.path(line, classes);
    for (const RangePoint& point : series[n].points) {
      drawing.marker(Marker::circle, frame.x.scale(point.x), frame.y.scale(point.y),
                     format("mark s{}", colour), point.hint);
    }
    key.push_back({classes, series[n].name});
  }
  draw_key(drawing, frame, key, KeyPlace::upper_left);
  return drawing.finish();
}

}  // namespace assay::report::svg
