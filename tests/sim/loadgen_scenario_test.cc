// LoadGen's scenarios run through the loop on simulated time, against the engine that `assay
// endpoint` serves: what was asked, when, and what the verdict on it must be.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "campaign/scenario/find_rate.h"
#include "loadgen/measured_fold.h"
#include "loadgen/phase.h"
#include "loadgen/queries.h"
#include "run/in_turn.h"
#include "run/run.h"
#include "sim/fixed_engine.h"
#include "sim/sim_target.h"

namespace assay::campaign {
namespace {

struct Simulated {
  loadgen::Judgement judgement{};
  std::vector<loadgen::MeasuredSample> samples{};
};

Result<Simulated> simulate(loadgen::Test test, const sim::FixedEngineOptions& server,
                           std::uint32_t output_tokens = 1) {
  Plan plan{.phases = {PhasePlan{.name = "performance"}}};
  ASSIGN_OR_RETURN(const auto settings, loadgen::effective(test.requested, test.library));
  ASSIGN_OR_RETURN(const auto counts,
                   loadgen::set_phase(settings, test.in_flight_max, {}, plan.phases[0]));
  test.generated = counts.queries;
  SimClock clock;
  sim::FixedEngine engine(server);
  sim::SimTarget target(
      engine, clock,
      [output_tokens](const Query&) { return sim::Request{.output_tokens = output_tokens}; }, {});
  RunInfo info;
  info.phases = {{PhaseKind::performance, "performance", plan.phases[0].open_loop}};
  info.facts = Json::object().set(loadgen::kTestFact, test.to_json());
  loadgen::MeasuredFold fold(info);
  if (counts.group > 0) {
    run::InTurn in_turn(target, clock, {.phase = 0, .group = counts.group});
    run::run(plan, clock, in_turn, fold, run::Control{});
  } else {
    run::run(plan, clock, target, fold, run::Control{});
  }
  Simulated out{.samples = fold.finish()};
  ASSIGN_OR_RETURN(out.judgement, loadgen::judge(test, out.samples, {}));
  return out;
}

loadgen::Test short_test(loadgen::Scenario scenario) {
  loadgen::Test out{.name = "test", .edition = "none", .sut_name = "simulated"};
  out.requested.scenario = scenario;
  out.requested.min_duration_ms = 10'000;
  out.requested.qsl_rng_seed = 2085463073848966840U;
  out.requested.sample_index_rng_seed = 2747215439041700203U;
  out.requested.schedule_rng_seed = 16159082839903944936U;
  out.library = {.total = 1024, .performance = 1024};
  return out;
}

const sim::FixedEngineOptions kTenMs{.ttft = sim::Delay::fixed(10_ms)};

Simulated simulated(const loadgen::Test& test, const sim::FixedEngineOptions& server,
                    std::uint32_t output_tokens = 1) {
  auto out = simulate(test, server, output_tokens);
  EXPECT_TRUE(out) << (out ? "" : out.error().message);
  return out ? *std::move(out) : Simulated{};
}

TEST(LoadgenScenario, single_stream_lasts_its_time_to_the_first_query_after_it) {
  const Simulated run = simulated(short_test(loadgen::Scenario::SingleStream), kTenMs);
  EXPECT_TRUE(run.judgement.valid()) << run.judgement.reasons();
  EXPECT_EQ(run.judgement.recorded.queries_issued, 1001U);  // the last one at 10 s
  EXPECT_EQ(run.judgement.recorded.last_issued, 10'000'000'000);
  EXPECT_DOUBLE_EQ(run.judgement.metric->value, 10);
}

TEST(LoadgenScenario, too_low_an_expected_latency_is_no_end_and_too_high_a_one_is_an_early_end) {
  loadgen::Test test = short_test(loadgen::Scenario::SingleStream);
  test.requested.single_stream_expected_latency_ns = 100'000'000;  // 201 queries are generated
  const Simulated run = simulated(test, kTenMs);
  EXPECT_FALSE(run.judgement.valid());
  EXPECT_EQ(run.judgement.recorded.queries_issued, 201U);
  ASSERT_EQ(run.judgement.errors.size(), 1U);
  EXPECT_EQ(run.judgement.reasons(),
            "Decrease the expected latency so the loadgen pre-generates more queries.");
}

TEST(LoadgenScenario, multi_stream_waits_for_the_slowest_of_eight) {
  loadgen::Test test = short_test(loadgen::Scenario::MultiStream);
  test.requested.min_query_count = 662;
  sim::FixedEngineOptions server = kTenMs;
  server.running_max = 4;  // eight samples take two rounds
  const Simulated run = simulated(test, server);
  EXPECT_TRUE(run.judgement.valid()) << run.judgement.reasons();
  EXPECT_EQ(run.judgement.recorded.queries_issued, 662U);
  EXPECT_DOUBLE_EQ(run.judgement.metric->value, 20);
  for (const loadgen::MeasuredSample& one : run.samples) {
    EXPECT_EQ(one.due, std::int64_t{one.index / 8} * 20'000'000);
  }
}

TEST(LoadgenScenario, server_sends_at_loadgens_instants_and_counts_from_them) {
  loadgen::Test test = short_test(loadgen::Scenario::Server);
  test.requested.server_target_qps = 50;
  sim::FixedEngineOptions server = kTenMs;
  server.running_max = 1;
  const Simulated run = simulated(test, server);
  EXPECT_TRUE(run.judgement.valid()) << run.judgement.reasons();
  const auto settings = loadgen::effective(test.requested, test.library);
  const auto sets = loadgen::loaded_sets(*settings, loadgen::Phase::performance);
  auto queries = loadgen::QueryStream::make(*settings, sets.front(), loadgen::Phase::performance);
  ASSERT_TRUE(queries);
  std::vector<loadgen::Query> wanted;
  for (loadgen::Query query; queries->next(query);) wanted.push_back(query);
  ASSERT_EQ(run.samples.size(), wanted.size());
  for (const loadgen::MeasuredSample& one : run.samples) {
    EXPECT_EQ(one.due, wanted[one.index].due_ns);
    EXPECT_EQ(one.sample, wanted[one.index].samples.front());
  }
}

TEST(LoadgenScenario, offline_keeps_the_cap_and_counts_from_the_start) {
  loadgen::Test test = short_test(loadgen::Scenario::Offline);
  test.requested.offline_expected_qps = 100;
  test.in_flight_max = 2;
  test.requested.use_token_latencies = true;
  const Simulated run = simulated(test, kTenMs, 5);
  // 1,100 samples, two at a time, 10 ms for each pair.
  EXPECT_EQ(run.judgement.verdict->samples, 1100U);
  EXPECT_EQ(run.judgement.verdict->sample_latency.max, 5'500'000'000);
  EXPECT_EQ(run.judgement.metric->name, "result_tokens_per_second");
  EXPECT_NEAR(run.judgement.metric->value, 1000, 1e-6);
  EXPECT_FALSE(run.judgement.valid()) << "5.5 s are less than 10";
}

// P(latency > limit) of one server with a fixed service time and Poisson arrivals, M/D/1 (Erlang,
// 1909). Seconds.
double share_over(double rate, double service, double limit) {
  const double wait = limit - service;
  double sum = 0;
  for (int k = 0; k * service <= wait + 1e-12; ++k) {
    const double x = rate * (k * service - wait);
    double term = std::exp(-x);
    for (int i = 1; i <= k; ++i) term *= x / i;
    sum += term;
  }
  return 1 - (1 - rate * service) * sum;
}

double analytic_edge(double service, double limit) {
  double low = 1;
  double high = 1 / service;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (share_over(middle, service, limit) > 0.01 ? high : low) = middle;
  }
  return low;
}

// The endpoint with one slot and 5 ms for each query, limit 50 ms for P99.
TEST(LoadgenScenario, find_qps_meets_the_analytic_edge_of_a_known_queue) {
  const double edge = analytic_edge(0.005, 0.050);
  loadgen::Test test = short_test(loadgen::Scenario::Server);
  test.requested.server_target_latency_ns = 50'000'000;
  test.requested.min_duration_ms = 100'000;
  sim::FixedEngineOptions server{.ttft = sim::Delay::fixed(5_ms)};
  server.running_max = 1;
  const loadgen::RateWish wish{.first = 20};
  constexpr std::uint64_t kSearches = 5;  // rate_search_test has twenty
  for (std::uint64_t search = 0; search < kSearches; ++search) {
    SCOPED_TRACE(search);
    test.requested.schedule_rng_seed = 1000 * search;
    const auto found = find_rate(
        wish,
        [&](const loadgen::RateSearch::Next& next,
            std::uint64_t index) -> Result<loadgen::RateProbe> {
          ASSIGN_OR_RETURN(const Simulated run, simulate(probe_test(test, next, index), server));
          return loadgen::probe_of(run.judgement);
        },
        [](const std::string&) {});
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_NEAR((*found)["edge"].as_double(), edge, 0.03 * edge) << found->dump(2);
    EXPECT_LE((*found)["steps"].size(), 16U);
    EXPECT_NE(rate_text(*found).find("the limits hold up to"), std::string::npos);
  }
}

TEST(LoadgenScenario, the_cost_of_a_search_is_known_before_it) {
  loadgen::Test test = short_test(loadgen::Scenario::Server);
  test.requested.min_duration_ms = 600'000;
  const SearchCost cost = search_cost(test, {.first = 100});
  EXPECT_EQ(cost.most, 120_s * 14 + 600_s * 6);
  EXPECT_LT(cost.about, cost.most);
  EXPECT_NE(cost_text(test, {.first = 100}).find("88.0 minutes at most"), std::string::npos)
      << cost_text(test, {.first = 100});
  // At a low rate the number of queries decides.
  EXPECT_EQ(search_cost(test, {.first = 0.1}).most, 1000_s * 14 + 1000_s * 6);
}

}  // namespace
}  // namespace assay::campaign
