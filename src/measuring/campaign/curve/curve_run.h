// run_curve measures the unfinished points of a curve, in the plan's order. The next call resumes
// where this one stopped, whatever stopped it. A full disk or exhausted memory ends the curve and
// is not an error: the measured points remain.
//
// The caller decides how to measure one point: `assay curve` queries an endpoint, the tests a
// simulation. One thread.
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
  bool complete = false;  // ended as planned, with replies
  bool stop = false;      // measure no further point: interrupted, or the endpoint is gone
  double qps = 0;
  Duration took{};
  std::string why{};  // reason why it is not complete
};

// Measures into `folder`, a run folder, and writes its manifest last. `rate`: the expected queries
// a second, 0 if unknown.
using MeasurePoint = std::function<Result<PointOutcome>(
    const plan::CurvePoint& point, const std::filesystem::path& folder, double rate)>;

struct CurveEnd {
  bool finished = false;
  std::string why{};       // else what stopped it
  bool exhausted = false;  // no disk space or memory, outside of a point's own record
};

// `ended` is called after each measured point; may be empty.
Result<CurveEnd> run_curve(CurveFolder& curve, const MeasurePoint& measure,
                           const std::function<void(std::size_t point)>& ended);

}  // namespace assay::campaign
