// Scale: values to pixels, linear or logarithmic, and the ticks a person expects to read on it.
//
// Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "report/quantity.h"

namespace assay::report::svg {

struct Scale {
  double low = 0;  // value at `from`
  double high = 1;
  double from = 0;  // pixels
  double to = 1;
  bool logarithmic = false;

  // Values outside are held at the ends: a mark never leaves its frame.
  double operator()(double value) const;
};

// From at or below `low` to at or above `high`, ends on round numbers; for logarithmic scales
// `low` > 0. Equal or reversed ends are widened.
Scale linear_scale(double low, double high);
Scale log_scale(double low, double high);

// Round values within the scale, about `wanted` of them, ascending. Of durations and elapsed times
// they are what a clock shows: 15 s, 1 min, 5 min.
std::vector<double> ticks(const Scale& scale, Quantity quantity, int wanted);
// Their labels: on a linear scale all in one unit and with the digits that tell neighbours apart.
std::vector<std::string> tick_labels(const Scale& scale, Quantity quantity,
                                     const std::vector<double>& values);

}  // namespace assay::report::svg
