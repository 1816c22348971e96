#include "cli/forecast_flags.h"

#include <utility>

namespace assay::cli {

Result<void> ForecastFlags::check(bool dry_run) const {
  if (!dry_run && (!from.empty() || cards || card_hour)) {
    return invalid("--from, --cards, --card-hour: are for --dry-run");
  }
  if (from.empty() && (cards || card_hour)) {
    return invalid("--cards, --card-hour: need --from, which says how long the plan takes");
  }
  if (cards && !(*cards > 0)) return invalid("--cards: must be above 0");
  if (card_hour && !cards) return invalid("--card-hour: needs --cards");
  if (card_hour && !(*card_hour >= 0)) return invalid("--card-hour: must be 0 or more");
  return {};
}

plan::ForecastPrices ForecastFlags::prices(const plan::Config& config) const {
  constexpr double kMillion = 1e6;
  const plan::Guarding& guard = config.settings.guard;
  return {.prompt_token = guard.price_in.value_or(0) / kMillion,
          .output_token = guard.price_out.value_or(0) / kMillion,
          .cards = cards,
          .card_hour = card_hour};
}

DryRun dry_run(const plan::Forecast& forecast, const campaign::KnownSystem& known,
               const plan::ForecastPrices& prices) {
  const plan::ForecastCost cost = plan::cost_of(forecast, prices);
  Json json = plan::forecast_json(forecast, cost);
  json.set("from", known.from).set("simulated", known.simulated);
  return {"\n" + campaign::forecast_text(forecast, cost, known, report::terminal_style(1)),
          std::move(json)};
}

void add_forecast_flags(Flags& flags, ForecastFlags& forecast) {
  flags
      .add("--from", &forecast.from,
           "with --dry-run: time, tokens and cost of the plan, by a run, a curve or a file of "
           "`assay simulate --json`")
      .value("PATH")
      .group("Output");
  flags.add("--cards", &forecast.cards, "with --from: accelerator-hours of so many")
      .value("N")
      .group("Output");
  flags.add("--card-hour", &forecast.card_hour, "what an hour of one of --cards costs")
      .value("X")
      .group("Output");
}

}  // namespace assay::cli
