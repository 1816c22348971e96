// What a plan will take, by what is known of the system (plan/forecast.h): the levels that a run, a
// curve or `assay simulate --json` has, and the forecast as text.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "campaign/curve/curve_prepare.h"
#include "plan/forecast.h"
#include "plan/make_plan.h"
#include "report/terminal_style.h"

namespace assay::campaign {

struct KnownSystem {
  std::string from{};  // the path
  bool simulated = false;
  std::vector<plan::KnownLevel> levels{};  // ascending by in_flight
};

// `from`: a run's folder, a curve's, or a file of `assay simulate --json`. A measured level's range
// is the 90 % interval of its mean latency, a simulated one's the model's own.
Result<KnownSystem> known_system(const std::filesystem::path& from);

// All points of a new curve, one after another. Fails for a curve whose C_max is to be found.
Result<plan::Forecast> forecast_curve(const PreparedCurve& prepared, const KnownSystem& known);

// The phases of a plan as `run --dry-run` shows them: how their queries are released, how many, and
// the plan's digest.
std::string plan_text(const plan::PlanBundle& bundle);
Json plan_json(const plan::PlanBundle& bundle);

std::string forecast_text(const plan::Forecast& forecast, const plan::ForecastCost& cost,
                          const KnownSystem& known, const report::TerminalStyle& style);

}  // namespace assay::campaign
