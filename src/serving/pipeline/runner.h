// Runner: runs a pipeline on this machine to its end. It keeps what it needs to go on in the work
// folder:
//
//     journal        what was done (journal.h); locked while a run has it
//     acts           decisions and restarts, appended by the commands that people type
//     logs/STEP/     what each instance said
//     data/          outputs, by their names
//     progress.json  counts of each step, and nothing else: may leave the site
//     state.json     what is waited for and what failed, with names: stays here
//
// A killed run loses no record. What was running then runs again at the next run, after all that is
// left of its processes is ended. For the main thread: it takes SIGCHLD, SIGINT, SIGTERM and SIGHUP
// while it runs. The first of the last three ends the steps in order, the second kills them.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "pipeline/engine.h"
#include "pipeline/pipeline.h"
#include "pipeline/places.h"

namespace assay::pipeline {

struct RunSettings {
  std::filesystem::path folder{};  // of the pipeline's file
  std::filesystem::path work{};
  std::size_t jobs = 1;            // instances that run at one time
  bool waits = true;               // false: ends when only people or files are waited for
  std::string container_engine{};  // podman, docker; empty: a container can't run
  // Python of the pipeline's author; empty: not allowed.
  std::function<Result<bool>(const Condition&, const Places&, const Step&, const std::string&)>
      code_condition{};
  std::function<Result<std::vector<std::string>>(const PartitionDef&, const Places&)>
      code_partitions{};
  std::function<void(const Json& progress)> report{};  // each time it is written; may be empty
};

struct RunEnd {
  bool interrupted = false;
  std::vector<Counts> counts{};  // of each step
  std::uint64_t started = 0;     // processes, in this run
  std::uint64_t leftovers = 0;   // of a killed run, ended at the beginning
  std::uint64_t waiting = 0;
  std::uint64_t failed = 0;
  bool complete = false;           // every instance is done or not on the way
  std::vector<std::string> why{};  // of the first failures
};

Result<RunEnd> run_pipeline(const Pipeline& pipeline, const RunSettings& settings, Clock& clock);

// The counts of progress.json, and MedPerf's words for them.
Json progress_json(const Pipeline& pipeline, const std::vector<Counts>& counts, bool running);

// Appends to the acts. `record`: {t: approve|reject|restart, …} (engine.h, Ledger).
Result<void> append_act(const std::filesystem::path& work, const Json& record);

// Whether a run has this work folder now.
bool is_running(const std::filesystem::path& work);

// Where an instance's output is.
std::filesystem::path log_path(const std::filesystem::path& work, const std::string& step,
                               const std::string& partition);

}  // namespace assay::pipeline
