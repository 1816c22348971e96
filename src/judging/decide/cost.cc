#include "decide/cost.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/json_list.h"
#include "base/text.h"
#include "base/yaml.h"

namespace assay::decide {
namespace {

constexpr double kHoursPerYear = 8760;
// More systems than this are a mistake in an input.
constexpr double kSystemsMax = 1e9;

Result<void> in_range(std::string_view name, const std::optional<double>& value, double least,
                      double most) {
  // What is not a number is in no range.
  if (!value || (*value >= least && *value <= most)) return {};
  return invalid(format("{}: must be {:g} to {:g}, is {:g}", name, least, most, *value));
}

Result<void> check(const CostInputs& in) {
  constexpr double kMost = 1e15;
  constexpr double kTiny = 1e-9;
  TRY(in_range("--users", in.users, 1, 1e12));
  TRY(in_range("--derate", in.derate, 0.01, 1));
  TRY(in_range("--headroom", in.headroom, 0, 0.95));
  TRY(in_range("--utilisation", in.utilisation, 0.0001, 1));
  TRY(in_range("--growth", in.growth, -0.99, 100));
  TRY(in_range("--years", in.years, 1, 50));
  TRY(in_range("--interest", in.interest, 0, 1));
  TRY(in_range("capex", in.capex, kTiny, kMost));
  TRY(in_range("kw", in.power_kw, kTiny, kMost));
  TRY(in_range("--pue", in.pue, 1, 10));
  TRY(in_range("--usd-per-kwh", in.usd_per_kwh, 0, 1000));
  TRY(in_range("--space-per-month", in.space_per_month, 0, kMost));
  TRY(in_range("--staff-per-year", in.staff_per_year, 0, kMost));
  TRY(in_range("--software-per-year", in.software_per_year, 0, kMost));
  if (in.spare && (*in.spare < 0 || *in.spare > 1'000'000)) {
    return invalid(format("--spare: must be 0 to 1000000, is {}", *in.spare));
  }
  if (in.rent && in.capex) return invalid("a system is rented (price) or bought (capex), not both");
  if (in.rent) TRY(in_range("price", in.rent->usd_per_hour, kTiny, kMost));
  if (in.capex && !in.years) return invalid("capex: needs --years, over which it is paid");
  return {};
}

// The lines in which every input stands.
class Lines {
 public:
  void number(const std::string& name, const std::optional<double>& value, double neutral) {
    add(name, three_digits(value.value_or(neutral)), value.has_value());
  }
  void only_given(const std::string& name, const std::optional<double>& value,
                  const std::string& unit = {}) {
    if (value) add(name, three_digits(*value) + unit, true);
  }
  void add(std::string name, std::string value, bool given) {
    lines_.push_back({std::move(name), std::move(value), given});
  }
  std::vector<CostLine> take() { return std::move(lines_); }

