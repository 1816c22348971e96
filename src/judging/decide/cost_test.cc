// Cost against published arithmetic, and its properties.
#include "decide/cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/format.h"
#include "base/rng.h"

namespace assay::decide {
namespace {

using testing::HasSubstr;

// Published buying advice: 100 users at 30 tok/s of a 70B model on H100, 750 tok/s each, at $4.76.
CostInputs published() {
  CostInputs out{.users = 100, .promised_tps = 30};
  out.rent = Price{.usd_per_hour = 4.76};
  return out;
}
const Capacity kH100{.users_per_system = 25, .system_tps = 750};

TEST(Cost, has_the_figures_of_the_published_example) {
  const Cost found = *cost(kH100, published());
  EXPECT_EQ(found.systems, 4) << "3000 / 750 is 4 systems, however the division rounds";
  EXPECT_NEAR(*found.usd_per_hour, 19.04, 1e-9);
  EXPECT_NEAR(*found.usd_per_user_hour, 0.1904, 1e-9);
  EXPECT_NEAR(*found.usd_per_mtok, 1.763, 5e-4);
  // Production that reaches 60 to 80 % of the measured takes 5 to 7.
  CostInputs derated = published();
  for (const auto& [derate, systems, user_hour] :
       {std::tuple{0.8, 5, 0.238}, {0.7, 6, 0.2856}, {0.6, 7, 0.3332}}) {
    derated.derate = derate;
    const Cost real = *cost(kH100, derated);
    EXPECT_EQ(real.systems, systems);
    EXPECT_NEAR(*real.usd_per_user_hour, user_hour, 1e-9);
  }
}

TEST(Cost, without_a_price_there_is_none) {
  CostInputs in = published();
  in.rent.reset();
  const Cost found = *cost(kH100, in);
  EXPECT_EQ(found.systems, 4);
  EXPECT_FALSE(found.usd_per_hour || found.usd_per_mtok || found.usd_total);
  EXPECT_THAT(found.missing.front(), HasSubstr("no price was given"));
  in = {.rent = Price{.usd_per_hour = 3.6}};
  const Cost one = *cost(kH100, in);
  EXPECT_FALSE(one.systems || one.usd_per_user_hour);
  EXPECT_NEAR(*one.usd_per_mtok, 3.6 / 3600 / 750 * 1e6, 1e-12) << "one system, all sold";
  EXPECT_THAT(one.missing.front(), HasSubstr("one system is priced"));
}

TEST(Cost, a_purchase_is_paid_over_its_years_with_power_space_staff_and_software) {
  EXPECT_DOUBLE_EQ(capital_recovery(0, 4), 0.25);
  EXPECT_NEAR(capital_recovery(0.1, 10), 0.162745, 1e-6);
  CostInputs in{.years = 4};
  in.capex = 8760 * 4;
  EXPECT_NEAR(*cost(kH100, in)->usd_per_hour, 1, 1e-12);
  in.power_kw = 10;
  in.usd_per_kwh = 1;
  in.usd_per_kwh.reset();
  EXPECT_NEAR(*cost(kH100, in)->usd_per_hour, 1, 1e-12) << "power without its price is not a cost";
  in.usd_per_kwh = 1;
  in.power_kw.reset();
  EXPECT_NEAR(*cost(kH100, in)->usd_per_hour, 1, 1e-12) << "nor is a price without power";
  in.power_kw = 10;
  in.usd_per_kwh = 0.1;
  in.pue = 1.5;
  EXPECT_NEAR(*cost(kH100, in)->usd_per_hour, 2.5, 1e-12);
  in.space_per_month = 730;
  in.software_per_year = 8760;
  in.staff_per_year = 8760;
  EXPECT_NEAR(*cost(kH100, in)->usd_per_hour, 5.5, 1e-12);
  in.utilisation = 0.5;
  const double full = 1e6 * 5.5 / 3600 / 750;
  EXPECT_NEAR(*cost(kH100, in)->usd_per_mtok, full * 2, 1e-9) << "half of the hours sell nothing";
}

TEST(Cost, users_grow_and_the_years_add_up) {
  CostInputs in{.users = 25, .spare = 1, .growth = 1, .years = 2.5};
  in.rent = Price{.usd_per_hour = 1};
  // 1, 2 and 4 systems and one to spare; half of the third year.
  EXPECT_NEAR(*cost(kH100, in)->usd_total, 8760 * (2 + 3 + 5 * 0.5), 1e-6);
  EXPECT_EQ(cost(kH100, in)->systems, 2);
  // Too many systems in the second year: the first one has its cost, and all years have none.
  in.users = 1e9;
  in.spare.reset();
  const Cost grown = *cost({.users_per_system = 1, .system_tps = 1}, in);
  EXPECT_EQ(grown.systems, 1'000'000'000);
  EXPECT_EQ(grown.usd_per_hour, 1e9);
  EXPECT_FALSE(grown.usd_total);
}

TEST(Cost, every_input_is_listed_and_what_was_not_given_says_so) {
  CostInputs in = published();
  in.rent = Price{.usd_per_hour = 4.76, .as_of = "2026-11-01", .source = "quote 7"};
  const Cost found = *cost(kH100, in);
  const auto line = [&](std::string_view name) {
    const auto at = std::ranges::find(found.inputs, name, &CostLine::name);
    return at == found.inputs.end() ? CostLine{} : *at;
  };
  EXPECT_EQ(line("rent of a system").value, "$4.76/h, 2026-11-01, quote 7");
  EXPECT_TRUE(line("users at the peak").given);
  EXPECT_FALSE(line("derate").given);
  EXPECT_EQ(line("derate").value, "1.00");
  EXPECT_EQ(line("growth a year").name, "") << "what plays no part is not listed";
}

TEST(Cost, an_input_outside_its_range_is_refused_by_name) {
  const auto why = [](const CostInputs& in) {
    const auto found = cost(kH100, in);
    return found ? std::string("accepted") : found.error().message;
  };
  EXPECT_THAT(why({.users = 0}), HasSubstr("--users"));
  EXPECT_THAT(why({.derate = 0}), HasSubstr("--derate"));
  EXPECT_THAT(why({.headroom = 1}), HasSubstr("--headroom"));
  EXPECT_THAT(why({.spare = -1}), HasSubstr("--spare"));
  EXPECT_THAT(why({.years = 0}), HasSubstr("--years"));
  EXPECT_THAT(why({.capex = 5}), HasSubstr("needs --years"));
  EXPECT_THAT(why({.users = std::numeric_limits<double>::quiet_NaN()}), HasSubstr("--users"));
  CostInputs both = published();
  both.capex = 1;
  EXPECT_THAT(why(both), HasSubstr("not both"));
  both = published();
  both.rent->usd_per_hour = 0;
  EXPECT_THAT(why(both), HasSubstr("price"));
  EXPECT_EQ(why(published()), "accepted");
  // A system that serves no user has no fleet.
  const Cost none = *cost({}, published());
  EXPECT_FALSE(none.systems || none.usd_per_hour);
  EXPECT_THAT(none.missing.front(), HasSubstr("no measured level"));
}

TEST(Cost, more_money_reserve_or_users_never_cost_less) {
  Rng chance(7);
  for (int round = 0; round < 2000; ++round) {
    CostInputs in{.users = 1 + static_cast<double>(chance.below(5000))};
    in.promised_tps = 30;
    in.derate = 0.1 + 0.9 * chance.uniform();
    in.headroom = 0.9 * chance.uniform();
    in.rent = Price{.usd_per_hour = 0.1 + 10 * chance.uniform()};
    const Capacity capacity{.users_per_system = 1 + static_cast<std::int64_t>(chance.below(99)),
                            .system_tps = 1000};
    const Cost before = *cost(capacity, in);
    // A brute-force fleet: the fewest systems whose real capacity is enough.
    std::int64_t fewest = 1;
    while (static_cast<double>(fewest * capacity.users_per_system) * *in.derate *
               (1 - *in.headroom) * (1 + 1e-9) <
           *in.users) {
      ++fewest;
    }
    ASSERT_EQ(before.systems, fewest) << round;
    CostInputs more = in;
    more.rent->usd_per_hour *= 1.5;
    ASSERT_GT(*cost(capacity, more)->usd_per_mtok, *before.usd_per_mtok);
    more = in;
    *more.headroom += 0.05;
    ASSERT_GE(*cost(capacity, more)->systems, *before.systems);
    more = in;
    *more.users += 100;
    ASSERT_GE(*cost(capacity, more)->usd_per_hour, *before.usd_per_hour);
  }
}

TEST(Prices, a_row_needs_its_date_and_its_source) {
  const auto rows = parse_prices(
      "- {accelerator: h100-sxm, usd_per_hour: 4.76, as_of: 2026-11-01, source: quote 7}\n");
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(rows->front().accelerator, "h100-sxm");
  EXPECT_EQ(rows->front().price.usd_per_hour, 4.76);
  EXPECT_EQ(rows->front().price.as_of, "2026-11-01");
  for (const char* const bad :
       {"a: 1", "- {accelerator: x, usd_per_hour: 1, source: s}",
        "- {accelerator: x, usd_per_hour: 1, as_of: d}", "- {usd_per_hour: 1, as_of: d, source: s}",
        "- {accelerator: x, usd_per_hour: 0, as_of: d, source: s}",
        "- {accelerator: x, usd_per_hour: nan, as_of: d, source: s}", "- x",
        "- {accelerator: [x], usd_per_hour: 1, as_of: d, source: s}",
        "- {accelerator: x, usd_per_hour: 1, as_of: d, source: ~}",
        "- {accelerator: x, usd_per_hour: 1, as_of: d, source: s}\n"
        "- {accelerator: x, usd_per_hour: 2, as_of: d, source: s}"}) {
    EXPECT_FALSE(parse_prices(bad)) << bad;
  }
}

TEST(Cost, of_units_is_for_a_thousand_of_them) {
  CostInputs in;
  in.rent = Price{.usd_per_hour = 36};
  in.utilisation = 0.5;
  const Cost found = cost({.users_per_system = 4, .unit = "image", .units_per_s = 20}, in).value();
  // 72,000 images an hour, of which half are sold.
  EXPECT_NEAR(*found.usd_per_thousand_units, 1.0, 1e-12);
  EXPECT_FALSE(found.usd_per_mtok);
  EXPECT_EQ(cost_json(found)["usd_per_thousand_units"].as_double(), *found.usd_per_thousand_units);
  in.derate = 0.25;
  EXPECT_NEAR(*cost({.users_per_system = 4, .unit = "image", .units_per_s = 20}, in)
                   ->usd_per_thousand_units,
              4.0, 1e-12);
}

// Each is taken at both ends of its range, and a little beyond neither.
TEST(Cost, a_range_holds_its_ends) {
  struct Range {
    std::optional<double> CostInputs::*field;
    const char* name;
    double least;
    double most;
  };
  for (const Range& range :
       {Range{&CostInputs::users, "--users", 1, 1e12},
        Range{&CostInputs::derate, "--derate", 0.01, 1},
        Range{&CostInputs::headroom, "--headroom", 0, 0.95},
        Range{&CostInputs::utilisation, "--utilisation", 0.0001, 1},
        Range{&CostInputs::growth, "--growth", -0.99, 100},
        Range{&CostInputs::years, "--years", 1, 50},
        Range{&CostInputs::interest, "--interest", 0, 1},
        Range{&CostInputs::capex, "capex", 1e-9, 1e15},
        Range{&CostInputs::power_kw, "kw", 1e-9, 1e15}, Range{&CostInputs::pue, "--pue", 1, 10},
        Range{&CostInputs::usd_per_kwh, "--usd-per-kwh", 0, 1000},
        Range{&CostInputs::space_per_month, "--space-per-month", 0, 1e15},
        Range{&CostInputs::staff_per_year, "--staff-per-year", 0, 1e15},
        Range{&CostInputs::software_per_year, "--software-per-year", 0, 1e15}}) {
    const auto taken = [&](double value) {
      CostInputs in{.years = 4};
      in.*range.field = value;
      const auto found = cost(kH100, in);
      EXPECT_TRUE(found || found.error().message.starts_with(range.name)) << range.name;
      return found.has_value();
    };
    EXPECT_TRUE(taken(range.least)) << range.name;
    EXPECT_TRUE(taken(range.most)) << range.name;
    EXPECT_FALSE(taken(range.least - 1e-3)) << range.name;
    EXPECT_FALSE(taken(range.most * 1.001)) << range.name;
  }
  CostInputs spare = published();
  for (const auto& [systems, fine] :
       {std::pair{0, true}, {1'000'000, true}, {1'000'001, false}, {-1, false}}) {
    spare.spare = systems;
    EXPECT_EQ(cost(kH100, spare).has_value(), fine) << systems;
  }
}

TEST(Cost, power_without_its_pue_is_that_of_the_machine_alone) {
  CostInputs in{.years = 4, .capex = 8760 * 4, .power_kw = 10, .usd_per_kwh = 0.1};
  const Cost found = *cost(kH100, in);
  EXPECT_NEAR(*found.usd_per_hour, 2, 1e-12);
  const auto pue = std::ranges::find(found.inputs, "PUE", &CostLine::name);
  ASSERT_NE(pue, found.inputs.end());
  EXPECT_EQ(pue->value, "1.00");
  EXPECT_FALSE(pue->given);
  const auto interest = std::ranges::find(found.inputs, "interest a year", &CostLine::name);
  ASSERT_NE(interest, found.inputs.end());
  EXPECT_EQ(interest->value, "0.00");
  EXPECT_FALSE(interest->given);
}

TEST(Cost, what_was_not_made_has_no_price) {
  CostInputs in;
  in.rent = Price{.usd_per_hour = 36};
  const Cost none = *cost({.users_per_system = 4, .unit = "image", .units_per_s = 0}, in);
  EXPECT_FALSE(none.usd_per_thousand_units);
  EXPECT_FALSE(cost({.users_per_system = 4, .system_tps = 0}, in)->usd_per_mtok);
  EXPECT_FALSE(none.usd_total) << "without years there is no total";
}

TEST(Cost, every_given_input_stands_in_its_line) {
  const CostInputs in{.users = 50,
                      .promised_tps = 30,
                      .derate = 0.5,
                      .headroom = 0.1,
                      .spare = 2,
                      .utilisation = 0.25,
                      .growth = 0.75,
                      .years = 3,
                      .capex = 8760,
                      .interest = 0.08,
                      .power_kw = 7,
                      .pue = 1.25,
                      .usd_per_kwh = 0.2,
                      .space_per_month = 11,
                      .staff_per_year = 12,
                      .software_per_year = 13};
  std::string lines;
  const Cost found = *cost({.users_per_system = 1000, .system_tps = 750}, in);
  for (const CostLine& one : found.inputs) {
    lines += format("{}: {}{}\n", one.name, one.value, one.given ? "" : " (not given)");
  }
  EXPECT_EQ(lines,
            "users per system: 1,000\nsystem_tps: 750\nusers at the peak: 50.0\n"
            "promised to each: 30.0 tok/s\nderate: 0.500\nheadroom: 0.100\nspare systems: 2\n"
            "utilisation: 0.250\nprice of a system: $8,760\ninterest a year: 0.0800\nyears: 3.00\n"
            "growth a year: 0.750\npower of a system: 7.00 kW\nPUE: 1.25\n$ per kWh: 0.200\n"
            "space a month, of a system, $: 11.0\nsoftware a year, of a system, $: 13.0\n"
            "staff a year, of all, $: 12.0\n");
}

TEST(Cost, a_fleet_is_not_larger_than_a_thousand_million_systems) {
  const auto systems = [](double users, std::int64_t each) {
    return cost({.users_per_system = each}, {.users = users})->systems;
  };
  EXPECT_EQ(systems(1e9, 1), 1'000'000'000);
  EXPECT_FALSE(systems(1e9 + 1, 1));
  EXPECT_EQ(systems(1e6, 10'000), 100);
  EXPECT_EQ(systems(1, 1), 1);
}

TEST(Cost, a_number_is_rounded_up_but_for_what_arithmetic_left) {
  for (const auto& [value, whole] : {std::pair{0.0, 0},
                                     {0.5, 1},
                                     {3.999'999'999'9, 4},
                                     {4 + 1e-10, 4},
                                     {4 + 1e-8, 5},
                                     {1e-12, 1},
                                     {1 - 1e-12, 1},
                                     {1e9, 1'000'000'000},
                                     {1e6 + 1e-4, 1'000'000},
                                     {1e6 + 0.01, 1'000'001}}) {
    EXPECT_EQ(whole_up(value), whole) << value;
  }
}

TEST(Cost, less_than_one_a_second_has_a_price_too) {
  const CostInputs in{.rent = Price{.usd_per_hour = 3.6}};
  EXPECT_NEAR(*cost({.users_per_system = 1, .system_tps = 0.5}, in)->usd_per_mtok, 2000, 1e-9);
  EXPECT_NEAR(*cost({.users_per_system = 1, .unit = "image", .units_per_s = 0.5}, in)
                   ->usd_per_thousand_units,
              2, 1e-12);
}

// Two systems of 25 users make 1500 tokens a second, and no speed is promised.
TEST(Cost, without_a_promised_speed_all_that_the_fleet_makes_is_sold) {
  CostInputs in{.users = 50, .rent = Price{.usd_per_hour = 5.4}};
  EXPECT_NEAR(*cost(kH100, in)->usd_per_mtok, 2, 1e-12);
  in.derate = 0.5;
  EXPECT_NEAR(*cost(kH100, in)->usd_per_mtok, 4, 1e-12) << "four systems that make as much";
}

TEST(Cost, users_that_do_not_grow_cost_the_same_each_year) {
  const CostInputs in{.users = 50, .years = 3, .rent = Price{.usd_per_hour = 1}};
  EXPECT_NEAR(*cost(kH100, in)->usd_total, 8760 * 2 * 3, 1e-6);
}

TEST(Prices, each_accelerator_has_its_own_and_a_second_price_is_refused) {
  const std::string rows =
      "- {accelerator: x, usd_per_hour: 0.5, as_of: d, source: s}\n"
      "- {accelerator: y, usd_per_hour: 1, as_of: d, source: s}\n";
  const auto found = parse_prices(rows);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 2U);
  EXPECT_EQ((*found)[0].price.usd_per_hour, 0.5);
  EXPECT_EQ((*found)[1].accelerator, "y");
  EXPECT_EQ(parse_prices(rows + "- {accelerator: y, usd_per_hour: 1, as_of: d, source: s}\n")
                .error()
                .message,
            "line 3: y has two prices");
  EXPECT_THAT(parse_prices("- {accelerator: x, as_of: d, source: s}").error().message,
              HasSubstr("line 1: a row has accelerator, usd_per_hour (above 0)"));
}

}  // namespace
}  // namespace assay::decide
