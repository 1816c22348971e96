// LoadedRun: a run as its folder tells it. The event log is folded into a Point; what the client
// measured of itself, the counted tokens, the accuracy and the client's certificate stand beside
// it. What prints, verifies, compares, packs or imports a run starts here, so that all of them say
// the same of one folder. docs/formats/run_folder.md.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "audit/certificate.h"
#include "audit/innocence.h"
#include "base/json.h"
#include "base/result.h"
#include "domain/client_audit.h"
#include "domain/event_sink.h"
#include "metrics/point.h"
#include "metrics/reply_fold.h"
#include "metrics/token_counts.h"
#include "record/event_log.h"

namespace assay::audit {

// Where things are in a run folder.
std::filesystem::path log_folder(const std::filesystem::path& run_folder);
std::filesystem::path token_counts_file(const std::filesystem::path& run_folder);
// accuracy_results.json; null where nothing was scored.
Json accuracy_results(const std::filesystem::path& run_folder);

struct LoadedRun {
  std::filesystem::path folder{};
  metrics::Point point{};
  metrics::TokenCounts token_counts{};  // empty where nothing was counted
  record::RunReplay replay{};
  std::optional<ClientAudit> audit{};  // absent in a folder of a run that was killed
  std::optional<Innocence> innocence{};
  std::optional<Certificate> certificate{};  // of the client, where it was calibrated
  std::string config_yaml{};
  Json accuracy{};  // accuracy_results()
};

struct LoadOptions {
  EventSink* also = nullptr;  // hears the replay as well
  metrics::ReplyFold* replies =
      nullptr;  // so does this, with the tokens counted as the Point has them
  std::optional<metrics::TokenCounts> counts{};  // in place of the folder's own
  const Json* client = nullptr;  // the same of client.json, where it could not be written
};
Result<LoadedRun> load_run(const std::filesystem::path& folder, LoadOptions options = {});

// Where a log that was cut short ends, for a person; "" for a whole one.
std::string log_note(const LoadedRun& run);
// The program and the machine that measured.
Json environment_json(const LoadedRun& run);

}  // namespace assay::audit