 private:
  std::vector<CostLine> lines_{};
};

std::vector<CostLine> lines_of(const Capacity& capacity, const CostInputs& in) {
  Lines out;
  out.add("users per system", with_thousands(capacity.users_per_system), true);
  if (capacity.system_tps) out.add("system_tps", three_digits(*capacity.system_tps), true);
  if (capacity.units_per_s) {
    out.add(capacity.unit + "s a second", three_digits(*capacity.units_per_s), true);
  }
  out.only_given("users at the peak", in.users);
  out.only_given("promised to each", in.promised_tps, " tok/s");
  out.number("derate", in.derate, 1);
  out.number("headroom", in.headroom, 0);
  out.add("spare systems", with_thousands(in.spare.value_or(0)), in.spare.has_value());
  out.number("utilisation", in.utilisation, 1);
  if (in.rent) {
    std::string price = "$" + three_digits(in.rent->usd_per_hour) + "/h";
    if (!in.rent->as_of.empty()) price += ", " + in.rent->as_of;
    if (!in.rent->source.empty()) price += ", " + in.rent->source;
    out.add("rent of a system", std::move(price), true);
  }
  if (in.capex) {
    out.add("price of a system", "$" + three_digits(*in.capex), true);
    out.number("interest a year", in.interest, 0);
  }
  out.only_given("years", in.years);
  out.only_given("growth a year", in.growth);
  out.only_given("power of a system", in.power_kw, " kW");
  if (in.power_kw && in.usd_per_kwh) out.number("PUE", in.pue, 1);
  out.only_given("$ per kWh", in.usd_per_kwh);
  out.only_given("space a month, of a system, $", in.space_per_month);
  out.only_given("software a year, of a system, $", in.software_per_year);
  out.only_given("staff a year, of all, $", in.staff_per_year);
  return out.take();
}

// Dollars of an hour of one system; nullopt: neither rented nor bought.
std::optional<double> hourly(const CostInputs& in) {
  if (!in.rent && !in.capex) return std::nullopt;
  double out =
      in.rent ? in.rent->usd_per_hour
              : *in.capex * capital_recovery(in.interest.value_or(0), *in.years) / kHoursPerYear;
  if (in.power_kw && in.usd_per_kwh) out += *in.power_kw * in.pue.value_or(1) * *in.usd_per_kwh;
  return out +
         (12 * in.space_per_month.value_or(0) + in.software_per_year.value_or(0)) / kHoursPerYear;
}

std::optional<double> systems_for(double users, const Capacity& capacity, const CostInputs& in) {
  const double real = static_cast<double>(capacity.users_per_system) * in.derate.value_or(1) *
                      (1 - in.headroom.value_or(0));
  if (users > real * kSystemsMax) return std::nullopt;
  return static_cast<double>(whole_up(users / real) + in.spare.value_or(0));
}

double fleet_hourly(double systems, double per_system, const CostInputs& in) {
  return systems * per_system + in.staff_per_year.value_or(0) / kHoursPerYear;
}

// Over the years, of which the last may be a part.
std::optional<double> total(const Capacity& capacity, const CostInputs& in, double per_system) {
  if (!in.years) return std::nullopt;
  double out = 0;
  double users = in.users.value_or(0);
  for (double left = *in.years; left > 1e-9; left -= 1) {
    const auto systems = in.users ? systems_for(users, capacity, in) : std::optional(1.0);
    if (!systems) return std::nullopt;
    out += fleet_hourly(*systems, per_system, in) * kHoursPerYear * std::min(1.0, left);
    users *= 1 + in.growth.value_or(0);
  }
  return out;
}

}  // namespace

Result<std::vector<PriceRow>> parse_prices(std::string_view text) {
  ASSIGN_OR_RETURN(const yaml::Node root, yaml::parse(text));
  if (!root.is_list()) {
    return invalid("a list of rows: {accelerator, usd_per_hour, as_of, source}");
  }
  std::vector<PriceRow> out;
  for (const yaml::Node& row : root.items) {
    PriceRow one;
    const auto text_of = [&row](std::string_view key) {
      const yaml::Node* const node = row.find(key);
      return node != nullptr && node->is_scalar() ? node->text : std::string();
    };
    one.accelerator = text_of("accelerator");
    one.price = {.as_of = text_of("as_of"), .source = text_of("source")};
    const auto usd = parse_double(text_of("usd_per_hour"));
    if (one.accelerator.empty() || one.price.as_of.empty() || one.price.source.empty() || !usd ||
        *usd <= 0) {
      return invalid(
          format("line {}: a row has accelerator, usd_per_hour (above 0), as_of (a date) and "
                 "source",
                 row.line));
    }
    one.price.usd_per_hour = *usd;
    for (const PriceRow& other : out) {
      if (other.accelerator == one.accelerator) {
        return invalid(format("line {}: {} has two prices", row.line, one.accelerator));
      }
    }
    out.push_back(std::move(one));
  }
  return out;
}

std::int64_t whole_up(double value) {
  const double below = std::floor(value);
  return static_cast<std::int64_t>(value - below < 1e-9 * value ? below : std::ceil(value));
}

double capital_recovery(double interest, double years) {
  if (interest <= 0) return 1 / years;
  const double grown = std::pow(1 + interest, years);
  return interest * grown / (grown - 1);
}

Result<Cost> cost(const Capacity& capacity, const CostInputs& in) {
  TRY(check(in));
  Cost out{.inputs = lines_of(capacity, in)};
  std::optional<double> systems = in.users ? systems_for(*in.users, capacity, in) : std::nullopt;
  if (!in.users) out.missing.emplace_back("no number of users was given: one system is priced");
  if (in.users && !systems) {
    out.missing.emplace_back("no measured level serves a user within the limits");
    return out;
  }
  if (systems) out.systems = static_cast<std::int64_t>(*systems);
  const auto per_system = hourly(in);
  if (!per_system) {
    out.missing.emplace_back("no price was given: price= or capex= of a system, or --prices");
    return out;
  }
  const double count = systems.value_or(1);
  out.usd_per_hour = fleet_hourly(count, *per_system, in);
  out.usd_total = total(capacity, in, *per_system);
  if (in.users) out.usd_per_user_hour = *out.usd_per_hour / *in.users;
  std::optional<double> sold;
  if (in.users && in.promised_tps) {
    sold = *in.users * *in.promised_tps;
  } else if (capacity.system_tps) {
    sold = count * *capacity.system_tps * in.derate.value_or(1);
  }
  if (sold && *sold > 0) {
    out.usd_per_mtok = 1e6 * *out.usd_per_hour / (3600 * *sold * in.utilisation.value_or(1));
  }
  if (capacity.units_per_s && *capacity.units_per_s > 0) {
    const double made = count * *capacity.units_per_s * in.derate.value_or(1);
    out.usd_per_thousand_units =
        1e3 * *out.usd_per_hour / (3600 * made * in.utilisation.value_or(1));
  }
  return out;
}

Json cost_json(const Cost& cost) {
  const auto number = [](const auto& value) { return value ? Json(*value) : Json(); };
  Json inputs = Json::array();
  for (const CostLine& line : cost.inputs) {
    inputs.push_back(
        Json().set("name", line.name).set("value", line.value).set("given", line.given));
  }
  Json out;
  out.set("systems", number(cost.systems))
      .set("usd_per_hour", number(cost.usd_per_hour))
      .set("usd_per_user_hour", number(cost.usd_per_user_hour))
      .set("usd_per_million_tokens", number(cost.usd_per_mtok))
      .set("usd_per_thousand_units", number(cost.usd_per_thousand_units))
      .set("usd_total", number(cost.usd_total))
      .set("inputs", std::move(inputs))
      .set("missing", json_list(cost.missing));
  return out;
}

}  // namespace assay::decide
