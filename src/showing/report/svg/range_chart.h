// Series over a common x, each as a line through its points with the range of each value as a band:
// what was measured, and what might be. A series without ranges has no band. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "report/quantity.h"

namespace assay::report::svg {

struct RangePoint {
  double x = 0;
  double y = 0;
  double low = 0;  // low < high: the range of y
  double high = 0;
  std::string hint{};
};

struct RangeSeries {
  std::string name{};
  std::vector<RangePoint> points{};  // ascending in x
  bool measured = false;             // else drawn as not measured: dashed
};

struct RangeChartOptions {
  std::string label{};  // for screen readers
  double width = 960;
  double height = 380;
  Quantity x = Quantity::count;
  Quantity y = Quantity::tokens_per_second;
  std::string x_title{};
  std::string y_title{};
};

// At most four series have a colour of their own. "" without points.
std::string range_chart(const std::vector<RangeSeries>& series, const RangeChartOptions& options);

}  // namespace assay::report::svg
