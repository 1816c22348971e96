// Scale: values to pixels, linear or logarithmic, and ticks that a person expects.
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

  // Values outside map to the ends: a mark never leaves its frame.
  double operator()(double value) const;
};

// A scale from at or below `low` to at or above `high`, with ends on round numbers; a logarithmic
// scale needs `low` > 0. Equal or reversed ends are widened.
Scale linear_scale(double low, double high);
Scale log_scale(double low, double high);

// Round values within the scale, about `wanted` of them, ascending. Durations and elapsed times get
// a clock's steps: 15 s, 1 min, 5 min.
std::vector<double> ticks(const Scale& scale, Quantity quantity, int wanted);
// Their labels: on a linear scale all in one unit, with the digits that distinguish neighbours.
std::vector<std::string> tick_labels(const Scale& scale, Quantity quantity,
                                     const std::vector<double>& values);

}  // namespace assay::report::svg
