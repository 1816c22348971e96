#include "plan/forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <queue>

#include "base/rng.h"

namespace assay::plan {
namespace {

using testing::HasSubstr;

KnownLevel level(double in_flight, double qps, double doubt = 0) {
  return {.in_flight = in_flight,
          .qps = {qps * (1 - doubt), qps, qps * (1 + doubt)},
          .prompt_tokens = 100,
          .output_tokens = 10};
}

PhasePlan closed(std::uint32_t in_flight, StopRule stop) {
  PhasePlan phase{.name = "performance"};
  phase.limits = {{{}, in_flight}};
  phase.stop = stop;
  return phase;
}

Plan of(PhasePlan phase) {
  Plan plan;
  plan.phases = {std::move(phase)};
  return plan;
}

Forecast made(const Plan& plan, const std::vector<KnownLevel>& levels,
              Duration run_max = Duration::max()) {
  const auto out = forecast(plan, run_max, levels);
  EXPECT_TRUE(out) << out.error().message;
  return out ? *out : Forecast{};
}

void expect_range(const Range& range, double low, double likely, double high) {
  EXPECT_NEAR(range.low, low, 1e-9 * low);
  EXPECT_NEAR(range.likely, likely, 1e-9 * likely);
  EXPECT_NEAR(range.high, high, 1e-9 * high);
}

TEST(Forecast, a_rate_lies_between_what_the_known_levels_allow) {
  // Each system answers a query after a + b × c: it keeps both assumptions.
  Rng random(11);
  const auto drawn = [&](double low, double high) {
    return low * std::pow(high / low, random.uniform());
  };
  for (int round = 0; round < 500; ++round) {
    const double a = drawn(0.01, 10);
    const double b = drawn(1e-5, 1);
    const auto truth = [&](double c) { return c / (a + b * c); };
    std::vector<KnownLevel> levels;
    const auto count = 1 + round % 4;
    for (int i = 0; i < count; ++i) {
      const double c = drawn(1, 1000);
      levels.push_back(level(c, truth(c)));
    }
    double before = 0;
    for (double c = 0.5; c < 5000; c *= 1.7) {
      const Range rate = rate_at(levels, c);
      ASSERT_LE(rate.low, truth(c) * (1 + 1e-9));
      ASSERT_GE(rate.high, truth(c) * (1 - 1e-9));
      ASSERT_LE(rate.low, rate.likely);
      ASSERT_LE(rate.likely, rate.high);
      ASSERT_GE(rate.likely, before * (1 - 1e-9)) << "more in flight, no fewer a second";
      before = rate.likely;
    }
    expect_range(rate_at(levels, levels[0].in_flight), levels[0].qps.likely, levels[0].qps.likely,
                 levels[0].qps.likely);
  }
}

TEST(Forecast, one_level_bounds_all_others) {
  const std::vector<KnownLevel> one{level(4, 10)};
  expect_range(rate_at(one, 4), 10, 10, 10);
  expect_range(rate_at(one, 16), 10, 20, 40);
  expect_range(rate_at(one, 1), 2.5, 5, 10);
}

TEST(Forecast, two_levels_make_a_line_and_their_doubt_is_kept) {
  const std::vector<KnownLevel> two{level(4, 10, 0.1), level(16, 20, 0.1)};
  expect_range(rate_at(two, 8), 9, std::sqrt(200.0), 22);
  // Beyond them the line goes on: half the logarithm's slope.
  expect_range(rate_at(two, 64), 18, 40, 88);
  expect_range(rate_at(two, 4), 9, 10, 11);
}

TEST(Forecast, a_system_that_is_slower_under_load_widens_the_range) {
  const std::vector<KnownLevel> falling{level(8, 30), level(16, 20)};
  const Range rate = rate_at(falling, 12);
  expect_range({rate.low, rate.high, rate.high}, 20, 30, 30);
  EXPECT_GT(rate.likely, 20);
  EXPECT_LT(rate.likely, 30);
}

// A closed loop query by query: each of c slots answers after c / q.
struct Lived {
  double queries = 0;
  double seconds = 0;
};
Lived lived(std::uint32_t c, double q, const StopRule& stop) {
  const double each = c / q;
  std::priority_queue<double, std::vector<double>, std::greater<>> busy;
  Lived out;
  double now = 0;
  const auto enough = [&] {
    if (out.queries >= static_cast<double>(stop.queries_max)) return true;
    if (now >= stop.duration_max.seconds()) return true;
    if (stop.queries_min == 0 && stop.duration_min == Duration{}) return false;
    return out.queries >= static_cast<double>(stop.queries_min) &&
           now >= stop.duration_min.seconds() &&
           (stop.pass == 0 || std::fmod(out.queries, static_cast<double>(stop.pass)) == 0);
  };
  while (!enough()) {
    if (busy.size() == c) {
      now = busy.top();
      busy.pop();
    }
    if (enough()) break;
    // The slots start one after another, so that their replies are spread.
    const double start = out.queries < c ? each * out.queries / c : now;
    busy.push(start + each);
    ++out.queries;
    out.seconds = std::max(out.seconds, start + each);
  }
  return out;
}

TEST(Forecast, a_closed_loop_takes_what_its_queries_one_by_one_take) {
  Rng random(5);
  const auto below = [&](std::uint64_t n) { return random.below(n); };
  for (int round = 0; round < 400; ++round) {
    const auto c = static_cast<std::uint32_t>(1 + below(40));
    const double q = 0.5 + static_cast<double>(below(100));
    StopRule stop;
    stop.queries_min = below(2) * below(2000);
    if (below(2) == 0)
      stop.duration_min = Duration::from_seconds(1.0 + static_cast<double>(below(60)));
    if (stop.queries_min == 0 && stop.duration_min == Duration{}) stop.queries_min = c;
    if (below(2) == 0) stop.pass = 1 + below(300);
    if (below(3) == 0) stop.queries_max = 1 + below(3000);
    if (below(3) == 0)
      stop.duration_max = Duration::from_seconds(1.0 + static_cast<double>(below(90)));
    const Lived truth = lived(c, q, stop);
    const Forecast said = made(of(closed(c, stop)), {level(c, q), level(1, q / c)});
    double slack = 2.0 * c + 1;
    if (stop.pass > 0) {
      // At the very end of a pass, one query decides whether another begins.
      StopRule plain = stop;
      plain.pass = 0;
      const double off = std::remainder(lived(c, q, plain).queries, static_cast<double>(stop.pass));
      if (std::abs(off) <= slack) slack += static_cast<double>(stop.pass);
    }
    EXPECT_NEAR(said.queries.likely, truth.queries, slack) << round;
    EXPECT_NEAR(said.seconds.likely, truth.seconds, slack / q + 1e-6) << round;
  }
}

TEST(Forecast, a_range_of_rates_is_a_range_of_times_or_of_queries) {
  // 1,000 queries at 16 in flight, known only at 4: between 10 and 40 a second.
  const Forecast counted =
      made(of(closed(16, {.queries_min = 1000, .queries_max = 1000})), {level(4, 10)});
  expect_range(counted.queries, 1000, 1000, 1000);
  expect_range(counted.seconds, 25, 50, 100);
  expect_range(*counted.prompt_tokens, 1e5, 1e5, 1e5);
  expect_range(*counted.output_tokens, 1e4, 1e4, 1e4);
  const Forecast timed = made(of(closed(16, {.duration_min = 60_s})), {level(4, 10)});
  expect_range(timed.queries, 616, 1216, 2416);
  expect_range(timed.seconds, 60.4, 60.8, 61.6);
}

TEST(Forecast, an_open_loop_lasts_to_its_last_arrival_or_as_long_as_the_system_needs) {
  PhasePlan phase{.name = "performance", .open_loop = true};
  for (int i = 1; i <= 100; ++i) phase.arrivals.push_back(100_ms * static_cast<std::int64_t>(i));
  phase.stop.queries_min = phase.stop.queries_max = 100;
  const Forecast keeps_up = made(of(phase), {level(4, 20)});
  expect_range(keeps_up.seconds, 10.2, 10.2, 10.2);
  expect_range(keeps_up.queries, 100, 100, 100);
  EXPECT_EQ(keeps_up.phases[0].in_flight, 0);
  // 5 a second are known of a system that 10 a second are asked of: it may queue.
  const Forecast queues = made(of(phase), {level(4, 5)});
  expect_range(queues.seconds, 10.8, 10.8, 20);
  phase.stop.duration_max = 5_s;
  expect_range(made(of(phase), {level(4, 20)}).queries, 50, 50, 50);
  // All at once: no more can be under way than there are queries, or than the limit.
  phase.stop.duration_max = Duration::max();
  phase.arrivals.assign(100, Duration{});
  expect_range(made(of(phase), {level(4, 5), level(100, 25)}).seconds, 4, 4, 4);
  phase.limits = {{{}, 4}};
  expect_range(made(of(phase), {level(4, 5), level(100, 25)}).seconds, 20, 20, 20);
}

TEST(Forecast, a_replay_has_the_turns_of_its_conversations) {
  PhasePlan phase = closed(8, {});
  phase.replay = true;
  phase.conversations.resize(3);
  for (auto& one : phase.conversations) one.turns.resize(5);
  const Forecast said = made(of(phase), {level(3, 6)});
  expect_range(said.queries, 15, 15, 15);
  EXPECT_EQ(said.phases[0].in_flight, 3);
  EXPECT_THAT(said.notes.at(0), HasSubstr("pauses"));
}

TEST(Forecast, what_nothing_ends_is_refused_and_a_limit_of_time_is_told) {
  const std::vector<KnownLevel> one{level(4, 10)};
  const auto endless = forecast(of(closed(4, {})), Duration::max(), one);
  ASSERT_FALSE(endless);
  EXPECT_THAT(endless.error().message, HasSubstr("nothing in the plan ends it"));
  const Forecast cut = made(of(closed(4, {.queries_min = 1000})), one, 30_s);
  expect_range(cut.seconds, 30, 30, 30);
  EXPECT_THAT(cut.notes.at(0), HasSubstr("limit of 30 s"));
}

TEST(Forecast, tokens_are_those_of_the_nearest_level_between_the_least_and_the_most) {
  std::vector<KnownLevel> levels{level(4, 10), level(64, 10)};
  levels[1].output_tokens = 30;
  const Forecast said = made(of(closed(32, {.queries_min = 100})), levels);
  expect_range(*said.output_tokens, 1000, 3000, 3000);
  levels[1].output_tokens.reset();
  const Forecast unknown = made(of(closed(32, {.queries_min = 100})), levels);
  EXPECT_FALSE(unknown.output_tokens);
  EXPECT_TRUE(unknown.prompt_tokens);
}

TEST(Forecast, prices_make_a_cost_and_what_is_unknown_makes_none) {
  const Forecast said = made(of(closed(16, {.queries_min = 7200})), {level(4, 1), level(16, 2)});
  expect_range(said.seconds, 3600, 3600, 3600);
  const ForecastCost cost =
      cost_of(said, {.prompt_token = 1e-6, .output_token = 1e-5, .cards = 8, .card_hour = 2.5});
  expect_range(*cost.tokens, 1.44, 1.44, 1.44);
  expect_range(*cost.card_hours, 8, 8, 8);
  expect_range(*cost.cards, 20, 20, 20);
  const ForecastCost none = cost_of(said, {});
  EXPECT_FALSE(none.tokens || none.card_hours || none.cards);
  Forecast without = said;
  without.output_tokens.reset();
  EXPECT_FALSE(cost_of(without, {.output_token = 1e-5}).tokens);
  EXPECT_TRUE(cost_of(without, {.prompt_token = 1e-5}).tokens);
  const Json json = forecast_json(without, cost);
  EXPECT_TRUE(json["output_tokens"].is_null());
  EXPECT_EQ(json["cost"]["card_hours"]["likely"].as_double(), 8);
  EXPECT_EQ(json["phases"][0]["in_flight"].as_double(), 16);
}

TEST(Forecast, runs_add_up) {
  Forecast sum;
  sum.add(made(of(closed(4, {.queries_min = 100})), {level(4, 10)}), "r4");
  sum.add(made(of(closed(4, {.queries_min = 50})), {level(4, 10)}), "r8");
  expect_range(sum.seconds, 15, 15, 15);
  expect_range(*sum.prompt_tokens, 15000, 15000, 15000);
  EXPECT_EQ(sum.phases[1].name, "r8 performance");
  Forecast unknown = made(of(closed(4, {.queries_min = 50})), {level(4, 10)});
  unknown.prompt_tokens.reset();
  sum.add(unknown, "r16");
  EXPECT_FALSE(sum.prompt_tokens);
  EXPECT_TRUE(sum.output_tokens);
}

}  // namespace
}  // namespace assay::plan
