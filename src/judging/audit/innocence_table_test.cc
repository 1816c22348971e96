// The verdict on the client over drawn audits, each figure near its limits.
#include <gtest/gtest.h>

#include "audit/innocence.h"
#include "base/format.h"
#include "base/testing_drawn.h"
#include "base/testing_golden.h"

namespace assay::audit {
namespace {

class DrawnAudit : Drawn {
 public:
  using Drawn::Drawn;

  ClientAudit audit() {
    ClientAudit out;
    out.wall = pick<Duration>({99_ms, 1_s, 10_s, 10_s});
    out.cores = static_cast<int>(rng_.below(3)) * 2;
    out.foreign_cpu = pick<double>({-1, 0.2, 1.5, 3.2});
    const std::uint64_t threads = 1 + rng_.below(2);
    for (std::uint32_t i = 0; i < threads; ++i) out.threads.push_back(thread(i, out.wall));
    out.stolen = one_in(3) ? share(out.wall, {0.0005, 0.002, 0.004, 0.05}) : Duration{-1};
    out.throttled = one_in(3) ? share(out.wall, {0.0009, 0.001, 0.0099, 0.01}) : Duration{-1};
    out.throttled_periods = rng_.below(4);
    out.connections_max = 64;
    out.connections_peak = one_in(3) ? 64 : 63;
    out.queued_for_connection = pick<std::uint64_t>({0, 0, 9, 10, 11});
    if (one_in(10)) out.lost_records = 1 + rng_.below(9);
    return out;
  }

  metrics::Point point() {
    metrics::Point out;
    out.counts.issued = one_in(12) ? 0 : 1000;
    out.counts.completed = one_in(8) ? 0 : out.counts.issued;
    out.end.out_of_space = one_in(2);
    if (one_in(2)) {
      out.read_delay.count = 9;
      out.read_delay.percentiles.fill(pick<double>({4.9e6, 5e6, 49e6, 50e6}));
    }
    for (metrics::Distribution* const series :
         {&out.arrival.ttft, &out.arrival.tpot, &out.arrival.itl, &out.arrival.latency}) {
      if (!one_in(4)) continue;
      series->count = 9;
      metrics::Limits limits;
      for (std::size_t i = 0; i < series->percentiles.size(); ++i) {
        const double value = 1e6 * static_cast<double>(1 + rng_.below(50));
        const double width = pick<double>({0, 2e5, 2.1e5, 0.04 * value, 0.06 * value, 0.3 * value});
        series->percentiles[i] = value;
        limits.percentiles[i] = {value - width, value};
      }
      series->limits = limits;
    }
    return out;
  }

  JudgeOptions options() { return {.all_at_once = one_in(3), .spinning = one_in(3)}; }

 private:
  Duration share(Duration wall, const std::vector<double>& shares) {
    return Duration{static_cast<std::int64_t>(static_cast<double>(wall.ns) * pick(shares))};
  }

  ThreadFigures thread(std::uint32_t shard, Duration wall) {
    ThreadFigures out;
    out.shard = shard;
    out.cpu_share = pick<double>({-1, 0.5, 0.9, 0.91});
    if (one_in(3)) out.run_queue_delay = share(wall, {0, 0.049, 0.05, 0.199, 0.2});
    if (one_in(4)) out.interrupted_for = share(wall, {0.0009, 0.001, 0.5});
    out.waits_interrupted = rng_.below(5);
    for (LagFigures* const lag : {&out.loop, &out.send}) {
      lag->p99 = pick<Duration>({10_us, 999_us, 1_ms, 4_ms, 5_ms});
      lag->max = lag->p99 * 3;
      lag->holdups = static_cast<std::int64_t>(rng_.below(3));
      if (!one_in(4)) continue;
      lag->stalls = rng_.below(3);
      lag->stalled = share(wall, {0, 0.0009, 0.001, 0.0099, 0.01});
    }
    return out;
  }
};

TEST(InnocenceTable, the_verdicts_over_drawn_audits_are_those_that_were_read) {
  std::string table;
  for (std::uint64_t seed = 1; seed <= 90; ++seed) {
    DrawnAudit drawn(seed);
    const ClientAudit audit = drawn.audit();
    const JudgeOptions options = drawn.options();
    const metrics::Point point = drawn.point();
    const Innocence found = judge_client(audit, point, options);
    table += format("{}: {}\n", seed, to_string(found.client_limited));
    for (const InnocenceReason& reason : found.reasons) {
      table += format("  {}: {}; {}\n", to_string(reason.weight), reason.what, reason.advice);
    }
  }
  expect_golden("audit/innocence.txt", table);
}

}  // namespace
}  // namespace assay::audit
