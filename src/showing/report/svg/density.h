// How a distribution moves over the time of a run: for each moment, how its values are spread.
//
// The darker a cell, the larger the share of that moment's values in it; each moment is taken for
// itself, so that a quiet minute is as easy to read as a busy one. P50 and P90 of each moment are
// drawn over the cells. The value axis is logarithmic. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/svg/scale.h"
#include "report/svg/time_axis.h"

namespace assay::report::svg {

// counts[column × rows + row]. A column is one moment; row r holds values from row_low[r] to the
// next, the last to twice its own beginning.
struct DensityCells {
  std::vector<double> row_low{};  // ascending; the first may be 0
  std::vector<std::uint32_t> counts{};
  std::size_t columns() const { return row_low.empty() ? 0 : counts.size() / row_low.size(); }
};

struct DensityOptions {
  std::string label{};  // for screen readers
  double width = 960;
  double height = 210;
  Quantity quantity = Quantity::duration;
  std::string y_title{};
  double bucket = 1e9;  // ns that one column stands for
  TimeAxis time{};
  bool simulated = false;
};

// The value that this share of a column's values is at or below, interpolated within its row; 0
// when the column is empty.
double column_quantile(const DensityCells& cells, std::size_t column, double share);

// "" when all cells are empty.
std::string density(const DensityCells& cells, const DensityOptions& options);

}  // namespace assay::report::svg
