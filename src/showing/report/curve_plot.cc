#include "report/curve_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/display.h"
#include "base/text.h"

namespace assay::report {
namespace {

struct Spot {
  double x = 0;
  double y = 0;
  bool offline = false;
};

// What one user sees: tokens a second, or the time of a reply.
std::optional<double> seen_by_a_user(const metrics::CurvePoint& point) {
  const metrics::PointFigures& figures = point.official();
  if (point.unit.empty()) return figures.tps_per_user;
  return figures.latency_p90_ms > 0 ? std::optional(figures.latency_p90_ms) : std::nullopt;
}

// By ascending concurrency: interactivity falls, latency grows.
std::vector<Spot> spots_of(const metrics::Curve& curve) {
  std::vector<const metrics::CurvePoint*> points;
  for (const metrics::CurvePoint& point : curve.points) {
    const metrics::PointFigures& figures = point.official();
    if (point.measured && figures.throughput() && seen_by_a_user(point)) points.push_back(&point);
  }
  std::ranges::stable_sort(points, {}, &metrics::CurvePoint::concurrency);
  std::vector<Spot> out;
  for (const metrics::CurvePoint* point : points) {
    out.push_back(
        {*seen_by_a_user(*point), *point->official().throughput(), point->offline == "dedicated"});
  }
  return out;
}

void append_utf8(std::string& out, unsigned code) {
  out += static_cast<char>(0xe0 | (code >> 12));
  out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
  out += static_cast<char>(0x80 | (code & 0x3f));
}

}  // namespace

BrailleCanvas::BrailleCanvas(std::size_t columns, std::size_t rows)
    : columns_(columns), rows_(rows), cells_(columns * rows) {}

void BrailleCanvas::dot(std::size_t x, std::size_t y) {
  if (x >= width() || y >= height()) return;
  static constexpr std::array<std::array<unsigned char, 2>, 4> kBits{
      {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
  unsigned char& cell = cells_[y / 4 * columns_ + x / 2];
  cell = static_cast<unsigned char>(cell | kBits[y % 4][x % 2]);
}

void BrailleCanvas::line_x(std::size_t x1, std::size_t x2, std::size_t y) {
  for (std::size_t x = std::min(x1, x2); x <= std::max(x1, x2); ++x) dot(x, y);
}

void BrailleCanvas::line_y(std::size_t x, std::size_t y1, std::size_t y2) {
  for (std::size_t y = std::min(y1, y2); y <= std::max(y1, y2); ++y) dot(x, y);
}

void BrailleCanvas::blob(std::size_t x, std::size_t y) {
  for (std::size_t dx = 0; dx < 3; ++dx) {
    for (std::size_t dy = 0; dy < 3; ++dy) {
      if (x + dx >= 1 && y + dy >= 1) dot(x + dx - 1, y + dy - 1);
    }
  }
}

std::vector<std::string> BrailleCanvas::lines() const {
  std::vector<std::string> out;
  for (std::size_t row = 0; row < rows_; ++row) {
    std::string line;
    for (std::size_t column = 0; column < columns_; ++column) {
      const unsigned char cell = cells_[row * columns_ + column];
      if (cell == 0) {
        line += ' ';
      } else {
        append_utf8(line, 0x2800U + cell);
      }
    }
    out.push_back(std::move(line));
  }
  return out;
}

std::vector<std::string> curve_plot(const metrics::Curve& curve, std::size_t columns,
                                    std::size_t rows) {
  constexpr std::size_t kLabel = 9;
  // Space for both axis ends as text.
  constexpr std::size_t kLeast = kLabel + 2 + 32;
  const std::vector<Spot> spots = spots_of(curve);
  if (spots.size() < 2 || columns < kLeast || rows < 3) return {};
  double low = spots[0].x;
  double high = spots[0].x;
  double top = 0;
  for (const Spot& spot : spots) {
    low = std::min(low, spot.x);
    high = std::max(high, spot.x);
    top = std::max(top, spot.y);
  }
  if (!(low > 0) || !(top > 0)) return {};
  const double left = std::log(low / 1.05);
  const double span = std::log(high * 1.05) - left;
  BrailleCanvas canvas(columns - kLabel - 2, rows);
  const auto x_of = [&](double x) {
    const auto wide = static_cast<double>(canvas.width() - 1);
    return static_cast<std::size_t>(std::lround((std::log(x) - left) / span * wide));
  };
  const auto y_of = [&](double y) {
    const auto tall = static_cast<double>(canvas.height() - 2);
    return 1 + static_cast<std::size_t>(std::lround((1 - y / top) * tall));
  };
  const Spot* before = nullptr;
  for (const Spot& spot : spots) {
    const std::size_t x = x_of(spot.x);
    const std::size_t y = y_of(spot.y);
    canvas.blob(x, y);
    // A dedicated Offline is a ceiling, not a step.
    if (spot.offline) continue;
    if (before != nullptr) {
      canvas.line_x(x_of(before->x), x, y_of(before->y));
      canvas.line_y(x, y_of(before->y), y);
    }
    before = &spot;
  }
  std::vector<std::string> out{pad_left(curve.throughput_unit(), kLabel)};
  const std::vector<std::string> picture = canvas.lines();
  for (std::size_t i = 0; i < picture.size(); ++i) {
    const std::string label = i == 0 ? three_digits(top) : "";
    std::string line = pad_left(label, kLabel) + (i == 0 ? " ┤" : " │") + picture[i];
    line.erase(line.find_last_not_of(' ') + 1);
    out.push_back(std::move(line));
  }
  std::string axis = pad_left("0", kLabel) + " ┼";
  for (std::size_t i = 0; i + kLabel + 2 < columns; ++i) axis += "─";
  out.push_back(std::move(axis));
  const std::string right =
      three_digits(high) + (curve.unit().empty() ? " tok/s per user" : " ms latency P90");
  out.push_back(std::string(kLabel + 2, ' ') +
                pad_right(three_digits(low), columns - kLabel - 2 - display_width(right)) + right);
  return out;
}

}  // namespace assay::report
