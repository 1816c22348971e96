// A measuring thread of measure(): its share of the plan with its own clock, target, logs and live
// figures, made and connected before the start, and then run. Threads share nothing but the bytes
// of the requests. For measure.cc and measure_end.h.
#pragma once

#include <barrier>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "campaign/artefact_writer.h"
#include "campaign/measure.h"
#include "metrics/live.h"
#include "metrics/steady_watch.h"
#include "plug/plug_target.h"
#include "protocol/http_target.h"
#include "record/event_log.h"
#include "run/run.h"

namespace assay::campaign {

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
  LatencySetting realtime{};
  std::uint64_t opened_ahead = 0;

  Target& target() {
    if (program != nullptr) return *program;
    return *http;
  }
  protocol::TransportStats stats() const {
    return http != nullptr ? http->stats() : protocol::TransportStats{};
  }
};

using Shards = std::vector<std::unique_ptr<Shard>>;

// The measuring threads of all ranks.
std::uint32_t shards_of_run(const MeasureOptions& options);

// Fails where queries must wait for one another and more than one thread would send them.
Result<void> check_threads(const Plan& plan, const MeasureOptions& options);

Result<std::unique_ptr<Shard>> make_shard(const plan::PlanBundle& bundle,
                                          std::shared_ptr<const protocol::PreparedBodies> bodies,
                                          const MeasureOptions& options, MemoryBudget& memory,
                                          ArtefactWriter* artefacts, std::uint32_t index);

// One log, or one for each endpoint: `log` says which.
Result<void> open_log(Shard& shard, const RunLog& log, const plan::PlanBundle& bundle,
                      const MeasureOptions& options, std::uint32_t index);

// The thread's work, from the common start to the end of its plan.
void run_shard(Shard& shard, const MeasureOptions& options, std::uint32_t index,
               metrics::SteadyWatch* steady, Instant start_at, std::barrier<>& start,
               run::Control& control, run::Guard& guard);

}  // namespace assay::campaign
