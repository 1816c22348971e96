// The cost of an engine's event: fixed gaps (ring) and drawn gaps (heap), many streams at once.
#include <benchmark/benchmark.h>

#include "base/check.h"
#include "sim/fixed_engine.h"

namespace assay::sim {
namespace {

void BM_events(benchmark::State& state, const Delay& itl) {
  const auto streams = static_cast<std::uint64_t>(state.range(0));
  constexpr std::uint32_t kTokens = 64;
  std::vector<Emission> out;
  std::uint64_t events = 0;
  for (auto _ : state) {
    FixedEngine engine({.ttft = itl, .itl = itl});
    for (std::uint64_t id = 0; id < streams; ++id) {
      engine.admit({.id = id, .output_tokens = kTokens}, Instant{static_cast<std::int64_t>(id)});
    }
    std::uint64_t made = 0;
    while (engine.next() != Instant::max()) {
      out.clear();
      engine.advance(engine.next() + 100_us, out);
      made += out.size();
    }
    CHECK(made == streams * kTokens);
    events += made;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(events));
}

void BM_fixed(benchmark::State& state) { BM_events(state, Delay::fixed(10_ms)); }
void BM_drawn(benchmark::State& state) {
  BM_events(state, Delay{Delay::Kind::lognormal, 10_ms, 0.5});
}
BENCHMARK(BM_fixed)->Arg(64)->Arg(10'000);
BENCHMARK(BM_drawn)->Arg(64)->Arg(10'000);

}  // namespace
}  // namespace assay::sim
