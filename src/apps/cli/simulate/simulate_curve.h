// Simulated points as a curve like any other, so that its report has the same table and charts,
// each labelled simulated.
#pragma once

#include <string>
#include <vector>

#include "metrics/curve.h"
#include "sim/simulate.h"

namespace assay::cli {

struct SimulatedCurve {
  std::string system{};  // as sim::describe() says
  std::string model{};
  std::string lengths{};      // "819-1024 in, 819-1024 out"
  std::string calibration{};  // where its constants come from
  std::vector<sim::SimPoint> points{};
};

metrics::Curve to_curve(const SimulatedCurve& simulated);

}  // namespace assay::cli
