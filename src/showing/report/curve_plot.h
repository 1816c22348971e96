// The curve on a terminal, in braille dots: system throughput against one user's rate, or against
// the latency of a reply where replies have a unit and no tokens. It draws steps, not slopes, since
// nothing was measured between two points; dots mark the points.
//
//     tok/s
//     9,932 ┤⠒⠒⠒⢲
//           │   ⢸⣀⣀⡀
//         0 ┼────────────────
//           12.1      46.9  tok/s per user
//
// Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "metrics/curve.h"

namespace assay::report {

// A canvas of dots; a character holds two by four of them.
class BrailleCanvas {
 public:
  BrailleCanvas(std::size_t columns, std::size_t rows);
  std::size_t width() const { return 2 * columns_; }
  std::size_t height() const { return 4 * rows_; }
  // The origin is the upper left; dots outside the canvas are ignored.
  void dot(std::size_t x, std::size_t y);
  void line_x(std::size_t x1, std::size_t x2, std::size_t y);
  void line_y(std::size_t x, std::size_t y1, std::size_t y2);
  // Three by three dots around (x, y).
  void blob(std::size_t x, std::size_t y);
  std::vector<std::string> lines() const;

 private:
  std::size_t columns_;
  std::size_t rows_;
  std::vector<unsigned char> cells_;
};

// Lines of at most `columns`; empty with fewer than two measured points.
std::vector<std::string> curve_plot(const metrics::Curve& curve, std::size_t columns,
                                    std::size_t rows);

}  // namespace assay::report
