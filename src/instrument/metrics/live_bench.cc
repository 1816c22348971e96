// The cost of watching: one stream event into Live without a reader. 1,024 streams take turns.
#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "metrics/live.h"
#include "metrics/testing_hand_made.h"

namespace assay::metrics {
namespace {

void live_stream_event(benchmark::State& state) {
  Plan plan{};
  plan.phases.resize(1);
  const auto live = std::make_unique<Live>(plan);
  live->on_phase({0, PhaseStep::started, Instant{}});
  std::vector<Query> queries(1024);
  for (std::uint32_t i = 0; i < queries.size(); ++i) {
    queries[i].index = i;
    live->on_sent(queries[i], Instant{}, Instant{});
  }
  StreamEvent event{};
  event.category = Category::text;
  event.bytes = 4;
  std::size_t next = 0;
  for (auto _ : state) {
    event.arrival.ns += 1000;
    event.read.ns = event.arrival.ns + 300;
    live->on_stream_event(queries[next++ % queries.size()], event, "tok ");
  }
  const Live* const lives[] = {live.get()};
  if (state.iterations() >= 1024 && live_snapshot(lives, event.read).ttft.count != 1024) {
    state.SkipWithError("each stream has one first token");
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(live_stream_event);

void live_whole_query(benchmark::State& state) {
  Plan plan{};
  plan.phases.resize(1);
  const auto live = std::make_unique<Live>(plan);
  live->on_phase({0, PhaseStep::started, Instant{}});
  HandMadeQuery q = steady_query(0, 0, 0, 20, 10, 64);
  const Event event = event_of(q);
  for (auto _ : state) {
    tell_sent(q, *live);
    live->on_done(event, "");
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(live_whole_query);

}  // namespace
}  // namespace assay::metrics
