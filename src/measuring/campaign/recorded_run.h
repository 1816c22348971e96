// Records one run from a plan, for `run` and for each point of `curve`: the client's settings, the
// facts in the log before its first event, and the measurement into a run folder (run_folder.h),
// with derived files and manifest.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/exit_code.h"
#include "base/result.h"
#include "campaign/measure.h"
#include "campaign/preflight.h"
#include "campaign/run_folder.h"
#include "plan/config.h"
#include "plan/interleave.h"
#include "plan/make_plan.h"
#include "ranks/session.h"
#include "run/run.h"

namespace assay::campaign {

struct ClientOptions {
  std::uint64_t threads = 1;
  bool pin = false;
  bool spin = false;
  bool realtime = false;
  bool no_kernel_timestamps = false;
  std::string ca_file{};
  bool allow_client_limited = false;
  bool allow_code = false;
  bool require_accuracy = false;

  Result<void> check() const;
};

struct RecordedRun {
  LoadedRun run{};
  Measurement measured{};
  // Files of the folder that a full disk prevented; "" if complete.
  std::string unwritten{};
  std::vector<std::string> notes{};  // for a person: calls of the profiler that failed
  // Ranks of a run of several hosts that died: on rank 0 all of them, elsewhere only rank 0.
  std::vector<ranks::LostRank> lost{};
};

// Shows a run during the measurement; nullptr shows nothing. `facts` are those of the log.
using LiveView = std::function<std::shared_ptr<void>(
    const Json& facts, std::function<metrics::LiveSnapshot()> snapshot)>;

struct RunRequest {
  const plan::Config* config = nullptr;
  // Fields that the endpoint refuses are removed from its requests.
  plan::PlanBundle* bundle = nullptr;
  // For a command with several runs: the first one sends the test query. nullptr: each run sends
  // one.
  Preflight* preflight = nullptr;
  // The bundle's datasets, if no caller needs them after this run: their texts are freed once the
  // requests are made, unless a step after the run reads them.
  std::vector<PlannedDataset>* spent = nullptr;
  std::filesystem::path folder{};      // REQUIRES: holds no run yet
  Json facts{};                        // more facts for the log: an object, or null
  EventSink* also = nullptr;           // hears the events too (measure.h)
  run::InTurnRule in_turn{};           // of a suite's test that asks in groups
  std::vector<std::string> command{};  // for the manifest; secrets are removed
  // This process's place in a run of several hosts. Its folder then has its share only, and
  // merge_ranks.h makes the run of all of them.
  std::optional<ranks::RankPlace> place{};
};

// What is known of a run before its first event, with a new run_id.
RunInfo run_info(const plan::Config& config, const plan::PlanBundle& bundle,
                 const ClientOptions& client, const RunRequest& request);

// Measures into the folder: writes config.yaml first, the manifest last.
Result<RecordedRun> record_run(const RunRequest& request, const ClientOptions& client,
                               const LiveView& watch, run::Control& control);

// The same with two endpoints in turns (plan/interleave.h): a run folder for each, "a" and "b"
// below request.folder, with facts that mark them as one run. `request.bundle` is ignored.
Result<std::array<RecordedRun, 2>> record_interleaved(const RunRequest& request,
                                                      plan::Interleaved& plan,
                                                      const ClientOptions& client,
                                                      const LiveView& watch, run::Control& control);

// How the run ended, for the exit code.
Ending ending_of(const RecordedRun& recorded, const ClientOptions& client);

}  // namespace assay::campaign
