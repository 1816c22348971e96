#include "campaign/measure.h"

#include <malloc.h>

#include <algorithm>
#include <barrier>
#include <deque>
#include <memory>
#include <optional>
#include <thread>

#include "base/check.h"
#include "base/files.h"
#include "base/format.h"
#include "base/mutex.h"
#include "base/space_reserve.h"
#include "base/text.h"
#include "domain/tee.h"
#include "host/core_order.h"
#include "host/machine_memory.h"
#include "host/self_audit.h"
#include "metrics/steady_watch.h"
#include "plug/plug_target.h"
#include "record/event_log.h"
#include "run/by_endpoint.h"

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

// The measuring threads of all ranks.
std::uint32_t shards_of_run(const MeasureOptions& options) {
  return options.threads * options.ranks;
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

// The objects of one measuring thread.
struct Shard {
  explicit Shard(bool spin) : clock(spin ? Duration::max() : OsClock().spin_window()) {}

  Plan plan{};
  OsClock clock;
  // One of the two.
  std::unique_ptr<protocol::HttpTarget> http{};
  std::unique_ptr<plug::PlugTarget> program{};
  std::vector<std::unique_ptr<record::EventLogWriter>> logs{};  // one, or one for each endpoint
  std::unique_ptr<metrics::Live> live{};
  run::RunResult result{};
  ThreadFigures figures{};
  LatencySetting slice{};
  std::uint64_t opened_ahead = 0;
  Result<void> closed{};

  Target& target() {
    if (program != nullptr) return *program;
    return *http;
  }
  protocol::TransportStats stats() const {
    return http != nullptr ? http->stats() : protocol::TransportStats{};
  }
};

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

std::unique_ptr<Shard> shard_with_live(std::unique_ptr<Shard> shard,
                                       const plan::PlanBundle& bundle) {
  const bool streamed = bundle.datasets.empty() || bundle.datasets[0].generation.stream;
  shard->live = std::make_unique<metrics::Live>(shard->plan, streamed);
  return shard;
}

Result<std::unique_ptr<Shard>> make_shard(const plan::PlanBundle& bundle,
                                          std::shared_ptr<const protocol::PreparedBodies> bodies,
                                          const MeasureOptions& options, MemoryBudget& memory,
                                          ArtefactWriter* artefacts, std::uint32_t index) {
  auto shard = std::make_unique<Shard>(options.spin);
  const std::uint32_t shards = shards_of_run(options);
  shard->plan = assay::shard(bundle.plan, options.rank * options.threads + index, shards);
  const std::uint32_t connections_max = bundle.endpoints.connections_max;
  if (plug::is_program(bundle.endpoints)) {
    ASSIGN_OR_RETURN(shard->program,
                     plug::PlugTarget::create(shard->plan, std::move(bodies), bundle.endpoints,
                                              {.run_key = options.log.info.run_key}, shard->clock));
    return shard_with_live(std::move(shard), bundle);
  }
  ASSIGN_OR_RETURN(
      shard->http,
      protocol::HttpTarget::create(
          shard->plan, std::move(bodies), bundle.endpoints,
          {.run_key = options.log.info.run_key,
           .kernel_stamps = options.kernel_stamps,
           .connections_max = connections_max == 0 ? 0 : std::max(1U, connections_max / shards),
           .memory = &memory,
           .ca_file = options.ca_file,
           .artefacts = artefacts == nullptr ? nullptr : &artefacts->queue(),
           .endpoint_of_phase = options.endpoint_of_phase},
          shard->clock));
  return shard_with_live(std::move(shard), bundle);
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

Result<void> open_log(Shard& shard, const RunLog& log, const plan::PlanBundle& bundle,
                      const MeasureOptions& options, std::uint32_t index) {
  RunInfo info = log.info;
  info.shard_index = options.rank * options.threads + index;
  info.shard_count = shards_of_run(options);
  ASSIGN_OR_RETURN(auto writer, record::EventLogWriter::create(
                                    log.folder / format("events-{}.alog", info.shard_index), info,
                                    {.texts = bundle.confidential ? record::Texts::none
                                              : bundle.keep_text  ? record::Texts::all
                                                                  : record::Texts::accuracy,
                                     .details = !bundle.confidential,
                                     .zstd_level = options.zstd_level}));
  shard.logs.push_back(std::move(writer));
  return {};
}

// What holds queries back: a suite's groups in turn, and the barriers of each phase.
std::vector<run::InTurnRule> rules_of(const Plan& plan, const MeasureOptions& options) {
  std::vector<run::InTurnRule> out;
  if (options.in_turn.asks()) out.push_back(options.in_turn);
  for (std::size_t i = 0; i < plan.phases.size(); ++i) {
    if (plan.phases[i].barriers.empty()) continue;
    out.push_back({.phase = static_cast<std::uint16_t>(i), .barriers = plan.phases[i].barriers});
  }
  return out;
}

Result<void> check_threads(const Plan& plan, const MeasureOptions& options) {
  if (shards_of_run(options) == 1 || rules_of(plan, options).empty()) return {};
  return invalid(
      "--threads: the data set's groups are answered one after the other, which one thread of one "
      "host keeps; give --threads 1 and --rank none");
}

void run_shard(Shard& shard, const MeasureOptions& options, std::uint32_t index,
               metrics::SteadyWatch* steady, Instant start_at, std::barrier<>& start,
               run::Control& control, run::Guard& guard) {
  shard.figures.shard = options.rank * options.threads + index;
  if (options.pin) {
    const std::vector<int> cores = host::in_order_of_use(usable_cores());
    const int core = cores.empty() ? -1 : cores[index % cores.size()];
    if (core >= 0 && pin_to_core(core)) shard.figures.core = core;
  }
  EventSink* log = shard.logs.front().get();
  if (options.wishes.short_slice) shard.slice = ask_short_slice();
  std::optional<run::ByEndpoint> sides;
  if (options.second) {
    log = &sides.emplace(options.endpoint_of_phase,
                         std::vector<EventSink*>{shard.logs[0].get(), shard.logs[1].get()});
  }
  Tee sink({log, shard.live.get(), steady, options.also});
  std::deque<run::InTurn> in_turn;
  Target* target = &shard.target();
  for (const run::InTurnRule& rule : rules_of(shard.plan, options)) {
    target = &in_turn.emplace_back(*target, shard.clock, rule);
  }
  start.arrive_and_wait();
  if (start_at.known()) shard.clock.sleep_until(start_at);
  const host::ThreadWatch watch;
  shard.result = run::run(shard.plan, shard.clock, *target, sink, control, &guard);
  watch.finish(shard.figures);
  const protocol::TransportStats stats = shard.stats();
  shard.figures.waits_interrupted = stats.waits_interrupted;
  shard.figures.interrupted_for = stats.interrupted_for;
  shard.figures.loop = shard.result.loop_lag;
  shard.figures.send = shard.result.send_lag;
}

// The live view's detector; the report uses the log. Only if the log defines a super-pass.
std::unique_ptr<metrics::SteadyWatch> steady_watch_of(const Plan& plan,
                                                      const MeasureOptions& options) {
  if (!options.watch || options.second) return nullptr;
  metrics::SteadyOptions wanted = metrics::steady_options(options.log.info.facts);
  if (wanted.super_pass == 0) return nullptr;
  return std::make_unique<metrics::SteadyWatch>(plan, std::move(wanted));
}

using Shards = std::vector<std::unique_ptr<Shard>>;

// The first log with a failed write; nullptr if there is none.
const record::EventLogWriter* failed_log(const Shards& shards) {
  for (const auto& shard : shards) {
    for (const auto& log : shard->logs) {
      if (log->health().failed) return log.get();
    }
  }
  return nullptr;
}

std::uint64_t lost_records(const Shards& shards) {
  std::uint64_t lost = 0;
  for (const auto& shard : shards) {
    for (const auto& log : shard->logs) lost += log->health().lost_records;
  }
  return lost;
}

std::string disk_trouble(const Shards& shards, bool stops) {
  const record::EventLogWriter* const failed = failed_log(shards);
  if (failed == nullptr) return {};
  return format("the disk takes no more ({}); {} records are lost; the load {}", failed->error(),
                with_thousands(static_cast<std::int64_t>(lost_records(shards))),
                stops ? "is being stopped" : "goes on without a record");
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

// Observations of the waiting thread during the measurement.
struct Watched {
  bool out_of_time = false;
  std::optional<Instant> disk_full{};
};

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

RunEnd end_of(const Shards& shards, const run::Guard& guard, bool out_of_time) {
  if (!guard.reason().empty()) return {RunState::interrupted, guard.reason()};
  for (const auto& shard : shards) {
    if (shard->result.target_dead) {
      return {RunState::interrupted, "the endpoint sent nothing any more"};
    }
    if (shard->result.interrupted) {
      return {RunState::interrupted, out_of_time ? "the run's time limit" : "asked to stop"};
    }
  }
  return {RunState::complete, ""};
}

// The run's end record after a full disk, whatever else ended the run.
RunEnd disk_end(const ClientAudit& audit, bool stops) {
  return {RunState::interrupted,
          format("the disk took no more, {} after the start ({}); the load {}",
                 human_duration(audit.disk_full_at), audit.disk_error,
                 stops ? "was stopped" : "went on without a record"),
          true};
}

void add_transport(const protocol::TransportStats& stats, std::uint64_t opened_ahead,
                   ClientAudit& audit) {
  audit.connections_opened += stats.connections_opened;
  audit.connections_inside += stats.connections_opened - opened_ahead;
  audit.connections_failed += stats.connections_failed;
  audit.queued_for_connection += stats.queued_for_connection;
  audit.queries_sent_again += stats.queries_sent_again;
  audit.queries_unprocessed += stats.queries_unprocessed;
  audit.requests_made_late += stats.requests_made_late;
  audit.connections_peak += stats.connections_peak;
  audit.connections_max += stats.connections_max;
  audit.retransmits += stats.retransmits;
  audit.reads += stats.reads;
  audit.reads_stamped += stats.reads_stamped;
  audit.stamp_error_max = std::max(audit.stamp_error_max, stats.stamp_error_max);
  audit.stamp_slew_max = std::max(audit.stamp_slew_max, stats.stamp_slew_max);
}

// Writes each log's end if possible. Blocks still in memory go first, because they may be the ones
// that the disk has no room for.
void close_logs(const Shards& shards, Watched watched, Instant began, const OsClock& clock,
                const MeasureOptions& options, Measurement& out) {
  for (const auto& shard : shards) {
    for (const auto& log : shard->logs) log->settle();
  }
  if (const record::EventLogWriter* const failed = failed_log(shards)) {
    out.audit.disk_full_at = watched.disk_full.value_or(clock.now()) - began;
    out.audit.disk_error = failed->error();
    out.end = disk_end(out.audit, options.stop_on_full_disk);
  }
  for (const auto& shard : shards) {
    for (const auto& log : shard->logs) {
      const Result<void> closed = log->close(out.end);
      if (closed || out.end.out_of_space) continue;
      out.audit.disk_full_at = clock.now() - began;
      out.audit.disk_error = closed.error().message;
      out.end = disk_end(out.audit, options.stop_on_full_disk);
    }
  }
  out.audit.lost_records = lost_records(shards);
}

// Moves the threads' results and figures to the whole measurement's.
void gather(Shards& shards, Measurement& out) {
  for (auto& shard : shards) {
    out.audit.threads.push_back(shard->figures);
    out.audit.backed_off = std::max(out.audit.backed_off, shard->result.backed_off);
    out.audit.backoffs = std::max(out.audit.backoffs, shard->result.backoffs);
    const protocol::TransportStats stats = shard->stats();
    add_transport(stats, shard->opened_ahead, out.audit);
    if (!stats.tls_version.empty()) out.tls_version = stats.tls_version;
    out.shards.push_back(std::move(shard->result));
  }
}

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

void get_ahead(const Shards& shards) {
  const Instant limit = OsClock().now() + kGetAheadMax;
  for (const auto& shard : shards) {
    if (shard->http != nullptr) shard->http->get_ahead(shard->clock, limit);
  }
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
  out.audit.memory_bytes_max = memory.bytes_max();
  out.audit.memory_bytes_peak = memory.peak();
  for (SpaceReserve& held : reserves) held.release();
  close_logs(shards, watched, began, clock, options, out);
  if (artefacts) out.artefacts = artefacts->finish();
  gather(shards, out);
  return out;
}

}  // namespace assay::campaign
