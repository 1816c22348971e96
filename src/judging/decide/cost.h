// Cost: what a promise costs with one system, from users to systems to dollars. Formulas:
//
//   systems      = ceil(users / (users_per_system × derate × (1 − headroom))) + spare
//   $/h, rented  = the price of a system
//   $/h, bought  = capex × crf / 8760, crf = r(1+r)^n / ((1+r)^n − 1), 1/n without interest
//   $/h, both    + kW × PUE × $/kWh + (12 × space a month + staff + software a year) / 8760
//   $ / user-hour = systems × $/h / users
//   $ / Mtok     = 10^6 × systems × $/h / (3600 × tokens a second that are sold)
//   $ / 1000     = 10^3 × systems × $/h / (3600 × units a second that are sold), where replies are
//   no
//                  tokens but pictures, vectors, …
//
// Tokens sold: users × promised speed × utilisation where a speed is promised and users are given,
// else everything made: systems × system_tps × derate × utilisation. Users grow by a factor each
// year, systems with them, and the years add up.
//
// Every input is listed with its value and whether it was given; what was not given is left out of
// the sum or is the neutral value (derate 1, headroom 0), never a guess. Without a price or a
// purchase there is no cost. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace assay::decide {

struct Price {
  double usd_per_hour = 0;  // for one accelerator, or for the whole system
  std::string as_of{};      // "2026-11-01"
  std::string source{};     // where it stands
};

// A table of the user's: rows of accelerator, usd_per_hour, as_of and source, all four required.
struct PriceRow {
  std::string accelerator{};
  Price price{};
};
Result<std::vector<PriceRow>> parse_prices(std::string_view yaml);

struct CostInputs {
  // The demand.
  std::optional<double> users{};
  std::optional<double> promised_tps{};  // tokens a second for each user
  std::optional<double> derate{};
  std::optional<double> headroom{};
  std::optional<std::int64_t> spare{};
  std::optional<double> utilisation{};
  std::optional<double> growth{};  // of users, a year: 0.5 is half as many more
  std::optional<double> years{};
  // The bill of one system.
  std::optional<Price> rent{};  // of the whole system
  std::optional<double> capex{};
  std::optional<double> interest{};  // a year: 0.08
  std::optional<double> power_kw{};
  std::optional<double> pue{};
  std::optional<double> usd_per_kwh{};
  std::optional<double> space_per_month{};
  std::optional<double> staff_per_year{};     // of the whole fleet
  std::optional<double> software_per_year{};  // of one system
};

// What was measured of one system.
struct Capacity {
  std::int64_t users_per_system = 0;
  std::optional<double> system_tps{};
  // Instead of tokens, for a kind of API that has a unit.
  std::string unit{};
  std::optional<double> units_per_s{};
};

struct CostLine {
  std::string name{};
  std::string value{};
  bool given = false;
};

struct Cost {
  std::optional<std::int64_t> systems{};  // in the first year; absent without users
  std::optional<double> usd_per_hour{};   // of the fleet, in the first year
  std::optional<double> usd_per_user_hour{};
  std::optional<double> usd_per_mtok{};
  std::optional<double> usd_per_thousand_units{};
  std::optional<double> usd_total{};  // over the years
  std::vector<CostLine> inputs{};
  std::vector<std::string> missing{};  // why a figure is absent
};

// 3000 / 750 is 4, however the division rounds.
std::int64_t whole_up(double value);
double capital_recovery(double interest, double years);
// Fails for an input outside its range: the error names it.
Result<Cost> cost(const Capacity& capacity, const CostInputs& inputs);
Json cost_json(const Cost& cost);

}  // namespace assay::decide
