#include "plan/interleave.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/format.h"

namespace assay::plan {
namespace {

using testing::HasSubstr;

PlanBundle two_endpoints(std::uint64_t queries, bool open_loop = false) {
  PlanBundle out;
  out.endpoints.urls = {"http://a", "http://b"};
  PlannedDataset data;
  for (int i = 0; i < 7; ++i) data.dataset.samples.push_back({.prompt = format("row {}", i)});
  out.datasets.push_back(data);
  PhasePlan phase{.name = "performance", .order = SampleOrder::shuffled(7, 3), .salted = true};
  phase.salt_seed = 11;
  phase.stop.queries_min = phase.stop.queries_max = queries;
  phase.limits = {{{}, 4}};
  phase.open_loop = open_loop;
  for (std::uint64_t i = 0; open_loop && i < queries; ++i) {
    phase.arrivals.push_back(10_ms * static_cast<std::int64_t>(i + 1));
  }
  out.plan.phases = {phase};
  return out;
}

std::vector<std::pair<std::uint32_t, std::uint64_t>> asked_sides(const PhasePlan& phase) {
  QueryStream stream(phase, 0, 0, 1);
  std::vector<std::pair<std::uint32_t, std::uint64_t>> out;
  for (std::uint64_t i = 0; i < phase.stop.queries_max; ++i) {
    const Query query = stream.next();
    out.emplace_back(query.sample, query.salt);
  }
  return out;
}

TEST(Interleave, both_endpoints_are_asked_the_same_and_together_what_one_run_would_ask) {
  const PlanBundle whole = two_endpoints(203);
  const auto cut = interleave(whole, {.block = 20});
  ASSERT_TRUE(cut) << cut.error().message;
  const std::vector<PhasePlan>& phases = cut->bundle.plan.phases;
  ASSERT_EQ(phases.size(), 20U);
  ASSERT_EQ(cut->endpoint_of_phase.size(), 20U);
  std::map<std::string, const PhasePlan*> by_name;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    by_name[phases[i].name] = &phases[i];
    EXPECT_EQ(cut->endpoint_of_phase[i], phases[i].name[0] == 'a' ? 0 : 1);
    EXPECT_TRUE(phases[i].drain);
  }
  std::vector<std::uint32_t> samples;
  for (int pair = 1; pair <= 10; ++pair) {
    const auto a = asked_sides(*by_name.at(format("a {}", pair)));
    EXPECT_EQ(a, asked_sides(*by_name.at(format("b {}", pair))));
    for (const auto& [sample, salt] : a) samples.push_back(sample);
  }
  std::vector<std::uint32_t> wanted;
  for (const auto& [sample, salt] : asked_sides(whole.plan.phases[0])) wanted.push_back(sample);
  EXPECT_EQ(samples, wanted);
}

TEST(Interleave, who_begins_is_drawn_and_balanced_over_two_pairs) {
  const auto begins = [](std::uint64_t seed) {
    std::string out;
    const auto cut = interleave(two_endpoints(400), {.block = 20, .seed = seed});
    EXPECT_TRUE(cut);
    for (std::size_t i = 0; i < cut->bundle.plan.phases.size(); i += 2) {
      EXPECT_NE(cut->bundle.plan.phases[i].name[0], cut->bundle.plan.phases[i + 1].name[0]);
      out += cut->bundle.plan.phases[i].name[0];
    }
    return out;
  };
  const std::string one = begins(1);
  for (std::size_t i = 0; i < one.size(); i += 2) EXPECT_NE(one[i], one[i + 1]);
  EXPECT_EQ(one, begins(1));
  EXPECT_NE(one, begins(2));
}

TEST(Interleave, a_block_of_an_open_loop_keeps_its_gaps) {
  const auto cut = interleave(two_endpoints(120, true), {.block = 20});
  ASSERT_TRUE(cut) << cut.error().message;
  for (const PhasePlan& phase : cut->bundle.plan.phases) {
    ASSERT_EQ(phase.arrivals.size(), 20U);
    EXPECT_EQ(phase.arrivals.front(), 10_ms);
    EXPECT_EQ(phase.arrivals.back(), 200_ms);
  }
}

TEST(Interleave, by_time_pairs_begin_until_it_is_over_and_each_is_finished) {
  PlanBundle bundle = two_endpoints(1);
  StopRule& stop = bundle.plan.phases[0].stop;
  stop.queries_max = 4'000'000'000;
  stop.duration_min = 2_s;
  stop.pass = 7;
  const auto cut = interleave(bundle, {.time = 2_s});
  ASSERT_TRUE(cut) << cut.error().message;
  const std::vector<PhasePlan>& phases = cut->bundle.plan.phases;
  ASSERT_EQ(phases.size(), 80U);  // 2 s / 50 ms, a quicker pair there is not
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const bool may_be_last = i >= 2 * kPairsMin && i % 2 == 0;
    EXPECT_EQ(phases[i].begin_max, may_be_last ? 2_s : Duration::max()) << i;
    EXPECT_EQ(phases[i].stop.queries_min, 20U);
    EXPECT_EQ(phases[i].stop.queries_max, 20U);
    EXPECT_EQ(phases[i].stop.pass, 0U);
    EXPECT_EQ(phases[i].stop.duration_min, Duration{});
  }
  EXPECT_EQ(asked_sides(phases[0]), asked_sides(phases[1]));
  EXPECT_EQ(interleave(bundle, {.time = 3600_s})->bundle.plan.phases.size(), 2000U);
}

