// The walk of a run: measure() makes and connects its threads (measuring_thread.h), opens their
// logs, lets them run (run/run.h) while watch_over() waits, and closes and gathers (measure_end.h).
// The steps stand here in that order, measure() below them.
#include "campaign/measure.h"

#include <malloc.h>

#include <algorithm>
#include <barrier>
#include <memory>
#include <thread>

#include "base/check.h"
#include "base/files.h"
#include "base/mutex.h"
#include "base/space_reserve.h"
#include "campaign/measure_end.h"
#include "campaign/measuring_thread.h"
#include "host/machine_memory.h"
#include "host/self_audit.h"

namespace assay::campaign {
namespace {

// The most connections opened before the start; an open loop's real number is unknown then.
constexpr std::uint32_t kAheadMax = 256;
// The longest wait before the start for requests that are built during the run.
constexpr Duration kGetAheadMax = 100_ms;
// How often the waiting thread checks the whole run's time limit and the disk.
constexpr Duration kLook = 50_ms;
// Space reserved on the run folder's disk while the log grows: for the logs' ends, the client's own
// figures, and the report.
constexpr std::uint64_t kReserveBytes = std::uint64_t{2} << 20;

// Reserves space, once for each folder with a log.
Result<std::vector<SpaceReserve>> hold_room(const MeasureOptions& options) {
  std::vector<SpaceReserve> out;
  TRY(make_folders(options.log.folder));
  ASSIGN_OR_RETURN(SpaceReserve first, SpaceReserve::hold(options.log.folder, kReserveBytes));
  out.push_back(std::move(first));
  if (!options.second) return out;
  TRY(make_folders(options.second->folder));
  ASSIGN_OR_RETURN(SpaceReserve second, SpaceReserve::hold(options.second->folder, kReserveBytes));
  out.push_back(std::move(second));
  return out;
}

// Makes the allocator return a large reply's memory to the system when it is freed. Otherwise heap
// fragmentation adds up to half of the replies' size.
void give_memory_back_at_once() {
#ifdef M_MMAP_THRESHOLD
  constexpr int kLarge = 1 << 20;
  ::mallopt(M_MMAP_THRESHOLD, kLarge);
  ::mallopt(M_TRIM_THRESHOLD, 2 * kLarge);
#endif
}

// Null where none are kept.
Result<std::unique_ptr<ArtefactWriter>> open_artefacts(const Plan& plan,
                                                       const MeasureOptions& options,
                                                       MemoryBudget& memory) {
  if (options.artefacts.empty()) return std::unique_ptr<ArtefactWriter>();
  std::vector<bool> counted;
  for (const PhasePlan& phase : plan.phases) counted.push_back(is_counted(phase.kind));
  return ArtefactWriter::open(options.artefacts, std::move(counted), memory);
}

// The most connections that the plan needs at once, over all phases.
std::uint32_t connections_wanted(const Plan& plan) {
  std::uint32_t wanted = 1;
  for (const PhasePlan& phase : plan.phases) {
    for (const LimitStep& step : phase.limits) {
      if (step.in_flight_max != std::numeric_limits<std::uint32_t>::max()) {
        wanted = std::max(wanted, step.in_flight_max);
      } else {
        const std::uint64_t queries = std::min<std::uint64_t>(
            phase.stop.queries_max, phase.open_loop || !phase.loops.empty()
                                        ? phase.arrivals.size() + users_of(phase)
                                        : kAheadMax);
        wanted = std::max(wanted,
                          static_cast<std::uint32_t>(std::min<std::uint64_t>(queries, kAheadMax)));
      }
    }
  }
  return wanted;
}

// All threads send views of the same bytes.
Result<std::shared_ptr<const protocol::PreparedBodies>> make_bodies(const plan::PlanBundle& bundle,
                                                                    const MeasureOptions& options) {
  using protocol::PreparedBodies;
  const Endpoints endpoints = plug::without_programs(bundle.endpoints);
  CHECK(options.spent == nullptr || options.spent == &bundle.datasets);
  ASSIGN_OR_RETURN(PreparedBodies made,
                   options.spent == nullptr
                       ? PreparedBodies::make(bundle.plan, bundle.datasets, endpoints)
                       : PreparedBodies::take(bundle.plan, *options.spent, endpoints));
  return std::make_shared<const PreparedBodies>(std::move(made));
}

void get_ahead(const Shards& shards) {
  const Instant limit = OsClock().now() + kGetAheadMax;
  for (const auto& shard : shards) {
    if (shard->http != nullptr) shard->http->get_ahead(shard->clock, limit);
  }
}

// The live view's detector; the report uses the log. Only if the log defines a super-pass.
std::unique_ptr<metrics::SteadyWatch> steady_watch_of(const Plan& plan,
                                                      const MeasureOptions& options) {
  if (!options.watch || options.second) return nullptr;
  metrics::SteadyOptions wanted = metrics::steady_options(options.log.info.facts);
  if (wanted.super_pass == 0) return nullptr;
  return std::make_unique<metrics::SteadyWatch>(plan, std::move(wanted));
}

metrics::LiveSnapshot snapshot_of(const Shards& shards, metrics::SteadyWatch* steady,
                                  const MeasureOptions& options, Instant now) {
  std::vector<const metrics::Live*> lives;
  for (const auto& shard : shards) lives.push_back(shard->live.get());
  metrics::LiveSnapshot out = live_snapshot(lives, now);
  const bool measured = out.kind == PhaseKind::performance && !out.phase.empty();
  if (steady != nullptr && measured) out.steady = steady->words();
  out.trouble = disk_trouble(shards, options.stop_on_full_disk);
  return out;
}

// This rank's part of the run's limits. No rank hears of another's failures and costs, so each
// keeps to its part, and together they keep to the whole.
GuardRule guard_of_rank(const GuardRule& whole, std::uint32_t ranks) {
  GuardRule out = whole;
  constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
  if (whole.failures_max != kNone) out.failures_max = whole.failures_max / ranks;
  if (whole.tokens_max != kNone) out.tokens_max = whole.tokens_max / ranks;
  out.cost_max = whole.cost_max / ranks;
  return out;
}

// The measuring threads that are still running.
struct Running {
  Mutex mutex{};
  Condition ended{};
  std::uint32_t threads = 0;
};

// Returns when the run has ended. Stops it when its time is over, and on a full disk unless it
// should continue. Queries in flight on a full disk are not awaited, because they can't be
// recorded.
Watched watch_over(const Shards& shards, Duration run_max, bool stops, Running& running,
                   run::Control& control) {
  Watched out;
  const OsClock clock;
  const Instant began = clock.now();
  Lock lock(running.mutex);
  while (running.threads > 0) {
    running.ended.wait_for(lock, kLook);
    const Instant now = clock.now();
    if (!out.disk_full && failed_log(shards) != nullptr) {
      out.disk_full = now;
      if (stops) control.stop_now();
    }
    if (!out.out_of_time && running.threads > 0 && now - began >= run_max) {
      out.out_of_time = true;
      control.stop_now();
    }
  }
  return out;
}

}  // namespace

Result<Measurement> measure(const plan::PlanBundle& bundle, const MeasureOptions& options,
                            run::Control& control) {
  CHECK(options.in_turn.group == 0 || options.threads == 1);
  TRY(check_threads(bundle.plan, options));
  ASSIGN_OR_RETURN(std::vector<SpaceReserve> reserves, hold_room(options));
  const LatencyProfile profile(options.wishes);
  give_memory_back_at_once();
  MemoryBudget memory(plan::memory_bytes(bundle.memory, host::usable_memory("/")));
  ASSIGN_OR_RETURN(const auto artefacts, open_artefacts(bundle.plan, options, memory));
  Shards shards;
  // connect_ahead() spreads connections over the endpoints; in turns each endpoint needs all of
  // them.
  const std::uint32_t ahead = connections_wanted(bundle.plan) * (options.second ? 2 : 1);
  const std::uint32_t total = shards_of_run(options);
  ASSIGN_OR_RETURN(const auto bodies, make_bodies(bundle, options));
  for (std::uint32_t i = 0; i < options.threads; ++i) {
    ASSIGN_OR_RETURN(auto shard, make_shard(bundle, bodies, options, memory, artefacts.get(), i));
    if (shard->http != nullptr) TRY(shard->http->connect_ahead((ahead + total - 1) / total));
    shard->opened_ahead = shard->stats().connections_opened;
    shards.push_back(std::move(shard));
  }
  get_ahead(shards);
  Instant start_at = Instant::none();
  if (options.start_together) {
    ASSIGN_OR_RETURN(start_at, options.start_together());
  }
  // Only now, so that an unreachable endpoint, or a missing rank, leaves no log of a run.
  for (std::uint32_t i = 0; i < options.threads; ++i) {
    TRY(open_log(*shards[i], options.log, bundle, options, i));
    if (options.second) TRY(open_log(*shards[i], *options.second, bundle, options, i));
  }
  const OsClock clock;
  const auto steady = steady_watch_of(bundle.plan, options);
  std::shared_ptr<void> watcher;
  if (options.watch) {
    watcher =
        options.watch([&] { return snapshot_of(shards, steady.get(), options, clock.now()); });
  }
  const bool all_taken = options.threads >= usable_cores().size();
  host::SelfAudit audit(all_taken ? host::SelfAudit::Canary::no : host::SelfAudit::Canary::yes);
  run::Guard guard(guard_of_rank(bundle.plan.guard, options.ranks), options.threads,
                   options.rank * options.threads);
  Running running{.threads = options.threads};
  std::barrier<> start(static_cast<std::ptrdiff_t>(options.threads));
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < options.threads; ++i) {
    threads.emplace_back([&, i] {
      run_shard(*shards[i], options, i, steady.get(), start_at, start, control, guard);
      const Lock lock(running.mutex);
      --running.threads;
      running.ended.notify_all();
    });
  }
  const Instant began = clock.now();
  Watched watched = watch_over(shards, bundle.run_max, options.stop_on_full_disk, running, control);
  for (std::thread& thread : threads) thread.join();

  Measurement out{.end = end_of(shards, guard, watched.out_of_time)};
  audit.stop(out.audit);
  watcher.reset();
  out.audit.settings = profile.settings();
  if (options.wishes.short_slice) out.audit.settings.push_back(shards.front()->slice);
  if (options.wishes.realtime) out.audit.settings.push_back(shards.front()->realtime);
  out.audit.memory_bytes_max = memory.bytes_max();
  out.audit.memory_bytes_peak = memory.peak();
  for (SpaceReserve& held : reserves) held.release();
  close_logs(shards, watched, began, clock, options, out);
  if (artefacts) out.artefacts = artefacts->finish();
  gather(shards, out);
  return out;
}

}  // namespace assay::campaign
