// A run folder's contents: `run` writes it; `report`, `verify` and `curve` read it.
//
//   config.yaml  report.txt  report.html  sample_idx_map.json  events.jsonl (on request)
//   performance/result_summary.json  metrics/final_snapshot.json
//   performance/mlperf_log_*, accuracy/mlperf_log_*, accuracy/accuracy.txt (of a LoadGen test;
//   scenario/loadgen_logs.h)
//   assay/events-N.alog  assay/client.json  assay/token_counts.jsonl  assay/certificate.json
//   assay/run.json
//
// The event log, the config, client.json, the token counts and certificate.json (the client's
// calibration, if there is one) are recorded; publish() derives all other files from them, and can
// do so again. docs/formats/run_folder.md.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "audit/loaded_run.h"
#include "base/result.h"
#include "interchange/events_jsonl.h"
#include "report/content.h"

namespace assay::campaign {

// In the folder of a run that another tool measured: that tool's file, unchanged.
inline constexpr const char* kImportedFile = "imported/source";

using audit::load_run;
using audit::LoadedRun;
using audit::log_folder;
using audit::token_counts_file;

// The parts of a report that the Point lacks. With `digests` it lists and reads every file of the
// folder; otherwise only the files that a person looks for.
report::RunContext report_context(const LoadedRun& run, bool digests = false);

// Its part about classes, trajectories and what was recorded beside the run.
std::vector<report::Fact> observed_facts(const LoadedRun& run);

// result_summary.json with Assay's own block: client verdict, arrival clock.
Json summary_json(const LoadedRun& run);

struct PublishOptions {
  bool events_jsonl = false;
  std::vector<std::string> command{};       // that made the run; secrets are removed
  interchange::EventsJsonl::Asked asked{};  // for events.jsonl; without it prompts are null
  std::filesystem::path shown_as{};         // the folder's final name, if it is built elsewhere
};

// Loads a run and writes every derived file, the manifest last.
Result<LoadedRun> publish(const std::filesystem::path& folder, const PublishOptions& options);
// Writes report.txt, report.html and the manifest again, after a new file in the folder such as a
// score or an audit.
Result<void> publish_again(const std::filesystem::path& folder);

}  // namespace assay::campaign
