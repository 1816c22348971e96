#include "decide/system.h"

#include <algorithm>
#include <functional>

#include "base/display.h"
#include "base/format.h"
#include "base/text.h"
#include "decide/terms.h"

namespace assay::decide {
namespace {

Error bad_part(std::string_view part) {
  return invalid(
      format("'{}': a system is written FOLDER[,name=…][,accelerators=N][,accelerator=NAME][,kw=X]"
             "[,price=$/h of the system][,capex=$][,simulated=yes|no]",
             part));
}

// A price of the whole system: its own, or the table's for each of its accelerators.
std::optional<Price> rent_of(const System& system, const std::vector<PriceRow>& prices) {
  if (system.price_per_hour) {
    return Price{.usd_per_hour = *system.price_per_hour, .source = "given on the command line"};
  }
  if (system.capex || !system.accelerators) return std::nullopt;
  const auto row = std::ranges::find(prices, system.accelerator, &PriceRow::accelerator);
  if (row == prices.end()) return std::nullopt;
  Price out = row->price;
  out.usd_per_hour *= *system.accelerators;
  return out;
}

using Figure = std::function<std::optional<double>(const SystemAnswer&)>;

struct Measure {
  std::string by{};
  RankWords words{};
  Better better = Better::higher;
  Figure divisor{};  // of users; of a cost the figure itself
};

std::optional<double> usd_per_system_hour(const SystemAnswer& one) {
  if (!one.cost.usd_per_hour) return std::nullopt;
  return *one.cost.usd_per_hour / static_cast<double>(one.cost.systems.value_or(1));
}

// The unit of the replies of all systems that were measured; "" for tokens, and where they differ.
std::string common_unit(const std::vector<SystemAnswer>& systems) {
  std::optional<std::string> out;
  for (const SystemAnswer& one : systems) {
    if (one.served.measured == 0) continue;
    if (out && *out != one.unit) return {};
    out = one.unit;
  }
  return out.value_or("");
}

std::vector<Measure> measures(const std::string& unit) {
  const auto users = [](std::string most, std::string after, bool whole) {
    return RankWords{.most = std::move(most), .after = std::move(after), .whole = whole};
  };
  std::vector<Measure> out{
      {"users", users("serves the most users", " users", true), Better::higher,
       [](const SystemAnswer&) { return std::optional(1.0); }},
      {"users per accelerator", users("serves the most users per accelerator", " users", false),
       Better::higher, [](const SystemAnswer& one) { return one.system.accelerators; }},
      {"users per kW", users("serves the most users per kW", " users", false), Better::higher,
       [](const SystemAnswer& one) { return one.system.kw; }},
      {"users per $/h", users("serves the most users per dollar an hour", " users", false),
       Better::higher, usd_per_system_hour},
      {"$ per million tokens",
       {.most = "costs the least per token", .before = "$", .after = " a million tokens"},
       Better::lower,
       [](const SystemAnswer& one) { return one.cost.usd_per_mtok; }},
  };
  if (!unit.empty()) {
    out.push_back(
        {"$ per thousand " + unit + "s",
         {.most = "costs the least per " + unit, .before = "$", .after = " " + lot_of(unit).words},
         Better::lower,
         [](const SystemAnswer& one) { return one.cost.usd_per_thousand_units; }});
  }
  return out;
}

Contender contender_of(const SystemAnswer& one, const Measure& measure) {
  Contender out{.name = one.system.name,
                .open = one.served.open(),
                .simulated = one.simulated,
                .accuracy = one.accuracy == "not scored" ? "not scored" : "scored"};
  const auto by = measure.divisor(one);
  if (!by || *by <= 0) return out;
  if (one.served.measured == 0) return out;
  if (measure.better == Better::lower) {
    out.value = *by;
    return out;
  }
  // No level served a user, and the lowest one has no figure to say that it can't.
  if (!one.served.level && one.served.uses_unknown()) return out;
  out.value = static_cast<double>(one.served.users) / *by;
  if (one.served.unmeasured_between()) {
    out.beyond = static_cast<double>(one.served.broken->concurrency) / *by;
  }
  return out;
}

std::string cost_text(const SystemAnswer& one) {
  const Cost& cost = one.cost;
  std::string out;
  const auto add = [&out](const std::string& part) { out += (out.empty() ? "" : "; ") + part; };
  if (cost.systems) {
    add(format("{} {}", with_thousands(*cost.systems), *cost.systems == 1 ? "system" : "systems"));
  }
  if (cost.usd_per_hour) add(format("${} an hour", three_digits(*cost.usd_per_hour)));
  if (cost.usd_per_user_hour) {
    add(format("${} a user-hour", three_digits(*cost.usd_per_user_hour)));
  }
  if (cost.usd_per_mtok) add(format("${} a million tokens", three_digits(*cost.usd_per_mtok)));
  if (cost.usd_per_thousand_units) {
    add(format("${} {}", three_digits(*cost.usd_per_thousand_units), lot_of(one.unit).words));
  }
  if (cost.usd_total) add(format("${} over the years", three_digits(*cost.usd_total)));
  if (out.empty()) return {};
  // A lower bound of users is an upper bound of what they cost.
  return one.served.open() ? "at most " + out : out;
}

std::string inputs_text(const Cost& cost) {
  std::string given;
  std::string neutral;
  for (const CostLine& line : cost.inputs) {
    std::string& out = line.given ? given : neutral;
    out += format("{}{} {}", out.empty() ? "" : "; ", line.name, line.value);
  }
  return neutral.empty() ? given : given + ". Not given, so without effect: " + neutral;
}

}  // namespace

Result<System> parse_system(std::string_view text) {
  System out;
  bool first = true;
  for (const std::string_view part : split(text, ',')) {
    if (first) {
      out.folder = trim(part);
      first = false;
      continue;
    }
    const std::size_t sign = part.find('=');
    if (sign == std::string_view::npos) return bad_part(part);
    const std::string_view key = trim(part.substr(0, sign));
    const std::string_view value = trim(part.substr(sign + 1));
    if (key == "name" && !value.empty()) {
      out.name = value;
    } else if (key == "accelerator" && !value.empty()) {
      out.accelerator = value;
    } else if (key == "simulated" && (value == "yes" || value == "no")) {
      out.simulated = value == "yes";
    } else {
      std::optional<double>* const number = key == "accelerators" ? &out.accelerators
                                            : key == "kw"         ? &out.kw
                                            : key == "price"      ? &out.price_per_hour
                                            : key == "capex"      ? &out.capex
                                                                  : nullptr;
      const auto read = parse_double(value);
      if (number == nullptr || !read) return bad_part(part);
      if (*read <= 0) {
        return invalid(format("'{}': must be above 0", part));
      }
      *number = *read;
    }
  }
  if (out.folder.empty()) return bad_part(text);
  if (out.name.empty()) {
    std::string_view rest = out.folder;
    while (rest.ends_with('/')) rest.remove_suffix(1);
    out.name = rest.substr(rest.rfind('/') + 1);
  }
  return out;
}

Result<SystemAnswer> answer(const System& system, const metrics::Curve& curve,
                            const Question& question) {
  SystemAnswer out{
      .system = system, .unit = curve.unit(), .simulated = curve.simulated || system.simulated};
  out.served = served(levels_of(curve, question.limits), question.limits);
  out.accuracy = "not scored";
  Capacity capacity{.users_per_system = out.served.users, .unit = out.unit};
  if (out.served.level) {
    capacity.system_tps = out.served.level->tps;
    capacity.units_per_s = out.served.level->units_per_s;
    const auto point =
        std::ranges::find(curve.points, out.served.level->name, &metrics::CurvePoint::name);
    out.accuracy = accuracy_words(curve, *point);
  }
  CostInputs inputs = question.inputs;
  for (const Limit& limit : question.limits) {
    if (limit.at_least) inputs.promised_tps = limit.value;
  }
  inputs.rent = rent_of(system, question.prices);
  inputs.capex = system.capex;
  inputs.power_kw = system.kw;
  auto found = cost(capacity, inputs);
  if (!found) return found.error().within(system.name);
  out.cost = *std::move(found);
  out.sentence = served_text(out.served, question.limits);
  if (out.served.level) out.sentence += "; accuracy " + out.accuracy;
  if (out.simulated) out.sentence += "; simulated, not measured";
  return out;
}

Answers rank_all(std::vector<SystemAnswer> systems) {
  Answers out{.systems = std::move(systems)};
  if (out.systems.size() < 2) return out;
  for (const Measure& measure : measures(common_unit(out.systems))) {
    std::vector<Contender> contenders;
    for (const SystemAnswer& one : out.systems) contenders.push_back(contender_of(one, measure));
    // A system that serves none leads in nothing.
    const auto counts = [](const Contender& c) { return c.value.value_or(0) > 0; };
    if (std::ranges::none_of(contenders, counts)) continue;
    out.rankings.emplace_back(rank(contenders, measure.better), measure.words);
  }
  return out;
}

std::string answers_text(const Answers& answers, std::size_t columns) {
  std::string out;
  const auto line = [&](std::string_view text) {
    out += wrap(printable(text), columns, "  ") + "\n";
  };
  for (const auto& [ranking, words] : answers.rankings) line(rank_text(ranking, words) + ".");
  if (!answers.rankings.empty()) out += "\n";
  for (const SystemAnswer& one : answers.systems) {
    out += printable(one.system.name) + "\n";
    line(one.sentence + ".");
    if (const std::string cost = cost_text(one); !cost.empty()) line("cost: " + cost + ".");
    for (const std::string& why : one.cost.missing) line("note: " + why + ".");
    if (one.cost.usd_per_hour || one.cost.systems) line("inputs: " + inputs_text(one.cost) + ".");
  }
  return out;
}

Json answers_json(const Answers& answers, const Question& question) {
  Json systems = Json::array();
  for (const SystemAnswer& one : answers.systems) {
    const auto number = [](const std::optional<double>& value) {
      return value ? Json(*value) : Json();
    };
    Json row;
    row.set("name", one.system.name)
        .set("folder", one.system.folder)
        .set("simulated", one.simulated)
        .set("accelerator", one.system.accelerator)
        .set("accelerators", number(one.system.accelerators))
        .set("power_kw", number(one.system.kw))
        .set("accuracy", one.accuracy)
        .set("served", served_json(one.served, question.limits))
        .set("cost", cost_json(one.cost));
    systems.push_back(std::move(row));
  }
  Json rankings = Json::array();
  for (const auto& [ranking, words] : answers.rankings) {
    Json row;
    row.set("by", words.most);
    const Json found = rank_json(ranking, words);
    for (const auto& [key, value] : found.members()) row.set(key, value);
    rankings.push_back(std::move(row));
  }
  Json out;
  out.set("limits", limits_text(question.limits))
      .set("systems", std::move(systems))
      .set("rankings", std::move(rankings));
  return out;
}

}  // namespace assay::decide
