#include "report/svg/time_axis.h"

#include <algorithm>

namespace assay::report::svg {

double tick_room(const Axis& axis) {
  const std::vector<double> values = ticks(axis.scale, axis.quantity, axis.ticks_wanted);
  double widest = 0;
  for (const std::string& label : tick_labels(axis.scale, axis.quantity, values)) {
    widest = std::max(widest, text_width(label, kFontSize));
  }
  return widest + 9;  // 7 to the axis, 2 to the picture's edge
}

Margins time_margins(const TimeAxis& axis) {
  return {.left = std::max(62.0, axis.tick_room),
          .right = 44,
          .top = 24,
          .bottom = axis.labelled ? 38.0 : 8.0};
}

Axis make_time_axis(const TimeAxis& axis, double width) {
  Scale scale;
  scale.low = 0;
  scale.high = std::max(axis.end, 1.0);
  return {scale, Quantity::elapsed, "since the start", width < 500 ? 4 : 8};
}

void draw_shades(Drawing& drawing, const Frame& frame, const TimeAxis& axis) {
  for (const Shade& shade : axis.shades) {
    const double from = frame.x.scale(shade.from);
    const double to = frame.x.scale(shade.to);
    if (to - from < 0.5) continue;
    drawing.rect(from, frame.top, to - from, frame.height(),
                 shade.counted ? "shade-light" : "shade");
  }
}

void draw_shade_names(Drawing& drawing, const Frame& frame, const TimeAxis& axis) {
  if (!axis.shades_named) return;
  constexpr std::string_view kClasses = "shade-name halo";
  for (const Shade& shade : axis.shades) {
    const double from = frame.x.scale(shade.from);
    const double to = frame.x.scale(shade.to);
    if (to - from < 0.5) continue;
    const double width = text_width(shade.name, kFontSize);
    if (to - from > width + 8) {
      drawing.text(from + 4, frame.top + 14, Anchor::start, kClasses, shade.name);
    } else if (to + width + 6 < frame.right) {
      drawing.text(to + 4, frame.top + 14, Anchor::start, kClasses, "‹ " + shade.name);
    } else {
      drawing.text(from - 4, frame.top + 14, Anchor::end, kClasses, shade.name + " ›");
    }
  }
}

}  // namespace assay::report::svg
