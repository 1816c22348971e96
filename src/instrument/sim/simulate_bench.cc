// The simulator's speed on one core: engine steps and queries a second. The figures and their
// machine are in bench/BASELINES.md.
#include "sim/simulate.h"

#include <benchmark/benchmark.h>

#include "sim/scenario.h"

namespace assay::sim {
namespace {

ClusterSpec gpt_oss(bool every_token) {
  Scenario scenario;
  scenario.model = "gpt-oss-120b";
  scenario.hardware = "b200-sxm";
  scenario.precision = "mxfp4";
  scenario.parallel = "tp=1";
  auto spec = make_cluster_spec(Catalogue::builtin(), scenario);
  spec->every_token = every_token;
  return *spec;
}

Workload thousand() {
  const auto draw = [](Rng& rng) { return 819 + static_cast<std::uint32_t>(rng.below(206)); };
  return {draw, draw};
}

void closed_loop(benchmark::State& state, bool every_token) {
  const ClusterSpec spec = gpt_oss(every_token);
  SimulateOptions options;
  options.queries_per_slot = 40;
  std::uint64_t steps = 0;
  std::uint64_t queries = 0;
  for (auto _ : state) {
    const auto concurrency = static_cast<std::uint32_t>(state.range(0));
    const SimPoint point = simulate_closed(spec, thousand(), concurrency, options);
    if (point.queries < 40U * concurrency) state.SkipWithError("queries are missing");
    steps += point.steps;
    queries += point.queries;
  }
  state.counters["steps/s"] =
      benchmark::Counter(static_cast<double>(steps), benchmark::Counter::kIsRate);
  state.counters["queries/s"] =
      benchmark::Counter(static_cast<double>(queries), benchmark::Counter::kIsRate);
}

void simulate_gpt_oss(benchmark::State& state) { closed_loop(state, false); }
BENCHMARK(simulate_gpt_oss)->Arg(4)->Arg(32)->Arg(256)->Unit(benchmark::kMillisecond);

void simulate_gpt_oss_every_token(benchmark::State& state) { closed_loop(state, true); }
BENCHMARK(simulate_gpt_oss_every_token)->Arg(32)->Arg(256)->Unit(benchmark::kMillisecond);

// Long outputs: mostly steps.
void engine_steps(benchmark::State& state) {
  const ClusterSpec spec = gpt_oss(false);
  const auto input = [](Rng&) { return 128U; };
  const auto output = [](Rng& rng) { return 6000 + static_cast<std::uint32_t>(rng.below(2000)); };
  std::uint64_t steps = 0;
  for (auto _ : state) steps += simulate_closed(spec, {input, output}, 16).steps;
  if (steps == 0) state.SkipWithError("no steps");
  state.counters["steps/s"] =
      benchmark::Counter(static_cast<double>(steps), benchmark::Counter::kIsRate);
}
BENCHMARK(engine_steps)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace assay::sim
