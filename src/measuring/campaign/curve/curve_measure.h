// Measures the parts of a curve at an endpoint: its points, the levels of the search for C_max, and
// the two phases of the output caching audit. Each is a run folder. One thread.
#pragma once

#include <filesystem>

#include "base/exit_code.h"
#include "base/result.h"
#include "campaign/curve/curve_prepare.h"
#include "campaign/curve/curve_run.h"
#include "metrics/caching_audit.h"
#include "metrics/point.h"
#include "run/run.h"

namespace assay::campaign {

// A MeasurePoint; the references must outlive it.
class PointMeasurer {
 public:
  PointMeasurer(const PreparedCurve& prepared, const CurveOptions& options, CurveFolder& folder,
                run::Control& control)
      : prepared_(prepared), options_(options), folder_(folder), control_(control) {}

  Result<PointOutcome> operator()(const plan::CurvePoint& point, const std::filesystem::path& where,
                                  double rate);
  // Decides the exit code, as for a single run.
  const Ending& ending() const { return ending_; }

 private:
  PointOutcome outcome_of(const RecordedRun& recorded, Duration took);
  Result<LiveView> watch_of(const plan::CurvePoint& point) const;

  const PreparedCurve& prepared_;
  const CurveOptions& options_;
  CurveFolder& folder_;
  run::Control& control_;
  Ending ending_{};
};

// Records the endpoint's description of itself in the folder, once a curve. An endpoint without one
// is not a failure; returns a sentence for a person, "" if all is well.
Result<std::string> capture_into(const PreparedCurve& prepared, const CurveOptions& options,
                                 const CurveFolder& folder);

// Measures one level for a short time, into a run folder.
Result<metrics::Point> measure_level(const PreparedCurve& prepared, const CurveOptions& options,
                                     std::int64_t level, const std::filesystem::path& where,
                                     run::Control& control);

// Measures the audit of a curve, in its folder; finished phases are not measured again.
Result<metrics::CachingAudit> measure_audit(const PreparedCurve& prepared,
                                            const CurveOptions& options, CurveFolder& folder,
                                            run::Control& control);

}  // namespace assay::campaign
