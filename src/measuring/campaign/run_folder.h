// A run folder, from the inside: what `run` leaves and what `report`, `verify` and `curve` read.
//
//   config.yaml  report.txt  report.html  sample_idx_map.json  events.jsonl (on request)
//   performance/result_summary.json  metrics/final_snapshot.json
//   assay/events-N.alog  assay/client.json  assay/token_counts.jsonl  assay/certificate.json
//   assay/run.json
//
// Everything but the event log, the config, client.json, the token counts and certificate.json
// (what the client was calibrated to be capable of, where it was) is derived: publish() makes it
// from those, and so makes it again. docs/formats/run_folder.md.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "audit/loaded_run.h"
#include "base/result.h"
#include "interchange/events_jsonl.h"
#include "report/content.h"

namespace assay::campaign {

// In the folder of a run that another tool measured: its file, as it was.
inline constexpr const char* kImportedFile = "imported/source";

using audit::load_run;
using audit::LoadedRun;
using audit::log_folder;
using audit::token_counts_file;

// What a report says beside the Point. With `digests` it lists every file of the folder, which
// reads them all; else those that a person looks for.
report::RunContext report_context(const LoadedRun& run, bool digests = false);

// result_summary.json with Assay's own block: client verdict, arrival clock.
Json summary_json(const LoadedRun& run);

struct PublishOptions {
  bool events_jsonl = false;
  std::vector<std::string> command{};       // that made the run; secrets are taken out
  interchange::EventsJsonl::Asked asked{};  // for events.jsonl; without it prompts are null
  std::filesystem::path shown_as{};         // the folder's name to be, where it is built beside it
};

// Loads a run and writes every derived file, the manifest last.
Result<LoadedRun> publish(const std::filesystem::path& folder, const PublishOptions& options);
// After something new in the folder, a score or an audit: writes report.txt and the manifest again.
Result<void> publish_again(const std::filesystem::path& folder);

}  // namespace assay::campaign
