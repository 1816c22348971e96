// The manifest of a run folder, assay/run.json: the run's identity and end, the command that made
// it, and every other file with its size and digest. It is written last; check_manifest() reports
// later changes. Any thread.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/event_log.h"

namespace assay::record {

inline constexpr std::string_view kManifestName = "assay/run.json";

// `command` as redact_command() returns it; may be empty.
Result<void> write_manifest(const std::filesystem::path& folder, const RunReplay& replay,
                            std::span<const std::string> command);

// One sentence for each file that changed, is missing, or is not listed, and for the manifest
// itself if it was changed. Fails where there is no readable manifest.
Result<std::vector<std::string>> check_manifest(const std::filesystem::path& folder);

// Compares the manifest with the event logs: one sentence for each value that differs (the run, its
// version, model and endpoint, its command, how it ended, records lost).
Result<std::vector<std::string>> check_manifest_against(const std::filesystem::path& folder,
                                                        const RunReplay& replay);

// A command line without its secrets: without the values of options that name a key, a token, a
// password, a secret or a header, and without the part before the @ of a URL.
std::vector<std::string> redact_command(std::span<const std::string> arguments);

}  // namespace assay::record
