#include "campaign/measuring_thread.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "base/format.h"
#include "domain/tee.h"
#include "host/core_order.h"
#include "host/self_audit.h"
#include "run/by_endpoint.h"
#include "run/in_turn.h"

namespace assay::campaign {
namespace {

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

std::unique_ptr<Shard> shard_with_live(std::unique_ptr<Shard> shard,
                                       const plan::PlanBundle& bundle) {
  const bool streamed = bundle.datasets.empty() || bundle.datasets[0].generation.stream;
  shard->live = std::make_unique<metrics::Live>(shard->plan, streamed);
  return shard;
}

}  // namespace

std::uint32_t shards_of_run(const MeasureOptions& options) {
  return options.threads * options.ranks;
}

Result<void> check_threads(const Plan& plan, const MeasureOptions& options) {
  if (shards_of_run(options) == 1 || rules_of(plan, options).empty()) return {};
  return invalid(
      "--threads: the data set's groups are answered one after the other, which one thread of one "
      "host keeps; give --threads 1 and --rank none");
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
  if (options.wishes.realtime) shard.realtime = ask_realtime();
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

}  // namespace assay::campaign
