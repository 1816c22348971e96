// The cost of folding: stream events a second, from memory, compared with the Point's own part at
// the end (sorting, percentiles, estimates).
#include <benchmark/benchmark.h>

#include <vector>

#include "base/rng.h"
#include "metrics/point_fold.h"
#include "metrics/testing_hand_made.h"

namespace assay::metrics {
namespace {

RunInfo bench_run() {
  RunInfo info{};
  info.phases = {{PhaseKind::performance, "performance", false}};
  return info;
}

// 1,024 streams side by side, 64 fragments each, read 2 to 60 µs after they arrived.
void fold_streams(benchmark::State& state) {
  constexpr std::uint32_t kStreams = 1024;
  constexpr int kFragments = 64;
  Rng rng(1);
  std::int64_t events = 0;
  for (auto _ : state) {
    PointFold fold(bench_run());
    fold.on_phase({0, PhaseStep::started, Instant{}});
    std::vector<Event> ends(kStreams);
    for (std::uint32_t i = 0; i < kStreams; ++i) {
      ends[i].query.index = i;
      ends[i].streamed = true;
      ends[i].sent = Instant{i};
      ends[i].fragments = ends[i].stream_events = kFragments;
      ends[i].usage.completion_tokens = kFragments;
      fold.on_sent(ends[i].query, Instant{i}, Instant{i});
    }
    StreamEvent event{};
    event.category = Category::text;
    event.kernel_stamped = true;
    for (int step = 1; step <= kFragments; ++step) {
      for (std::uint32_t i = 0; i < kStreams; ++i) {
        event.arrival = Instant{step * std::int64_t{10'000'000} + i * std::int64_t{2'000}};
        event.read = event.arrival + Duration{2'000 + static_cast<std::int64_t>(rng.next() >> 48)};
        fold.on_stream_event(ends[i].query, event, " word");
        if (step == 1) ends[i].first_token = event.arrival;
        ends[i].done = event.arrival;
      }
    }
    for (const Event& end : ends) fold.on_done(end, "");
    const Point point = fold.finish({RunState::complete, ""});
    if (point.arrival.itl.count != std::uint64_t{kStreams} * (kFragments - 1)) {
      state.SkipWithError("every gap counts");
    }
    events += std::int64_t{kStreams} * kFragments;
  }
  state.SetItemsProcessed(events);
}
BENCHMARK(fold_streams)->Unit(benchmark::kMillisecond);

void fold_plain_replies(benchmark::State& state) {
  constexpr std::uint32_t kQueries = 100'000;
  std::int64_t queries = 0;
  for (auto _ : state) {
    PointFold fold(bench_run());
    fold.on_phase({0, PhaseStep::started, Instant{}});
    Rng rng(1);
    for (std::uint32_t i = 0; i < kQueries; ++i) {
      Event event{};
      event.query.index = i;
      event.due = event.sent = Instant{i * 4'000};
      event.done = event.sent + Duration{50'000 + static_cast<std::int64_t>(rng.next() >> 46)};
      fold.on_sent(event.query, event.due, event.sent);
      fold.on_done(event, "");
    }
    const Point point = fold.finish({RunState::complete, ""});
    if (point.arrival.latency.count != kQueries) state.SkipWithError("every query counts");
    queries += kQueries;
  }
  state.SetItemsProcessed(queries);
}
BENCHMARK(fold_plain_replies)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace assay::metrics
