#include "report/svg/ecdf.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/format.h"
#include "report/svg/drawing.h"
#include "report/svg/frame.h"

namespace assay::report::svg {
namespace {

// Beyond this ratio of the largest to the middle value a linear axis would hide the bulk.
constexpr double kLongTail = 6;
// A linear axis spans at least this share of its largest value.
constexpr double kNarrowest = 0.1;

double value_at(const EcdfSeries& series, double share) {
  for (const EcdfStep& step : series.steps) {
    if (step.share >= share) return step.value;
  }
  return series.steps.back().value;
}

Scale value_scale(const std::vector<const EcdfSeries*>& series) {
  double low = 1e300;
  double high = 0;
  bool long_tail = false;
  for (const EcdfSeries* one : series) {
    low = std::min(low, one->steps.front().value);
    high = std::max(high, one->steps.back().value);
    const double middle = value_at(*one, 0.5);
    long_tail = long_tail || (middle > 0 && one->steps.back().value > kLongTail * middle);
  }
  const double first = value_at(*series.front(), 0.01);
  if (long_tail && first > 0) {
    // One small outlier must not stretch the axis over empty decades.
    return log_scale(std::max(low, first / 3), high);
  }
  if (low < 0.35 * high) return linear_scale(std::min(low, 0.0), high);
  // A narrow axis would exaggerate small differences.
  const double missing = kNarrowest * high - (high - low);
  if (missing > 0) return linear_scale(low - missing / 2, high + missing / 2);
  return linear_scale(low, high);
}

Path curve(const Frame& frame, const EcdfSeries& series) {
  Path path;
  path.move_to(frame.x.scale(series.steps.front().value), frame.bottom);
  for (const EcdfStep& step : series.steps) {
    path.line_to(frame.x.scale(step.value), frame.y.scale(step.share));
  }
  // The curve stays at 1 beyond the largest value.
  path.line_to(frame.right, frame.y.scale(1));
  return path;
}

std::string line_classes(std::size_t index, const EcdfOptions& options) {
  return format("line s{}{}{}", index + 1, options.simulated ? " dashed" : "",
                options.band && index > 0 ? " band" : "");
}

constexpr std::array<Marker, 4> kShapes{Marker::circle, Marker::square, Marker::triangle,
                                        Marker::diamond};

// Is there a curve to the left of this mark? Then its label stands on the right, below the curve.
bool crowded_left(const std::vector<const EcdfSeries*>& all, const EcdfMark& mark) {
  return std::any_of(all.begin() + 1, all.end(), [&mark](const EcdfSeries* other) {
    return value_at(*other, mark.share) < 0.98 * mark.value;
  });
}

void draw_marks(Drawing& drawing, const Frame& frame, const std::vector<const EcdfSeries*>& all,
                std::size_t index, Quantity quantity) {
  std::size_t shape = 0;
  for (const EcdfMark& mark : all[index]->marks) {
    const double x = frame.x.scale(mark.value);
    const double y = frame.y.scale(mark.share);
    const std::string words = format("{} {}", mark.name, quantity_text(quantity, mark.value));
    const std::string& name = all[index]->name;
    if (index == 0) drawing.line(x, y, x, frame.bottom, "drop");
    drawing.marker(kShapes[shape % kShapes.size()], x, y, format("mark s{}", index + 1),
                   name.empty() ? words : format("{}: {}", name, words));
    ++shape;
    if (index != 0) continue;
    const double width = text_width(words, kFontSize);
    const bool right =
        x - 9 - width < frame.left || (crowded_left(all, mark) && x + 9 + width < frame.right);
    if (right) {
      drawing.text(x + 9, y + 11, Anchor::start, "label halo", words);
    } else {
      drawing.text(x - 9, y - 3, Anchor::end, "label halo", words);
    }
  }
}

}  // namespace

std::string ecdf(const std::vector<EcdfSeries>& series, const EcdfOptions& options) {
  std::vector<const EcdfSeries*> shown;
  for (const EcdfSeries& one : series) {
    if (!one.steps.empty()) shown.push_back(&one);
  }
  if (shown.empty()) return {};
  Axis x{value_scale(shown), options.quantity, options.x_title, options.width < 400 ? 4 : 6};
  Axis y{Scale{}, Quantity::share, "", 4};
  if (x.scale.logarithmic) x.title += x.title.empty() ? "log scale" : ", log scale";
  const Margins margins{.left = 46, .right = 18, .top = 22, .bottom = 38};
  const Frame frame =
      make_frame(options.width, options.height, margins, std::move(x), std::move(y));

  Drawing drawing(options.width, options.height, options.label);
  draw_axes(drawing, frame);
  // Not above the frame, where P99 has its label.
  if (options.simulated) {
    drawing.text(frame.left + 8, frame.top + 15, Anchor::start, "simulated", "simulated");
  }
  for (std::size_t i = shown.size(); i-- > 0;) {
    drawing.path(curve(frame, *shown[i]), line_classes(i, options));
  }
  for (std::size_t i = shown.size(); i-- > 0;) {
    draw_marks(drawing, frame, shown, i, options.quantity);
  }
  if (shown.size() > 1) {
    std::vector<KeyEntry> key;
    for (std::size_t i = 0; i < shown.size(); ++i) {
      key.push_back({line_classes(i, options), shown[i]->name});
    }
    draw_key(drawing, frame, key);
  }
  return drawing.finish();
}

}  // namespace assay::report::svg
