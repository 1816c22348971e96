#include "report/svg/timeline.h"

#include <algorithm>

#include "base/format.h"
#include "report/svg/drawing.h"
#include "report/svg/frame.h"

namespace assay::report::svg {
namespace {

// One step a bucket: the value is its mean, and a slope between two would be invented.
Path steps(const Frame& frame, const std::vector<double>& values, double bucket, bool filled) {
  Path path;
  if (filled) path.move_to(frame.left, frame.bottom);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double from = frame.x.scale(static_cast<double>(i) * bucket);
    const double to = frame.x.scale(static_cast<double>(i + 1) * bucket);
    const double y = frame.y.scale(values[i]);
    if (path.empty()) {
      path.move_to(from, y);
    } else {
      path.line_to(from, y);
    }
    path.line_to(to, y);
  }
  if (filled) {
    path.line_to(frame.x.scale(static_cast<double>(values.size()) * bucket), frame.bottom).close();
  }
  return path;
}

}  // namespace

Axis timeline_axis(const std::vector<double>& values, const TimelineOptions& options) {
  const double highest = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  return {linear_scale(0, highest), options.quantity, options.y_title, 3};
}

std::string timeline(const std::vector<double>& values, const TimelineOptions& options) {
  if (values.empty()) return {};
  Axis y = timeline_axis(values, options);
  TimeAxis time = options.time;
  time.tick_room = std::max(time.tick_room, tick_room(y));
  const Frame frame = make_frame(options.width, options.height, time_margins(time),
                                 make_time_axis(time, options.width), std::move(y));
  Drawing drawing(options.width, options.height, options.label);
  draw_shades(drawing, frame, options.time);
  draw_axes(drawing, frame, options.time.labelled);
  if (options.simulated) draw_simulated(drawing, frame);
  drawing.path(steps(frame, values, options.bucket, true), format("area s{}", options.series));
  drawing.path(steps(frame, values, options.bucket, false),
               format("line s{}{}", options.series, options.simulated ? " dashed" : ""));
  draw_shade_names(drawing, frame, options.time);
  for (const Alarm& alarm : options.alarms) {
    drawing.cross(frame.x.scale(alarm.at), frame.bottom - 8, "alarm", alarm.hint);
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double at = static_cast<double>(i) * options.bucket;
    const double from = frame.x.scale(at);
    drawing.hover_area(from, frame.top, frame.x.scale(at + options.bucket) - from, frame.height(),
                       format("{}: {}", quantity_text(Quantity::elapsed, at),
                              quantity_text(options.quantity, values[i])));
  }
  return drawing.finish();
}

}  // namespace assay::report::svg
