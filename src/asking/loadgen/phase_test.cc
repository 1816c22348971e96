// Settings as plans, run on simulated time: what LoadGen 6.0.17 asks is what the target is asked.
#include "loadgen/phase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "base/python_random.h"
#include "base/rng.h"
#include "loadgen/builtin_conf.h"
#include "loadgen/queries.h"

namespace assay::loadgen {
namespace {

EffectiveSettings phase_settings(TestSettings asked, std::uint64_t total = 5000,
                                 std::uint64_t loaded = 1024) {
  const auto conf = builtin_conf(kNewestConf);
  TestSettings seeds;
  EXPECT_TRUE(conf && conf->apply("*", asked.scenario, ConfKind::built_in, seeds));
  asked.qsl_rng_seed = seeds.qsl_rng_seed;
  asked.sample_index_rng_seed = seeds.sample_index_rng_seed;
  asked.schedule_rng_seed = seeds.schedule_rng_seed;
  const auto out = effective(asked, {.total = total, .performance = loaded});
  EXPECT_TRUE(out) << (out ? "" : out.error().message);
  return out.value_or(EffectiveSettings{});
}

std::vector<std::uint32_t> first_samples(const PhasePlan& phase, std::size_t count) {
  assay::QueryStream queries(phase, 0, 0, 1);
  std::vector<std::uint32_t> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(queries.next().sample);
  return out;
}

TEST(LoadgenPhase, servers_instants_are_loadgens) {
  TestSettings asked;
  asked.scenario = Scenario::Server;
  asked.server_target_qps = 2000;
  asked.min_duration_ms = 200;
  asked.min_query_count = 500;
  PhasePlan phase;
  const auto counts = set_phase(phase_settings(asked), 0, {}, phase);
  ASSERT_TRUE(counts) << counts.error().message;
  EXPECT_EQ(counts->queries, 500U);
  EXPECT_TRUE(phase.open_loop);
  ASSERT_EQ(phase.arrivals.size(), 500U);
  EXPECT_EQ(phase.arrivals[0], Duration{});
  EXPECT_EQ(phase.arrivals[1], Duration{921827});
  EXPECT_EQ(phase.arrivals[2], Duration{1150788});
  EXPECT_EQ(first_samples(phase, 8),
            (std::vector<std::uint32_t>{784, 618, 960, 248, 513, 635, 155, 667}));
  EXPECT_EQ(phase.limits.front().in_flight_max, std::numeric_limits<std::uint32_t>::max());
}

TEST(LoadgenPhase, multi_stream_asks_neighbours_in_groups) {
  TestSettings asked;
  asked.scenario = Scenario::MultiStream;
  asked.min_query_count = 100;
  asked.min_duration_ms = 0;
  PhasePlan phase;
  const auto counts = set_phase(phase_settings(asked), 0, {}, phase);
  ASSERT_TRUE(counts) << counts.error().message;
  EXPECT_EQ(counts->group, 8U);
  EXPECT_EQ(counts->samples, 800U);
  EXPECT_EQ(first_samples(phase, 10),
            (std::vector<std::uint32_t>{678, 266, 573, 278, 241, 816, 958, 576, 935, 222}));
  EXPECT_FALSE(phase.open_loop);
  EXPECT_EQ(phase.limits.front().in_flight_max, 16U);
  EXPECT_EQ(phase.stop.pass, 8U);
  EXPECT_EQ(phase.stop.queries_min, 800U);
}

TEST(LoadgenPhase, single_stream_goes_on_until_count_and_time_are_reached) {
  TestSettings asked;
  asked.min_query_count = 2000;
  asked.min_duration_ms = 60'000;
  asked.single_stream_expected_latency_ns = 10'000'000;
  PhasePlan phase;
  const auto counts = set_phase(phase_settings(asked), 0, {}, phase);
  ASSERT_TRUE(counts) << counts.error().message;
  EXPECT_EQ(counts->queries, 12'001U);  // twice what 60 s at 10 ms take, and the first after that
  EXPECT_EQ(counts->group, 1U);
  EXPECT_EQ(phase.stop.queries_min, 2000U);
  EXPECT_EQ(phase.stop.queries_max, 12'001U);
  EXPECT_EQ(phase.stop.duration_min, 60_s);
  EXPECT_EQ(first_samples(phase, 4), (std::vector<std::uint32_t>{455, 199, 607, 480}));
}

TEST(LoadgenPhase, offline_is_due_at_once_under_the_clients_cap) {
  TestSettings asked;
  asked.scenario = Scenario::Offline;
  asked.min_query_count = 3000;
  asked.min_duration_ms = 0;
  PhasePlan phase;
  const auto counts = set_phase(phase_settings(asked), 64, {}, phase);
  ASSERT_TRUE(counts) << counts.error().message;
  EXPECT_EQ(counts->queries, 1U);
  EXPECT_EQ(counts->samples, 3000U);
  EXPECT_EQ(phase.arrivals, std::vector<Duration>(3000));
  EXPECT_EQ(phase.limits.front().in_flight_max, 64U);
  EXPECT_EQ(first_samples(phase, 3), (std::vector<std::uint32_t>{216, 267, 822}));
}

TEST(LoadgenPhase, loadgens_early_ends_are_limits_of_the_plan) {
  TestSettings asked;
  asked.scenario = Scenario::Server;
  asked.server_target_qps = 1000;
  asked.min_duration_ms = 1000;
  asked.max_query_count = 7;
  asked.max_duration_ms = 400;
  PhasePlan phase;
  ASSERT_TRUE(set_phase(phase_settings(asked), 0, {}, phase));
  EXPECT_EQ(phase.arrivals.size(), 7U);
  EXPECT_EQ(phase.stop.duration_max, 400_ms);
  asked.server_max_async_queries = 3;
  EXPECT_FALSE(set_phase(phase_settings(asked), 0, {}, phase));
}

// The reference's sampler, query by query: which step and which of its rows comes next.
std::vector<std::uint32_t> by_the_reference(const std::vector<std::uint32_t>& groups,
                                            std::uint32_t count, std::vector<std::uint32_t>& ends) {
  std::uint32_t total = 0;
  for (const std::uint32_t size : groups) total += size;
  PythonRandom random(123);
  std::vector<std::vector<std::uint32_t>> orders;
  std::uint32_t first = 0;
  for (const std::uint32_t size : groups) {
    std::vector<std::uint32_t>& order = orders.emplace_back();
    for (std::uint32_t i = 0; i < size; ++i) order.push_back(first + i);
    random.shuffle(order);
    first += size;
  }
  const std::uint32_t repeats = std::max(1U, count / total);
  std::vector<std::uint32_t> out;
  std::size_t step = 0;
  std::uint32_t done = 0;
  while (out.size() < count) {
    const std::vector<std::uint32_t>& order = orders.at(step);
    std::uint32_t quota = static_cast<std::uint32_t>(order.size()) * repeats;
    if (step + 1 == orders.size()) quota += count % total;
    out.push_back(order[done % order.size()]);
    if (++done < quota) continue;
    done = 0;
    ++step;
    if (out.size() < count) ends.push_back(static_cast<std::uint32_t>(out.size()));
  }
  return out;
}

TEST(LoadgenPhase, groups_are_asked_as_dlrm_v3s_reference_asks_its_steps) {
  for (std::uint64_t seed = 1; seed <= 60 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    std::vector<std::uint32_t> groups;
    std::uint32_t rows = 0;
    const std::uint64_t many = 1 + rng.below(5);
    for (std::uint64_t i = 0; i < many; ++i) {
      rows += groups.emplace_back(static_cast<std::uint32_t>(1 + rng.below(30)));
    }
    TestSettings asked;
    asked.scenario = rng.below(2) == 0 ? Scenario::Server : Scenario::Offline;
    asked.min_duration_ms = 0;
    asked.min_query_count = 1 + rng.below(5 * rows);
    PhasePlan phase;
    const auto counts = set_phase(phase_settings(asked, rows, rows), 0, groups, phase);
    ASSERT_TRUE(counts) << counts.error().message;
    std::vector<std::uint32_t> barriers;
    const auto count = static_cast<std::uint32_t>(phase.stop.queries_max);
    EXPECT_EQ(first_samples(phase, count), by_the_reference(groups, count, barriers));
    EXPECT_EQ(phase.barriers, barriers);
  }
}

TEST(LoadgenPhase, groups_in_turn_are_no_test_of_single_stream) {
  TestSettings asked;
  PhasePlan phase;
  const std::vector<std::uint32_t> groups{2, 3};
  const auto refused = set_phase(phase_settings(asked, 5, 5), 0, groups, phase);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("server and offline"), std::string::npos);
}

}  // namespace
}  // namespace assay::loadgen
