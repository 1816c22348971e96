// run_curve: measures the points of a curve that are not finished, in the plan's order, and leaves
// the folder so that the next call goes on where this one stopped, whatever stopped it. A disk or
// a memory that has no more ends the curve, and is no error: what was measured is there.
//
// How one point is measured is the caller's: `assay curve` asks an endpoint, the tests a simulated
// one. One thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "campaign/curve/curve_folder.h"

namespace assay::campaign {

struct PointOutcome {
  bool complete = false;  // of a run that ended as planned, with replies
  bool stop = false;      // no further point: a person said so, or the endpoint is gone
  double qps = 0;
  Duration took{};
  std::string why{};  // it is not complete
};

// Measures into `folder`, a run folder, its manifest last. `rate`: the queries a second that may be
// expected, 0 where nobody knows.
using MeasurePoint = std::function<Result<PointOutcome>(
    const plan::CurvePoint& point, const std::filesystem::path& folder, double rate)>;

struct CurveEnd {
  bool finished = false;
  std::string why{};       // else: what stopped it
  bool exhausted = false;  // a disk or a memory had no more, outside of a point's own record
};

// `ended` hears of each point that was measured; may be empty.
Result<CurveEnd> run_curve(CurveFolder& curve, const MeasurePoint& measure,
                           const std::function<void(std::size_t point)>& ended);

}  // namespace assay::campaign
