#include "campaign/dry_run.h"

#include <utility>

namespace assay::campaign {

Result<void> ForecastAsked::check(bool dry_run) const {
  if (!dry_run && (!from.empty() || cards || card_hour)) {
    return invalid("--from, --cards, --card-hour: work only with --dry-run");
  }
  if (from.empty() && (cards || card_hour)) {
    return invalid("--cards, --card-hour: need --from, which says how long the plan takes");
  }
  if (cards && !(*cards > 0)) return invalid("--cards: must be above 0");
  if (card_hour && !cards) return invalid("--card-hour: needs --cards");
  if (card_hour && !(*card_hour >= 0)) return invalid("--card-hour: must be 0 or more");
  return {};
}

plan::ForecastPrices ForecastAsked::prices(const plan::Config& config) const {
  constexpr double kMillion = 1e6;
  const plan::Guarding& guard = config.settings.guard;
  return {.prompt_token = guard.price_in.value_or(0) / kMillion,
          .output_token = guard.price_out.value_or(0) / kMillion,
          .cards = cards,
          .card_hour = card_hour};
}

DryRun dry_run(const plan::Forecast& forecast, const KnownSystem& known,
               const plan::ForecastPrices& prices) {
  const plan::ForecastCost cost = plan::cost_of(forecast, prices);
  Json json = plan::forecast_json(forecast, cost);
  json.set("from", known.from).set("simulated", known.simulated);
  return {"\n" + forecast_text(forecast, cost, known, report::terminal_style(1)), std::move(json)};
}

}  // namespace assay::campaign
