// A simulated point has the load of `assay run` with the same numbers: from the flags of a run to
// its plan, and through the measuring loop on a simulated clock.
#include <gtest/gtest.h>

#include "dataset/length.h"
#include "metrics/point_fold.h"
#include "plan/config_reader.h"
#include "plan/make_plan.h"
#include "run/run.h"
#include "sim/scenario.h"
#include "sim/sim_target.h"
#include "sim/simulate.h"

namespace assay {
namespace {

constexpr std::uint32_t kConcurrency = 16;
constexpr std::uint32_t kEach = 6;
const char* const kInput = "uniform:400-500";
const char* const kOutput = "uniform:32-40";

plan::PlanBundle measured_plan(const std::string& seed) {
  plan::ConfigReader reader([](const std::string&) { return std::nullopt; }, 28232);
  const std::pair<const char*, std::string> flags[] = {
      {"--endpoint", "http://localhost:8000"},
      {"--model", "m"},
      {"--api-type", "openai_completions"},
      {"--concurrency", std::to_string(kConcurrency)},
      {"--samples", std::to_string(kConcurrency * kEach)},
      {"--isl", kInput},
      {"--osl", kOutput},
      {"--run-seed", seed}};
  for (const auto& [name, value] : flags) reader.flag(name, value);
  auto loaded = reader.finish();
  EXPECT_TRUE(loaded) << loaded.error().message;
  auto datasets = plan::load_datasets(loaded->config);
  EXPECT_TRUE(datasets) << datasets.error().message;
  auto bundle = plan::make_plan(loaded->config, *std::move(datasets));
  EXPECT_TRUE(bundle) << bundle.error().message;
  return *std::move(bundle);
}

sim::LengthDraw drawn(const char* text) {
  return [spec = *dataset::parse_length(text)](Rng& rng) {
    return static_cast<std::uint32_t>(dataset::draw_length(spec, rng));
  };
}

sim::ClusterSpec gpt_oss() {
  sim::Scenario scenario;
  scenario.model = "gpt-oss-120b";
  scenario.hardware = "b200-sxm";
  scenario.precision = "mxfp4";
  scenario.parallel = "tp=1";
  return *make_cluster_spec(sim::Catalogue::builtin(), scenario);
}

sim::Request request_of(const plan::PlanBundle& bundle, std::uint32_t row) {
  const Sample sample = bundle.datasets[0].dataset.make_row(row);
  sim::Request out;
  out.prompt_tokens = static_cast<std::uint32_t>(sample.input_tokens.size());
  out.output_tokens = static_cast<std::uint32_t>(sample.output_tokens_max);
  return out;
}

TEST(SameLoad, lengths_and_their_order_are_those_of_a_measured_run) {
  for (const std::uint64_t seed : {42U, 7U}) {
    const plan::PlanBundle bundle = measured_plan(std::to_string(seed));
    const PhasePlan& phase = bundle.plan.phases.back();
    QueryStream queries(phase, 0, 0, 1);
    const sim::Workload load{drawn(kInput), drawn(kOutput)};
    sim::LengthList list(load, kConcurrency * kEach, seed);
    for (std::uint32_t i = 0; i < kConcurrency * kEach; ++i) {
      const sim::Request asked = request_of(bundle, queries.next().sample);
      const sim::Lengths ours = list.next();
      ASSERT_EQ(asked.prompt_tokens, ours.input) << "seed " << seed << ", query " << i;
      ASSERT_EQ(asked.output_tokens, ours.output) << "seed " << seed << ", query " << i;
    }
  }
}

TEST(SameLoad, the_loop_that_measures_and_the_simulation_have_one_answer) {
  const plan::PlanBundle bundle = measured_plan("42");
  sim::ClusterSpec spec = gpt_oss();
  spec.every_token = true;
  sim::Cluster cluster(spec);
  SimClock clock;
  const sim::AskOf ask = [&](const Query& query) { return request_of(bundle, query.sample); };
  sim::SimTarget target(cluster, clock, ask, {});
  RunInfo info;
  info.phases = {{PhaseKind::performance, "performance", false}};
  metrics::PointFold fold(info);
  run::run(bundle.plan, clock, target, fold, run::Control{});
  const metrics::Point measured = fold.finish({RunState::complete, ""});
  ASSERT_EQ(measured.counts.completed, kConcurrency * kEach);

  sim::SimulateOptions options;
  options.queries_per_slot = kEach;
  options.queries_min = 0;
  options.turn_around = options.send_gap = {};  // on a simulated clock the loop takes no time
  const sim::SimPoint simulated =
      simulate_closed(gpt_oss(), {drawn(kInput), drawn(kOutput)}, kConcurrency, options);
  EXPECT_NEAR(measured.arrival.ttft.mean * 1e-6 / simulated.ttft_ms.mean, 1, 1e-6);
  EXPECT_NEAR(measured.arrival.tpot.mean * 1e-6 / simulated.tpot_ms.mean, 1, 1e-6);
  EXPECT_NEAR(measured.arrival.latency.mean * 1e-6 / simulated.latency_ms.mean, 1, 1e-6);
}

}  // namespace
}  // namespace assay
