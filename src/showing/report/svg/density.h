// How a distribution changes over the time of a run: the spread of the values at each moment.
//
// A darker cell holds a larger share of its moment's values. Each moment is scaled by itself, so
// that a quiet minute is as easy to read as a busy one. P50 and P90 of each moment are drawn over
// the cells. The value axis is logarithmic. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/svg/scale.h"
#include "report/svg/time_axis.h"

namespace assay::report::svg {

// counts[column × rows + row]. A column is one moment. Row r holds values from row_low[r] to the
// next row's; the last row ends at twice its own beginning.
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
  double bucket = 1e9;  // ns per column
  TimeAxis time{};
  bool simulated = false;
};

// The value below which this share of a column's values lies, interpolated within its row; 0 when
// the column is empty.
double column_quantile(const DensityCells& cells, std::size_t column, double share);

// "" when all cells are empty.
std::string density(const DensityCells& cells, const DensityOptions& options);

}  // namespace assay::report::svg
