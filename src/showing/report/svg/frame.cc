#include "report/svg/frame.h"

#include <algorithm>

#include "base/check.h"

namespace assay::report::svg {

Frame make_frame(double width, double height, const Margins& margins, Axis x, Axis y) {
  Frame frame;
  frame.left = margins.left;
  frame.right = width - margins.right;
  frame.top = margins.top;
  frame.bottom = height - margins.bottom;
  frame.picture_width = width;
  CHECK(frame.right > frame.left && frame.bottom > frame.top);
  frame.x = std::move(x);
  frame.y = std::move(y);
  frame.x.scale.from = frame.left;
  frame.x.scale.to = frame.right;
  frame.y.scale.from = frame.bottom;
  frame.y.scale.to = frame.top;
  return frame;
}

void draw_axes(Drawing& drawing, const Frame& frame, bool x_labels) {
  drawing.open_group("axes");
  const std::vector<double> rows = ticks(frame.y.scale, frame.y.quantity, frame.y.ticks_wanted);
  const std::vector<std::string> row_labels = tick_labels(frame.y.scale, frame.y.quantity, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double y = frame.y.scale(rows[i]);
    drawing.line(frame.left, y, frame.right, y, "grid");
    drawing.text(frame.left - 7, y + 4, Anchor::end, "tick", row_labels[i]);
  }
  const std::vector<double> columns = ticks(frame.x.scale, frame.x.quantity, frame.x.ticks_wanted);
  const std::vector<std::string> labels = tick_labels(frame.x.scale, frame.x.quantity, columns);
  double free_from = 0;  // labels that would touch the previous one are left out
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const double x = frame.x.scale(columns[i]);
    drawing.line(x, frame.top, x, frame.bottom, "grid");
    if (!x_labels) continue;
    const double half = text_width(labels[i], kFontSize) / 2;
    const double middle = std::min(x, frame.picture_width - half - 2);
    if (middle - half < free_from) continue;
    drawing.text(middle, frame.bottom + 16, Anchor::middle, "tick", labels[i]);
    free_from = middle + half + 6;
  }
  drawing.line(frame.left, frame.bottom, frame.right, frame.bottom, "axis");
  if (!frame.y.title.empty()) {
    drawing.text(frame.left, frame.top - 7, Anchor::start, "axis-title", frame.y.title);
  }
  if (x_labels && !frame.x.title.empty()) {
    drawing.text(frame.right, frame.bottom + 31, Anchor::end, "axis-title", frame.x.title);
  }
  drawing.close_group();
}

void draw_simulated(Drawing& drawing, const Frame& frame) {
  drawing.text(frame.right, frame.top - 7, Anchor::end, "simulated", "simulated");
}

void draw_key(Drawing& drawing, const Frame& frame, const std::vector<KeyEntry>& entries,
              KeyPlace place) {
  const bool low = place == KeyPlace::lower_right;
  double y =
      low ? frame.bottom - 10 - 18 * (static_cast<double>(entries.size()) - 1) : frame.top + 18;
  double widest = 0;
  for (const KeyEntry& entry : entries) {
    widest = std::max(widest, text_width(entry.name, kFontSize));
  }
  const double text_x = low ? frame.right - widest - 4 : frame.left + 42;
  for (const KeyEntry& entry : entries) {
    drawing.line(text_x - 30, y - 4, text_x - 6, y - 4, entry.classes);
    drawing.text(text_x, y, Anchor::start, "label", entry.name);
    y += 18;
  }
}

}  // namespace assay::report::svg
