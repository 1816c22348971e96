// The manifest of a run folder, assay/run.json: what run it is, how it ended, the command that made
// it, and every other file with its size and digest. Written last; check_manifest() says what has
// changed since. Any thread.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "record/event_log.h"

namespace assay::record {

inline constexpr std::string_view kManifestName = "assay/run.json";

// `command` as redact_command() gives it; may be empty.
Result<void> write_manifest(const std::filesystem::path& folder, const RunReplay& replay,
                            std::span<const std::string> command);

// One sentence for each file that changed, is missing, or is not listed, and for the manifest
// itself where it is not as it was written. Fails where there is no manifest that can be read.
Result<std::vector<std::string>> check_manifest(const std::filesystem::path& folder);

// What the manifest says of the run against the event logs: one sentence for each value that is not
// theirs (the run, its version, model and endpoint, its command, how it ended, records lost).
Result<std::vector<std::string>> check_manifest_against(const std::filesystem::path& folder,
                                                        const RunReplay& replay);

// A command line without its secrets: the values of options that name a key, a token, a password, a
// secret or a header, and what stands before the @ of a URL.
std::vector<std::string> redact_command(std::span<const std::string> arguments);

}  // namespace assay::record
