// One recorded run from a plan: what `run` and each point of `curve` do alike. How this client
// works, what a run's log says of it before its first event, and the measurement into a run folder
// (run_folder.h), derived files and manifest included.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
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
#include "run/run.h"

namespace assay::campaign {

struct ClientOptions {
  std::uint64_t threads = 1;
  bool pin = false;
  bool spin = false;
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
  // What of the folder could not be written because the disk took no more; "" where all is there.
  std::string unwritten{};
};

// Shows a run while it goes on; nullptr shows nothing. Gets what the log says of the run.
using Watch = std::function<std::shared_ptr<void>(const Json& facts,
                                                  std::function<metrics::LiveSnapshot()> snapshot)>;

struct RunRequest {
  const plan::Config* config = nullptr;
  // Fields that the endpoint refuses are taken out of its requests.
  plan::PlanBundle* bundle = nullptr;
  // Of a command with several runs, whose first sends the one test query; without it each run does.
  Preflight* preflight = nullptr;
  // The bundle's datasets, where nobody asks of them again after this run: then their texts are let
  // go as soon as the requests are made, unless something that comes after the run reads them.
  std::vector<PlannedDataset>* spent = nullptr;
  std::filesystem::path folder{};      // REQUIRES: holds no run yet
  Json facts{};                        // further ones for the log: an object, or null
  std::vector<std::string> command{};  // that the manifest names; secrets are taken out
};

// Measures into the folder: config.yaml first, the manifest last.
Result<RecordedRun> record_run(const RunRequest& request, const ClientOptions& client,
                               const Watch& watch, run::Control& control);

// The same over two endpoints in turns (plan/interleave.h): a run folder for each, "a" and "b"
// below request.folder, whose facts say that they are one run's. `request.bundle` is not looked at.
Result<std::array<RecordedRun, 2>> record_interleaved(const RunRequest& request,
                                                      plan::Interleaved& plan,
                                                      const ClientOptions& client,
                                                      const Watch& watch, run::Control& control);

// How the run ended, for the shell.
Ending ending_of(const RecordedRun& recorded, const ClientOptions& client);

}  // namespace assay::campaign
