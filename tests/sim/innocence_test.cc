// An innocent client is never reported as client-limited: the measuring loop on a simulated clock,
// where no neighbour and no scheduler causes delay, with a hundred seeds, loads and servers, some
// of them far slower than the schedule.
#include <gtest/gtest.h>

#include "audit/innocence.h"
#include "metrics/point_fold.h"
#include "run/run.h"
#include "sim/fixed_engine.h"
#include "sim/sim_target.h"

namespace assay {
namespace {

PhasePlan drawn_phase(Rng& rng) {
  PhasePlan phase{
      .kind = PhaseKind::performance, .name = "performance", .order = SampleOrder::sequential(8)};
  phase.open_loop = rng.below(2) == 0;
  if (phase.open_loop) {
    const double gap = 0.0005 + 0.01 * rng.uniform();
    double at = 0;
    for (int i = 0; i < 300; ++i) {
      at += rng.exponential(gap);
      phase.arrivals.push_back(Duration::from_seconds(at));
    }
  } else {
    phase.limits[0].in_flight_max = 1 + static_cast<std::uint32_t>(rng.below(64));
    phase.stop.queries_max = 300;
  }
  return phase;
}

TEST(Innocence, a_hundred_innocent_runs_are_called_innocent) {
  int open_loops = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Rng rng(seed);
    const Plan plan{.phases = {drawn_phase(rng)}};
    open_loops += plan.phases[0].open_loop ? 1 : 0;
    // From an instant server to one that serves two queries at a time, 50 ms each.
    sim::FixedEngineOptions server{.seed = seed};
    if (rng.below(2) == 0) server.running_max = 2;
    server.ttft = sim::Delay::fixed(Duration{static_cast<std::int64_t>(rng.below(50'000'000))});
    server.itl = sim::Delay::fixed(Duration{static_cast<std::int64_t>(rng.below(2'000'000))});
    sim::FixedEngine engine(server);
    SimClock clock;
    const sim::AskOf ask = [](const Query&) {
      return sim::Request{.prompt_tokens = 10, .output_tokens = 8};
    };
    sim::SimTarget target(engine, clock, ask, {.seed = seed});
    RunInfo info;
    info.phases = {{PhaseKind::performance, "performance", plan.phases[0].open_loop}};
    metrics::PointFold fold(info);
    const run::RunResult result = run::run(plan, clock, target, fold, run::Control{});
    const metrics::Point point = fold.finish({RunState::complete, ""});
    ASSERT_EQ(point.counts.completed, 300U) << seed;
    ClientAudit audit{.wall = clock.now() - Instant{}};
    audit.threads = {{.loop = result.loop_lag, .send = result.send_lag}};
    const audit::Innocence verdict = audit::judge_client(audit, point, {});
    EXPECT_EQ(verdict.client_limited, audit::ClientLimited::no)
        << "seed " << seed << ": " << verdict.reasons.front().what;
  }
  EXPECT_GT(open_loops, 20);
}

}  // namespace
}  // namespace assay
