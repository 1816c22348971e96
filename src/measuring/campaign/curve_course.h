// One `assay curve`, from its options to its words: the plan, C_max, the audit, the points, the
// report; a search for a level in their place; a curve that goes on.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "base/talk.h"
#include "campaign/curve/curve_prepare.h"
#include "campaign/dry_run.h"
#include "campaign/gate.h"
#include "campaign/results_store.h"
#include "campaign/run_settings.h"

namespace assay::campaign {

// `results` puts each finished point into a store. `args`: the command's own, for curve.json.
// Returns the exit code.
Result<int> measure_curve(RunSettings& settings, CurveOptions options,
                          const ForecastAsked& forecast, Gate& gate, const ResultsStore& results,
                          std::span<const std::string> args, const Talk& talk);

}  // namespace assay::campaign
