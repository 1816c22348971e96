#include "report/svg/time_axis.h"

#include <algorithm>

namespace assay::report::svg {

Margins time_margins(const TimeAxis& axis) {
  return {.left = 62, .right = 44, .top = 24, .bottom = axis.labelled ? 38.0 : 8.0};
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
    drawing.rect(from, frame.top, to - from, frame.height(), "shade");
    if (!axis.shades_named) continue;
    const double width = text_width(shade.name, kFontSize);
    if (to - from > width + 8) {
      drawing.text(from + 4, frame.top + 14, Anchor::start, "shade-name", shade.name);
    } else if (to + width + 6 < frame.right) {
      drawing.text(to + 4, frame.top + 14, Anchor::start, "shade-name", "‹ " + shade.name);
    } else {
      drawing.text(from - 4, frame.top + 14, Anchor::end, "shade-name", shade.name + " ›");
    }
  }
}

}  // namespace assay::report::svg
