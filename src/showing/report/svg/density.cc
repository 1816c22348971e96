#include "report/svg/density.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "base/format.h"
#include "report/svg/drawing.h"
#include "report/svg/frame.h"

namespace assay::report::svg {
namespace {

// A cell's shade is its share of the column: a class for each of these, the lightest first.
constexpr std::array<double, 5> kShares{0.0, 0.05, 0.12, 0.25, 0.45};

std::size_t shade_of(double share) {
  std::size_t shade = 0;
  while (shade + 1 < kShares.size() && share >= kShares[shade + 1]) ++shade;
  return shade;
}

double row_begin(const DensityCells& cells, std::size_t row) {
  // The first row begins at 0, which a logarithmic axis cannot show.
  if (cells.row_low[row] > 0) return cells.row_low[row];
  return cells.row_low.size() > 1 ? cells.row_low[1] / 2 : 1;
}

double row_end(const DensityCells& cells, std::size_t row) {
  return row + 1 < cells.row_low.size() ? cells.row_low[row + 1] : 2 * row_begin(cells, row);
}

std::uint64_t column_count(const DensityCells& cells, std::size_t column) {
  const auto begin =
      cells.counts.begin() + static_cast<std::ptrdiff_t>(column * cells.row_low.size());
  return std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(cells.row_low.size()),
                         std::uint64_t{0});
}

// The lowest and highest row with values; false when all are empty.
bool used_rows(const DensityCells& cells, std::size_t& low, std::size_t& high) {
  const std::size_t rows = cells.row_low.size();
  low = rows;
  high = 0;
  for (std::size_t i = 0; i < cells.counts.size(); ++i) {
    if (cells.counts[i] == 0) continue;
    low = std::min(low, i % rows);
    high = std::max(high, i % rows);
  }
  return low < rows;
}

// Rounds as coordinate() prints, so that neighbours share their edge exactly.
double snapped(double pixels) { return std::round(pixels * 10) / 10; }

void draw_cells(Drawing& drawing, const Frame& frame, const DensityCells& cells, double bucket) {
  const std::size_t rows = cells.row_low.size();
  std::array<Path, kShares.size()> shades;
  for (std::size_t column = 0; column < cells.columns(); ++column) {
    const auto total = static_cast<double>(column_count(cells, column));
    const double from = snapped(frame.x.scale(static_cast<double>(column) * bucket));
    const double to = snapped(frame.x.scale(static_cast<double>(column + 1) * bucket));
    for (std::size_t row = 0; row < rows; ++row) {
      const std::uint32_t count = cells.counts[column * rows + row];
      if (count == 0) continue;
      const double top = snapped(frame.y.scale(row_end(cells, row)));
      const double bottom = snapped(frame.y.scale(row_begin(cells, row)));
      shades[shade_of(count / total)].add_rect(from, top, to - from, bottom - top);
    }
  }
  for (std::size_t i = 0; i < shades.size(); ++i) {
    drawing.path(shades[i], format("cell d{}", i + 1));
  }
}

// The line breaks where a column has no values. Returns the height of its last piece, for the
// label.
double draw_quantile(Drawing& drawing, const Frame& frame, const DensityCells& cells,
                     const DensityOptions& options, double share, std::string_view classes) {
  Path path;
  bool drawing_line = false;
  double last_y = frame.bottom;
  for (std::size_t column = 0; column < cells.columns(); ++column) {
    const double value = column_quantile(cells, column, share);
    if (value <= 0) {
      drawing_line = false;
      continue;
    }
    const double x = frame.x.scale((static_cast<double>(column) + 0.5) * options.bucket);
    last_y = frame.y.scale(value);
    if (drawing_line) {
      path.line_to(x, last_y);
    } else {
      path.move_to(x, last_y);
    }
    drawing_line = true;
  }
  drawing.path(path, classes);
  return last_y;
}

}  // namespace

double column_quantile(const DensityCells& cells, std::size_t column, double share) {
  CHECK(column < cells.columns() && share >= 0 && share <= 1);
  const auto total = static_cast<double>(column_count(cells, column));
  double below = 0;
  for (std::size_t row = 0; row < cells.row_low.size(); ++row) {
    const double count = cells.counts[column * cells.row_low.size() + row];
    if (count > 0 && below + count >= share * total) {
      const double part = std::clamp((share * total - below) / count, 0.0, 1.0);
      const double low = row_begin(cells, row);
      return low * std::pow(row_end(cells, row) / low, part);
    }
    below += count;
  }
  return 0;
}

std::string density(const DensityCells& cells, const DensityOptions& options) {
  std::size_t low = 0;
  std::size_t high = 0;
  if (cells.columns() == 0 || !used_rows(cells, low, high)) return {};
  // At least two octaves: a narrow axis would exaggerate small differences.
  const double middle = std::sqrt(row_begin(cells, low) * row_end(cells, high));
  Axis y{log_scale(std::min(row_begin(cells, low), middle / 2),
                   std::max(row_end(cells, high), middle * 2)),
         options.quantity, options.y_title, 4};
  const Frame frame = make_frame(options.width, options.height, time_margins(options.time),
                                 make_time_axis(options.time, options.width), std::move(y));
  Drawing drawing(options.width, options.height, options.label);
  draw_shades(drawing, frame, options.time);
  draw_axes(drawing, frame, options.time.labelled);
  if (options.simulated) draw_simulated(drawing, frame);
  draw_cells(drawing, frame, cells, options.bucket);
  const double y90 = draw_quantile(drawing, frame, cells, options, 0.9, "line s2 dotted");
  double y50 = draw_quantile(drawing, frame, cells, options, 0.5, "line ink");
  draw_shade_names(drawing, frame, options.time);
  y50 = std::max(y50, y90 + 14);
  drawing.text(frame.right + 5, y90 + 4, Anchor::start, "label", "P90");
  drawing.text(frame.right + 5, y50 + 4, Anchor::start, "label", "P50");
  for (std::size_t column = 0; column < cells.columns(); ++column) {
    const std::uint64_t count = column_count(cells, column);
    if (count == 0) continue;
    const double at = static_cast<double>(column) * options.bucket;
    const double from = frame.x.scale(at);
    drawing.hover_area(
        from, frame.top, frame.x.scale(at + options.bucket) - from, frame.height(),
        format("{}: P50 {}, P90 {}, of {}", quantity_text(Quantity::elapsed, at),
               quantity_text(options.quantity, column_quantile(cells, column, 0.5)),
               quantity_text(options.quantity, column_quantile(cells, column, 0.9)), count));
  }
  return drawing.finish();
}

}  // namespace assay::report::svg
