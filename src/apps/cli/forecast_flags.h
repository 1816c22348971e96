// The flags of a dry run that says what the plan will take: `run` and `curve` have them.
#pragma once

#include <optional>
#include <string>

#include "base/flags.h"
#include "base/result.h"
#include "campaign/forecast.h"
#include "plan/config.h"

namespace assay::cli {

struct ForecastFlags {
  std::string from{};
  std::optional<double> cards{};
  std::optional<double> card_hour{};

  // Refuses the flags without --dry-run, a price without what it is for, and numbers below 0.
  Result<void> check(bool dry_run) const;
  plan::ForecastPrices prices(const plan::Config& config) const;
};

// What a dry run shows below its plan.
struct DryRun {
  std::string text{};
  Json json{};
};
DryRun dry_run(const plan::Forecast& forecast, const campaign::KnownSystem& known,
               const plan::ForecastPrices& prices);

// `forecast` must outlive flags.parse().
void add_forecast_flags(Flags& flags, ForecastFlags& forecast);

}  // namespace assay::cli
