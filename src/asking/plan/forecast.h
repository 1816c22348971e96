// Forecast: what a plan will take before its first query: time, queries, tokens, money and
// accelerator-hours, each as a range. It is made from levels of the same system that are known, by
// measurement or from the serving model. Pure; any thread.
//
// Two things are taken for granted, and no more: with more queries in flight the system answers no
// fewer of them a second, and no query sooner. A level k with q_k queries a second then bounds the
// rate at c in flight from both sides:
//
//   k <= c:  q_k <= q(c) <= q_k × c / k        k >= c:  q_k × c / k <= q(c) <= q_k
//
// The likely rate lies within these on the straight line of logarithms through the nearest two
// levels; with a single one it is the geometric mean of the bounds. Levels that contradict the two
// (a system that gets slower under load) widen the range. A closed loop then lasts as its StopRule
// says; an open loop lasts until its last arrival is answered, or as long as the known rates need
// for its queries.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "domain/plan.h"

namespace assay::plan {

struct Range {
  double low = 0;
  double likely = 0;
  double high = 0;

  Json to_json() const;  // {low, likely, high}
};

struct KnownLevel {
  double in_flight = 0;                   // > 0
  Range qps{};                            // > 0; its range is the doubt of the measurement
  std::optional<double> prompt_tokens{};  // the mean of a query
  std::optional<double> output_tokens{};
};

// The queries a second with `in_flight` of them under way. REQUIRES: `levels` is not empty.
Range rate_at(std::span<const KnownLevel> levels, double in_flight);

struct PhaseForecast {
  std::string name{};
  PhaseKind kind = PhaseKind::performance;
  double in_flight = 0;  // at most; 0: an open loop
  Range queries{};
  Range seconds{};  // with the drain
};

struct Forecast {
  std::vector<PhaseForecast> phases{};
  Range queries{};
  Range seconds{};
  std::optional<Range> prompt_tokens{};
  std::optional<Range> output_tokens{};
  std::vector<std::string> notes{};

  // Puts another run after this one; `name` begins the names of its phases.
  void add(Forecast other, const std::string& name);
};

// `run_max`: PlanBundle::run_max. Fails for a phase whose end nothing but the endpoint decides.
Result<Forecast> forecast(const Plan& plan, Duration run_max, std::span<const KnownLevel> levels);

// What it costs. Prices are in one currency; 0 or nullopt: not known, and the figure is absent.
struct ForecastPrices {
  double prompt_token = 0;
  double output_token = 0;
  std::optional<double> cards{};
  std::optional<double> card_hour{};
};
struct ForecastCost {
  std::optional<Range> tokens{};
  std::optional<Range> card_hours{};
  std::optional<Range> cards{};  // card_hours × their price
};
ForecastCost cost_of(const Forecast& forecast, const ForecastPrices& prices);

// {phases: [{name, kind, in_flight, queries, seconds}], queries, seconds, prompt_tokens, …,
//  cost: {…}, notes}; a figure that is not known is null.
Json forecast_json(const Forecast& forecast, const ForecastCost& cost);

}  // namespace assay::plan
