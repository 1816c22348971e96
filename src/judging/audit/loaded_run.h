// LoadedRun: a run loaded from its folder: the event log folded into a Point, the client's record
// of itself, the counted tokens, the accuracy and the client's certificate. Every command that
// prints, verifies, compares, packs or imports a run starts here, so that all report the same for
// one folder. docs/formats/run_folder.md.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "audit/certificate.h"
#include "audit/innocence.h"
#include "audit/rank_span.h"
#include "base/json.h"
#include "base/result.h"
#include "domain/client_audit.h"
#include "domain/event_sink.h"
#include "loadgen/test.h"
#include "metrics/axis_fold.h"
#include "metrics/class_fold.h"
#include "metrics/point.h"
#include "metrics/reply_fold.h"
#include "metrics/token_counts.h"
#include "metrics/trajectory_fold.h"
#include "observe/impact.h"
#include "observe/observed.h"
#include "observe/prefix_reuse.h"
#include "record/event_log.h"

namespace assay::audit {

// Paths in a run folder.
std::filesystem::path log_folder(const std::filesystem::path& run_folder);
std::filesystem::path token_counts_file(const std::filesystem::path& run_folder);
// Reads accuracy_results.json; null if nothing was scored.
Json accuracy_results(const std::filesystem::path& run_folder);
// Judged replies that a report shows: the file, and its list; null if there is none.
std::filesystem::path judged_replies_file(const std::filesystem::path& run_folder);
Json judged_replies(const std::filesystem::path& run_folder);

struct LoadedRun {
  std::filesystem::path folder{};
  metrics::Point point{};
  metrics::TokenCounts token_counts{};  // empty if none were counted
  record::RunReplay replay{};
  std::optional<ClientAudit> audit{};  // absent in the folder of a killed run
  std::optional<Innocence> innocence{};
  std::optional<RankSpan> ranks{};           // of a run of several hosts
  std::optional<Certificate> certificate{};  // of the client, if it was calibrated
  std::string config_yaml{};
  Json accuracy{};                                // accuracy_results()
  std::optional<loadgen::Judgement> test{};       // where the run was a LoadGen test
  std::optional<metrics::ClassReport> classes{};  // where the run mixed classes of traffic
  metrics::AxisReport axes{};                     // by language and modality; often empty
  std::optional<observe::Observed> observed{};    // where telemetry was recorded beside the run
  std::optional<observe::Impact> impact{};        // where acts were done to the server
  std::optional<observe::PrefixReuse> reuse{};    // where the run made an account of it
  std::optional<metrics::TrajectoryReport> trajectories{};  // where the run replayed them
};

struct LoadOptions {
  EventSink* also = nullptr;  // receives the replay as well
  metrics::ReplyFold* replies =
      nullptr;  // so does this, with the tokens counted as the Point has them
  std::optional<metrics::TokenCounts> counts{};  // instead of the folder's own
  const Json* client = nullptr;  // instead of client.json, if that could not be written
};
Result<LoadedRun> load_run(const std::filesystem::path& folder, LoadOptions options = {});

// Describes for the user where a log was cut short; "" for a complete one.
std::string log_note(const LoadedRun& run);
// The program and the machine that measured.
Json environment_json(const LoadedRun& run);

}  // namespace assay::audit
