// A figure over the time of a run: throughput, queries in flight. Warm-up and drain are shaded. The
// value axis begins at zero, because readers take the area under the line as an amount. Pure; any
// thread.
#pragma once

#include <string>
#include <vector>

#include "report/svg/frame.h"
#include "report/svg/scale.h"
#include "report/svg/time_axis.h"

namespace assay::report::svg {

// A failure at this moment, drawn as a cross above the line.
struct Alarm {
  double at = 0;  // ns since the start
  std::string hint{};
};

struct TimelineOptions {
  std::string label{};  // for screen readers
  double width = 960;
  double height = 170;
  Quantity quantity = Quantity::count;
  std::string y_title{};
  int series = 1;       // its colour, 1 to 4
  double bucket = 1e9;  // ns per value
  TimeAxis time{};
  std::vector<Alarm> alarms{};
  bool simulated = false;
};

// The value axis for these values, for TimeAxis::tick_room.
Axis timeline_axis(const std::vector<double>& values, const TimelineOptions& options);

// values[i] is the mean over [i, i + 1) × bucket since the start. "" without values.
std::string timeline(const std::vector<double>& values, const TimelineOptions& options);

}  // namespace assay::report::svg
