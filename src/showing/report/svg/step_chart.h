// Points of a curve and the steps between them: each value holds until the next point, since
// nothing was measured in between. A marker's shape shows its region, so that colour alone carries
// no meaning. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "report/quantity.h"
#include "report/svg/drawing.h"

namespace assay::report::svg {

struct StepPoint {
  double x = 0;
  double y = 0;
  Marker marker = Marker::circle;
  std::string name{};  // beside the marker; may be empty
  std::string hint{};
  bool apart = false;  // no step leads here: a ceiling
  int series = 0;      // its colour and its own steps, 1 to 4; 0: that of the options
};

struct StepChartOptions {
  std::string label{};  // for screen readers
  double width = 960;
  double height = 380;
  bool log_x = true;
  Quantity x = Quantity::tokens_per_second;
  Quantity y = Quantity::tokens_per_second;
  std::string x_title{};
  std::string y_title{};
  int series = 1;  // its colour, 1 to 4
  bool simulated = false;
};

// `points` in the order of the steps, series after series. "" without points.
std::string step_chart(const std::vector<StepPoint>& points, const StepChartOptions& options);

}  // namespace assay::report::svg
