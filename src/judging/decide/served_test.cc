// Users served within limits: a few sweeps by hand, then thousands against a slow twin.
#include "decide/served.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/format.h"
#include "base/rng.h"
#include "decide/terms.h"

namespace assay::decide {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::vector<Limit> promised(std::string_view text) { return *parse_limits(text); }

Level level_at(std::int64_t concurrency, std::vector<std::optional<double>> figures) {
  return {.name = format("r{}", concurrency),
          .concurrency = concurrency,
          .tps = 1e6,
          .figures = std::move(figures)};
}

TEST(Served, the_limit_that_binds_is_said_with_its_value_and_the_next_one) {
  const auto limits = promised("ttft_p90<=2s,tpot_p90<=50ms");
  const Served found = served({level_at(128, {{2310}, {41}}), level_at(64, {{1500}, {20}}),
                               level_at(256, {{9000}, {90}}), level_at(1, {{100}, {9}})},
                              limits);
  EXPECT_EQ(found.users, 64);
  EXPECT_FALSE(found.open());
  EXPECT_EQ(found.broken->concurrency, 128) << "the lowest above, in whatever order they come";
  EXPECT_EQ(served_text(found, limits),
            "64 users at once are served within ttft_p90<=2s,tpot_p90<=50ms (r64); at 128 users, "
            "TTFT P90 is 2.31 s, limit 2.00 s; the next limit is TPOT P90, 41.0 ms of 50.0 ms");
}

TEST(Served, where_the_sweep_ends_it_is_at_least) {
  const auto limits = promised("ttft_p90<=2s,tpot_p90<=50ms");
  const Served found = served({level_at(512, {{300}, {40}}), level_at(64, {{100}, {20}})}, limits);
  EXPECT_TRUE(found.open());
  EXPECT_EQ(served_text(found, limits),
            "at least 512 users at once are served within ttft_p90<=2s,tpot_p90<=50ms (r512); the "
            "sweep ended there, with TPOT P90 at 40.0 ms of 50.0 ms; the next limit is TTFT P90, "
            "300 ms of 2.00 s");
  EXPECT_TRUE(served_json(found, limits)["at_least"].as_bool());
}

TEST(Served, where_none_keeps_the_limits_the_first_cause_is_said) {
  const auto limits = promised("tpot_p99<=4ms");
  const Served found = served({level_at(8, {{9}}), level_at(1, {{4.9}})}, limits);
  EXPECT_EQ(served_text(found, limits),
            "no measured point keeps tpot_p99<=4ms: at concurrency 1, TPOT P99 is 4.90 ms, limit "
            "4.00 ms");
  EXPECT_EQ(served_text(served({}, limits), limits),
            "no level was measured, so nothing is known of tpot_p99<=4ms");
  Level failed = level_at(1, {{1}});
  failed.failed = 2;
  EXPECT_THAT(served_text(served({failed}, limits), limits), HasSubstr("at concurrency 1, 2 quer"));
  failed.failed = 1;
  EXPECT_EQ(broken_text(limits, failed), "1 query failed");
  failed.failed = 0;
  failed.answered = false;
  EXPECT_EQ(broken_text(limits, failed), "no query succeeded");
  EXPECT_EQ(broken_text(limits, level_at(1, {std::nullopt})), "TPOT P99 is unknown, limit 4.00 ms");
}

TEST(Served, the_document_names_the_limits_that_the_sentence_names) {
  const auto limits = promised("ttft_p90<=2s,tpot_p90<=50ms,latency_p90<=9s");
  const Json two_broken = served_json(
      served({level_at(1, {{100}, {9}, {500}}), level_at(8, {{2500}, {40}, {90'000}})}, limits),
      limits);
  EXPECT_EQ(two_broken["binds"]["figure"].as_string(), "latency_p90");
  EXPECT_EQ(two_broken["next"]["figure"].as_string(), "tpot_p90");
  EXPECT_THAT(two_broken["answer"].as_string(), AllOf(HasSubstr("1 user at once is served"),
                                                      HasSubstr("the next limit is TPOT P90")));
  Level failed = level_at(8, {{100}, {40}, {500}});
  failed.failed = 2;
  const Served found = served({level_at(1, {{100}, {9}, {500}}), failed}, limits);
  const Json json = served_json(found, limits);
  EXPECT_TRUE(json["binds"].is_null()) << "no limit is broken there";
  EXPECT_EQ(json["next"]["figure"].as_string(), "tpot_p90");
  EXPECT_THAT(json["answer"].as_string(),
              HasSubstr("; at 8 users, 2 queries failed; the next limit is TPOT P90"));
}

TEST(Served, a_lower_level_that_breaks_a_limit_is_named) {
  const auto limits = promised("ttft_p90<=2s");
  const Served found = served({level_at(1, {{2500}}), level_at(16, {{100}})}, limits);
  EXPECT_EQ(found.users, 16);
  EXPECT_THAT(served_text(found, limits), HasSubstr("; but not at 1 (TTFT P90 is 2.50 s"));
  EXPECT_EQ(served_json(found, limits)["broken_below"].dump(), "[1]");
  // A level that was measured twice serves its users only where both keep the limits.
  EXPECT_EQ(served({level_at(16, {{2500}}), level_at(16, {{100}})}, limits).users, 0);
}

TEST(Served, a_speed_for_each_user_divides_the_throughput) {
  const auto limits = promised("tps_per_user>=30");
  Level slow = level_at(16, {{40}});
  slow.tps = 240;
  EXPECT_EQ(users_at(limits, slow), 8) << "however the division rounds";
  slow.tps = 20;
  EXPECT_EQ(users_at(limits, slow), 1);
  slow.tps.reset();
  EXPECT_EQ(users_at(limits, slow), 16) << "of an unknown throughput";
  // More load that keeps the limit and gives no more tokens ends the sweep.
  Level more = level_at(32, {{31}});
  slow.tps = more.tps = 300;
  const Served found = served({slow, more}, limits);
  EXPECT_EQ(found.users, 10);
  EXPECT_EQ(found.level->concurrency, 16);
  EXPECT_FALSE(found.open());
  EXPECT_THAT(served_text(found, limits), HasSubstr("; 32 at once get no more tokens"));
}

metrics::CurvePoint curve_point(std::int64_t concurrency, double ttft_ms) {
  metrics::CurvePoint out{.name = format("r{}", concurrency), .concurrency = concurrency};
  out.measured = true;
  out.run.system_tps = 100;
  out.run.ttft_p90_ms = ttft_ms;
  return out;
}

TEST(Served, a_curves_offline_and_unmeasured_points_are_no_levels) {
  metrics::Curve curve;
  curve.points = {curve_point(8, 10), curve_point(512, 10), curve_point(64, 10)};
  curve.points[1].offline = "dedicated";
  curve.points[2].measured = false;
  const auto limits = promised("ttft_p90<=2s");
  EXPECT_EQ(served(levels_of(curve, limits), limits).users, 8);
  EXPECT_FALSE(keeps(limits, curve.points[1]) || keeps(limits, curve.points[2]));
  curve.points[1].offline = "elected";
  EXPECT_EQ(served(levels_of(curve, limits), limits).users, 512) << "a level that is Offline too";
  curve.points[1].run.failed = 1;
  EXPECT_FALSE(keeps(limits, curve.points[1]));
}

TEST(Terms, cost_needs_a_price_that_was_given) {
  metrics::Curve curve{.simulated = true};
  curve.points = {curve_point(8, 10)};
  Terms terms{.limits = promised("ttft_p90<=2s")};
  EXPECT_THAT(users_sentence(curve, terms),
              AllOf(Not(HasSubstr("$")), HasSubstr("accuracy not scored"),
                    HasSubstr("simulated, not measured")));
  EXPECT_EQ(curve_json(curve, terms)["points"][0].find("dollars_per_million_tokens"), nullptr);
  terms.price_per_hour = 36;
  EXPECT_THAT(users_sentence(curve, terms),
              HasSubstr("$100 a million tokens with all of them sold"));
  EXPECT_EQ(curve_json(curve, terms)["points"][0]["dollars_per_million_tokens"].as_double(), 100);
  EXPECT_TRUE(curve_json(curve, terms)["points"][0]["slo_kept"].as_bool());
  EXPECT_EQ(curve_json(curve, {}).find("slo"), nullptr);
  for (const double price : {0.0, -1.0}) EXPECT_FALSE(per_lot(curve.points[0], price));
  curve.points[0].run.system_tps.reset();
  EXPECT_FALSE(per_lot(curve.points[0], 36));
}

TEST(Terms, the_accuracy_beside_an_answer_is_that_of_the_nearest_level) {
  metrics::Curve curve;
  curve.points = {curve_point(1, 10), curve_point(16, 10), curve_point(64, 10)};
  curve.points[0].accuracy = {{.dataset = "a", .score = 0.25}};
  curve.points[2].accuracy = {{.dataset = "a", .score = 0.5},
                              {.dataset = "b", .metric = "m", .score = 7}};
  EXPECT_EQ(accuracy_words(curve, curve.points[1]), "scored at r64: a 0.500, m 7.00");
  EXPECT_EQ(accuracy_words(curve, curve.points[0]), "scored at r1: a 0.250");
}

// The slow twin: tries every number of users, by the words of the header.
struct Twin {
  std::int64_t users = 0;
  std::optional<std::int64_t> broken{};
  std::vector<std::int64_t> below{};
};

Twin slow_served(const std::vector<Level>& levels, double most_ms) {
  const auto kept = [&](const Level& level) {
    return level.failed == 0 && level.figures[0] && *level.figures[0] <= most_ms;
  };
  Twin out;
  for (std::int64_t users = 1; users <= 40; ++users) {
    bool any = false;
    bool all = true;
    for (const Level& level : levels) {
      if (level.concurrency != users) continue;
      any = true;
      all = all && kept(level);
    }
    if (any && all) out.users = users;
  }
  for (std::int64_t users = 1; users <= 40; ++users) {
    for (const Level& level : levels) {
      if (level.concurrency != users || kept(level)) continue;
      if (users < out.users) out.below.push_back(users);
      if (users > out.users && !out.broken) out.broken = users;
    }
  }
  return out;
}

TEST(Served, agrees_with_the_slow_twin_and_a_looser_promise_serves_no_fewer) {
  const std::uint64_t seed = 20261123;
  SCOPED_TRACE(format("seed {}", seed));
  Rng chance(seed);
  const auto below = [&chance](std::uint64_t n) {
    return static_cast<std::int64_t>(chance.below(n));
  };
  for (int round = 0; round < 4000; ++round) {
    std::vector<Level> levels;
    const std::int64_t count = below(7);
    for (std::int64_t i = 0; i < count; ++i) {
      // Few values, so that levels repeat, tie, and meet a limit exactly.
      Level one = level_at(1 + below(40), {static_cast<double>(below(5))});
      if (below(8) == 0) one.figures[0].reset();
      if (below(8) == 0) one.failed = 1;
      levels.push_back(std::move(one));
    }
    std::int64_t last = 0;
    for (std::int64_t most = 0; most <= 5; ++most) {
      auto limits = promised("ttft_p90<=1s");
      limits[0].value = static_cast<double>(most);
      const Twin twin = slow_served(levels, limits[0].value);
      const Served found = served(levels, limits);
      ASSERT_EQ(found.users, twin.users) << round;
      ASSERT_EQ(found.broken ? std::optional(found.broken->concurrency) : std::nullopt, twin.broken)
          << round;
      ASSERT_EQ(found.below.size(), twin.below.size()) << round;
      ASSERT_EQ(found.open(), found.users > 0 && !twin.broken) << round;
      ASSERT_GE(found.users, last) << "monotone in the promise";
      last = found.users;
      std::vector<Level> turned = levels;
      std::ranges::reverse(turned);
      ASSERT_EQ(served(turned, limits).users, found.users) << "whatever the order";
      ASSERT_FALSE(served_text(found, limits).empty());
    }
  }
}

}  // namespace
}  // namespace assay::decide
