// measure() takes a plan, an endpoint and a folder, and gives the recorded events and the client's
// own figures. It wires OsClock, HttpTarget, EventLogWriter and Live around run::run, one set for
// each measuring thread; the sets share nothing. `run`, `curve` and `calibrate` all measure through
// it.
//
// Blocks until the run has ended. A signal handler may ask `control` to stop.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "campaign/artefact_writer.h"
#include "domain/client_audit.h"
#include "domain/run_info.h"
#include "metrics/live.h"
#include "plan/make_plan.h"
#include "protocol/http_target.h"
#include "run/in_turn.h"
#include "run/run.h"

namespace assay::campaign {

struct RunLog {
  std::filesystem::path folder{};  // where events-N.alog go; made when missing
  RunInfo info{};                  // shard_index and shard_count are filled in here
};

struct MeasureOptions {
  RunLog log{};  // its run_key names the queries
  // The second endpoint's log, for a plan whose phases use one of two endpoints each.
  std::optional<RunLog> second{};
  std::vector<std::uint16_t> endpoint_of_phase{};  // with `second`: 0 the first, 1 the second
  // The bundle's own datasets, if their texts may be freed once the requests are made.
  std::vector<PlannedDataset>* spent = nullptr;
  run::InTurnRule in_turn{};  // with a group: one thread
  std::uint32_t threads = 1;
  // This process's part of a run of several hosts. start_together() is called when all is ready; it
  // returns the common start in this host's time, or why there is none.
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
  std::function<Result<Instant>()> start_together{};
  bool pin = false;   // pin each measuring thread to its own core
  bool spin = false;  // never sleep before a send
  bool kernel_stamps = true;
  std::string ca_file{};
  int zstd_level = 0;
  // Hears the events too, from each measuring thread: it must not allocate, lock or wait.
  EventSink* also = nullptr;
  LatencyWishes wishes{};
  std::filesystem::path artefacts{};  // the run folder that keeps them; "": none are kept
  bool stop_on_full_disk = true;      // false: the load continues, unrecorded
  // Called once, when all is ready and before the first query; the returned object lives until the
  // run's end. For the live block: any thread may take the snapshot.
  std::function<std::shared_ptr<void>(std::function<metrics::LiveSnapshot()>)> watch{};
};

struct Measurement {
  RunEnd end{};
  std::vector<run::RunResult> shards{};
  ClientAudit audit{};
  std::string tls_version{};
  ArtefactTally artefacts{};
};

Result<Measurement> measure(const plan::PlanBundle& bundle, const MeasureOptions& options,
                            run::Control& control);

}  // namespace assay::campaign
