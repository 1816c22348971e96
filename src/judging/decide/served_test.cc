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
  const Served two =
      served({level_at(1, {{2500}}), level_at(1024, {{2200}}), level_at(2048, {{1}})}, limits);
  EXPECT_THAT(served_text(two, limits),
              testing::EndsWith("; but not at 1, 1,024 (TTFT P90 is 2.20 s, limit 2.00 s)"));
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
  EXPECT_FALSE(found.uses_unknown());
  EXPECT_THAT(served_text(found, limits), HasSubstr("; 32 at once get no more tokens"));
  // The highest of several such levels says how far the load was tried.
  Level most = level_at(64, {{30}});
  most.tps = 300;
  EXPECT_THAT(served_text(served({slow, more, most}, limits), limits),
              HasSubstr("; 64 at once get no more tokens"));
  // One that serves more is the answer, behind others that serve no more.
  most.tps = 900;
  EXPECT_EQ(served({slow, more, most}, limits).users, 30);
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

TEST(Served, a_slow_speed_divides_as_well_as_a_fast_one) {
  const auto users = [](double tps, std::string_view limit) {
    Level level = level_at(4'000'000, {{1}});
    level.tps = tps;
    return users_at(promised(limit), level);
  };
  EXPECT_EQ(users(0.3, "tps_per_user>=0.1"), 3) << "0.3 / 0.1 is 2.9999999999999996";
  EXPECT_EQ(users(3.9, "tps_per_user>=1"), 3);
  EXPECT_EQ(users(999'999.9999, "tps_per_user>=1"), 1'000'000);
  EXPECT_EQ(users(999'999.99, "tps_per_user>=1"), 999'999);
  EXPECT_EQ(users(1e9, "tps_per_user>=1,ttft_p90<=1s"), 4'000'000) << "no more than are there";
  EXPECT_EQ(users(300, "ttft_p90<=1s,tps_per_user>=30"), 10) << "wherever the limit stands";
  EXPECT_EQ(users(1e-12, "tps_per_user>=1"), 1) << "one user waits for the first token too";
}

TEST(Served, a_run_is_a_level_by_its_own_figures) {
  metrics::Point point;
  point.rates.tps = 240;
  point.units.per_second = 3;
  point.counts = {.issued = 9, .completed = 1, .failed = 2};
  point.rates.tps_per_user = 31;
  const Level level = level_of(16, point, promised("tps_per_user>=30,ttft_p90<=1s"));
  EXPECT_EQ(level.name, "r16");
  EXPECT_EQ(level.concurrency, 16);
  EXPECT_EQ(level.tps, 240);
  EXPECT_EQ(level.units_per_s, 3);
  EXPECT_EQ(level.failed, 2U);
  EXPECT_TRUE(level.answered);
  EXPECT_EQ(level.figures, (std::vector<std::optional<double>>{31, std::nullopt}));
  point.counts.completed = 0;
  EXPECT_FALSE(level_of(16, point, {}).answered);
}

TEST(Served, a_level_between_two_neighbours_there_is_none) {
  const auto between = [](std::int64_t kept, std::int64_t broken) {
    Served found{.broken = level_at(broken, {})};
    if (kept > 0) found.level = level_at(kept, {});
    return found.unmeasured_between();
  };
  EXPECT_FALSE(between(8, 9));
  EXPECT_TRUE(between(8, 10));
  EXPECT_FALSE(between(0, 1));
  EXPECT_TRUE(between(0, 2));
  EXPECT_FALSE(Served{.level = level_at(8, {})}.unmeasured_between());
}

TEST(Served, an_unknown_figure_is_the_cause_only_where_no_known_one_is) {
  const auto limits = promised("ttft_p90<=1s,tpot_p90<=10ms");
  const auto unknown = [&](std::optional<double> ttft, std::optional<double> tpot) {
    return served({level_at(4, {ttft, tpot})}, limits).uses_unknown();
  };
  EXPECT_TRUE(unknown(std::nullopt, 9));
  EXPECT_TRUE(unknown(std::nullopt, 10)) << "a limit that is used up is kept";
  EXPECT_TRUE(unknown(std::nullopt, std::nullopt));
  EXPECT_FALSE(unknown(std::nullopt, 15));
  EXPECT_FALSE(unknown(500, 15));
  EXPECT_FALSE(served({level_at(4, {{500}, {5}})}, limits).uses_unknown()) << "nothing is broken";
  Level failed = level_at(4, {std::nullopt, {5}});
  failed.failed = 1;
  EXPECT_FALSE(served({failed}, limits).uses_unknown());
}

TEST(Served, of_limits_that_are_used_alike_the_first_stands_first) {
  const auto limits = promised("ttft_p90<=1s,tpot_p90<=10ms,latency_p90<=4s");
  const std::vector<Use> uses = uses_of(limits, level_at(4, {{500}, {5}, {3000}}));
  ASSERT_EQ(uses.size(), 3U);
  EXPECT_EQ(uses[0].limit, 2U);
  EXPECT_EQ(uses[1].limit, 0U);
  EXPECT_EQ(uses[2].limit, 1U);
  EXPECT_EQ(uses[2].figure, 5);
  EXPECT_EQ(uses[2].share, 0.5);
}

TEST(Served, each_broken_limit_is_said_the_worst_first) {
  const auto limits = promised("ttft_p90<=1s,tpot_p90<=10ms");
  EXPECT_EQ(broken_text(limits, level_at(4, {{1500}, {40}})),
            "TPOT P90 is 40.0 ms, limit 10.0 ms; TTFT P90 is 1.50 s, limit 1.00 s");
}

TEST(Served, the_document_of_a_system_that_keeps_no_limit_says_why) {
  const auto limits = promised("ttft_p90<=1s,tps_per_user>=20");
  const Json json = served_json(served({level_at(4, {{1500}, {30}})}, limits), limits);
  EXPECT_EQ(json.dump(),
            R"({"limits":"ttft_p90<=1s,tps_per_user>=20","users":0,"at_least":false,"point":null,)"
            R"("broken_at":4,"why":"TTFT P90 is 1.50 s, limit 1.00 s",)"
            R"("binds":{"limit":"ttft_p90<=1s","figure":"ttft_p90","value":1500.0,)"
            R"("limit_value":1000.0,"kept":false},)"
            R"("next":{"limit":"tps_per_user>=20","figure":"tps_per_user","value":30.0,)"
            R"("limit_value":20.0,"kept":true},"broken_below":[],)"
            R"("answer":"no measured point keeps ttft_p90<=1s,tps_per_user>=20: at concurrency 4, )"
            R"(TTFT P90 is 1.50 s, limit 1.00 s"})");
}

TEST(Served, one_limit_alone_has_none_next) {
  const auto limits = promised("ttft_p90<=2s");
  const Served open = served({level_at(8, {{500}})}, limits);
  EXPECT_EQ(served_text(open, limits),
            "at least 8 users at once are served within ttft_p90<=2s (r8); the sweep ended there, "
            "with TTFT P90 at 500 ms of 2.00 s");
  EXPECT_TRUE(served_json(open, limits)["next"].is_null());
  const Served unlimited = served({level_at(8, {})}, {});
  EXPECT_EQ(served_text(unlimited, {}),
            "at least 8 users at once are served within  (r8); the sweep ended there");
  EXPECT_TRUE(served_json(unlimited, {})["binds"].is_null());
}

TEST(Served, where_more_users_get_no_more_tokens_the_document_names_the_most_used_limits) {
  const auto limits = promised("tps_per_user>=30,ttft_p90<=1s");
  Level low = level_at(16, {{40}, {100}});
  Level high = level_at(32, {{31}, {200}});
  low.tps = high.tps = 300;
  const Json json = served_json(served({low, high}, limits), limits);
  EXPECT_EQ(json["broken_at"].as_int(), 32);
  EXPECT_EQ(json["why"].as_string(), "");
  EXPECT_EQ(json["binds"]["figure"].as_string(), "tps_per_user");
  EXPECT_TRUE(json["binds"]["kept"].as_bool());
  EXPECT_EQ(json["next"]["figure"].as_string(), "ttft_p90");
  EXPECT_EQ(json["next"]["value"].as_double(), 200);
  EXPECT_EQ(json["next"]["limit_value"].as_double(), 1000);
}

TEST(Terms, the_accuracy_of_two_levels_as_near_is_the_lower_ones) {
  const auto scored_at = [](std::int64_t low, std::int64_t high, std::int64_t asked) {
    metrics::Curve curve;
    curve.points = {curve_point(low, 10), curve_point(high, 10), curve_point(asked, 10)};
    curve.points[0].accuracy = curve.points[1].accuracy = {{.dataset = "a", .score = 0.5}};
    return accuracy_words(curve, curve.points[2]);
  };
  EXPECT_EQ(scored_at(1, 4, 2), "scored at r1: a 0.500");
  EXPECT_EQ(scored_at(1, 3, 2), "scored at r3: a 0.500") << "by the ratio of users";
  metrics::Curve planned;
  planned.points = {curve_point(2, 10)};
  planned.points[0].accuracy = {{.dataset = "a", .score = 0.5}};
  planned.points[0].measured = false;
  EXPECT_EQ(accuracy_words(planned, curve_point(2, 10)), "not scored");
}

TEST(Terms, a_price_is_of_what_is_made_however_little) {
  metrics::CurvePoint point = curve_point(1, 10);
  point.run.system_tps = 0;
  EXPECT_FALSE(per_lot(point, 36));
  EXPECT_FALSE(per_lot(point, std::nullopt));
  point.run.system_tps = 0.5;
  EXPECT_DOUBLE_EQ(*per_lot(point, 0.36), 200);
  point.unit = "image";
  point.run.units_per_s = 0.1;
  EXPECT_DOUBLE_EQ(*per_lot(point, 0.36), 1);
}

TEST(Terms, the_sentence_has_the_energy_of_a_token_or_of_each_unit) {
  metrics::Curve curve;
  curve.points = {curve_point(8, 10)};
  curve.points[0].power_kw = 2;
  Terms terms{.limits = promised("ttft_p90<=2s")};
  EXPECT_THAT(users_sentence(curve, terms),
              AllOf(HasSubstr("; 20.0 J a token; accuracy not scored"), Not(HasSubstr("simul"))));
  curve.points[0].unit = "image";
  EXPECT_THAT(users_sentence(curve, terms), HasSubstr("; 20.0 J for each image; "));
  curve.points[0].run.ttft_p90_ms = 2500;
  EXPECT_EQ(users_sentence(curve, terms),
            "no measured point keeps ttft_p90<=2s: at concurrency 8, TTFT P90 is 2.50 s, limit "
            "2.00 s");
  EXPECT_EQ(users_sentence(curve, {.price_per_hour = 1}), "");
}

TEST(Terms, a_point_that_was_not_measured_has_no_price_and_keeps_no_limit) {
  metrics::Curve curve;
  curve.points = {curve_point(8, 10), curve_point(16, 10), curve_point(32, 2500)};
  curve.points[1].measured = false;
  const Json json = curve_json(curve, {.price_per_hour = 36, .limits = promised("ttft_p90<=2s")});
  EXPECT_NE(json["points"][0].find("dollars_per_million_tokens"), nullptr);
  EXPECT_EQ(json["points"][1].find("dollars_per_million_tokens"), nullptr);
  EXPECT_EQ(json["points"][1].find("slo_kept"), nullptr);
  EXPECT_FALSE(json["points"][2]["slo_kept"].as_bool(true));
  EXPECT_EQ(json["points"].size(), 3U);
  EXPECT_EQ(json["dollars_per_hour"].as_double(), 36);
  EXPECT_EQ(json["slo"]["users"].as_int(), 8);
  const Json plain = curve_json(curve, {});
  EXPECT_EQ(plain.find("dollars_per_hour"), nullptr);
  EXPECT_EQ(plain["points"][0].find("slo_kept"), nullptr);
}

}  // namespace
}  // namespace assay::decide
