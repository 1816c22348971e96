// What a dry run shows below its plan: how long the plan will take, and what it will cost, by an
// earlier run, a curve or a simulation (forecast.h).
#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "campaign/forecast.h"
#include "plan/config.h"
#include "plan/forecast.h"

namespace assay::campaign {

struct ForecastAsked {
  std::string from{};
  std::optional<double> cards{};
  std::optional<double> card_hour{};

  // Refuses the flags without --dry-run, a price without what it is for, and numbers below 0.
  Result<void> check(bool dry_run) const;
  plan::ForecastPrices prices(const plan::Config& config) const;
};

struct DryRun {
  std::string text{};
  Json json{};
};

DryRun dry_run(const plan::Forecast& forecast, const KnownSystem& known,
               const plan::ForecastPrices& prices);

}  // namespace assay::campaign