TEST(Interleave, an_open_loop_by_time_is_so_much_of_its_schedule_as_two_get_through_in_it) {
  const PlanBundle whole = two_endpoints(300, true);  // a query each 10 ms
  const auto cut = interleave(whole, {.block = 20, .time = 2400_ms});
  ASSERT_TRUE(cut) << cut.error().message;
  EXPECT_EQ(cut->bundle.plan.phases.size(), 12U);  // 120 queries each: six pairs
  for (const PhasePlan& phase : cut->bundle.plan.phases) {
    EXPECT_EQ(phase.arrivals.size(), 20U);
    EXPECT_EQ(phase.begin_max, Duration::max());
  }
}

TEST(Interleave, the_configs_own_limit_holds_from_the_first_pair_on) {
  PlanBundle bundle = two_endpoints(200);
  bundle.plan.phases[0].stop.duration_max = 1_s;
  const auto cut = interleave(bundle, {.block = 20});
  ASSERT_TRUE(cut) << cut.error().message;
  for (std::size_t i = 0; i < cut->bundle.plan.phases.size(); ++i) {
    EXPECT_EQ(cut->bundle.plan.phases[i].begin_max, i % 2 == 0 ? 1_s : Duration::max());
  }
}

TEST(Interleave, a_number_wins_over_a_time) {
  Config config;
  config.settings.runtime.duration = 5_s;
  EXPECT_EQ(interleaved_time(config), 5_s);
  config.settings.runtime.n_samples_to_issue = 7;
  EXPECT_EQ(interleaved_time(config), Duration{});
  Config floor;
  floor.settings.runtime.min_duration = 3_s;
  EXPECT_EQ(interleaved_time(floor), 3_s);
}

TEST(Interleave, each_endpoint_is_warmed_up) {
  PlanBundle bundle = two_endpoints(160);
  PhasePlan warmup = bundle.plan.phases[0];
  warmup.kind = PhaseKind::warmup;
  bundle.plan.phases.insert(bundle.plan.phases.begin(), warmup);
  const auto cut = interleave(bundle, {});
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->bundle.plan.phases[0].name, "warmup a");
  EXPECT_EQ(cut->endpoint_of_phase[1], 1);
  EXPECT_EQ(cut->bundle.plan.phases.size(),
            2U + 2 * 160 / 20);  // twenty: more than 4 × 4 in flight
}

TEST(Interleave, what_it_cannot_do_is_refused_with_the_fix) {
  const auto refused = [](const PlanBundle& bundle, const char* why, std::uint64_t block = 20) {
    const auto cut = interleave(bundle, {.block = block});
    ASSERT_FALSE(cut) << why;
    EXPECT_THAT(cut.error().message, HasSubstr(why));
  };
  PlanBundle bundle = two_endpoints(200);
  refused(bundle, "200 queries for each endpoint give 5 blocks of 40, and 6 is the least", 40);
  bundle.endpoints.urls = {"http://a"};
  refused(bundle, "--endpoint: two are compared with each other, and one is given");
  bundle = two_endpoints(200);
  bundle.plan.phases[0].stop.queries_max = 4'000'000'000;
  refused(bundle, "--samples: say how many queries each endpoint gets, or --duration");
  bundle = two_endpoints(200);
  bundle.plan.phases[0].kind = PhaseKind::accuracy;
  refused(bundle, "--mode perf");
  bundle = two_endpoints(200);
  bundle.plan.phases[0].limits.push_back({1_s, 8});
  refused(bundle, "ramp");
  bundle = two_endpoints(200);
  bundle.plan.phases[0].replay = true;
  refused(bundle, "conversations are not cut into blocks");
}

}  // namespace
}  // namespace assay::plan
