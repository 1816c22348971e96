// measure(): a plan, an endpoint and a folder in; the recorded events and the client's own figures
// out. The wiring of OsClock, HttpTarget, EventLogWriter and Live around run::run, one set a
// measuring thread, sharing nothing. `run`, `curve` and `calibrate` all measure through it.
//
// Blocks until the run has ended. `control` may be asked to stop from a signal handler.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "domain/client_audit.h"
#include "domain/run_info.h"
#include "metrics/live.h"
#include "plan/make_plan.h"
#include "protocol/http_target.h"
#include "run/run.h"

namespace assay::campaign {

struct RunLog {
  std::filesystem::path folder{};  // where events-N.alog go; made when missing
  RunInfo info{};                  // shard_index and shard_count are filled in
};

struct MeasureOptions {
  RunLog log{};  // queries are named with its run_key
  // Of a plan whose phases ask one of two endpoints each: what the second is asked goes there.
  std::optional<RunLog> second{};
  std::vector<std::uint16_t> endpoint_of_phase{};  // then: 0 the first, 1 the second
  // The bundle's own datasets, where nobody wants the samples' texts once the requests are made.
  std::vector<PlannedDataset>* spent = nullptr;
  std::uint32_t threads = 1;
  bool pin = false;   // each measuring thread to a core of its own
  bool spin = false;  // never sleep before a send
  bool kernel_stamps = true;
  std::string ca_file{};
  int zstd_level = 0;
  LatencyWishes wishes{};
  bool stop_on_full_disk = true;  // else the load goes on, and the rest of it is not recorded
  // Called once, when all is ready and before the first query; what it returns lives until the
  // run's end. For the live block: the snapshot may be taken from any thread.
  std::function<std::shared_ptr<void>(std::function<metrics::LiveSnapshot()>)> watch{};
};

struct Measurement {
  RunEnd end{};
  std::vector<run::RunResult> shards{};
  ClientAudit audit{};
  std::string tls_version{};
};

Result<Measurement> measure(const plan::PlanBundle& bundle, const MeasureOptions& options,
                            run::Control& control);

}  // namespace assay::campaign
