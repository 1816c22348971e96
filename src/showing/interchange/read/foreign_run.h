// ForeignRun: a run that another tool measured. It is read from that tool's file and written as an
// event log of ours, so that it can be reported, compared and drawn like our own runs.
//
//   vllm        the JSON of `vllm bench serve --save-result --save-detailed`
//   aiperf      AIPerf's profile_export.jsonl
//   genai-perf  perf_analyzer's profile_export.json
//
// Such a file holds less than we record, and nothing is made up: `due` is `sent`, arrivals are the
// tool's own reads (never kernel stamps), categories are text unless the file gives them. Gaps in
// the file become fragments at those instants. Unknown top-level keys of vLLM's file are kept in
// RunInfo::facts["imported"]["fields"]; the caller keeps whole files beside the log.
//
// Pure, except write_foreign_run. docs/formats/interchange.md.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "domain/event.h"
#include "domain/run_info.h"

namespace assay::interchange {

enum class ForeignFormat : std::uint8_t { vllm, aiperf, genai_perf };
std::optional<ForeignFormat> foreign_format_from(std::string_view name);

struct ForeignReply {
  Event event{};  // query, outcome, due, sent, done, usage; `events` give the rest
  std::vector<StreamEvent> events{};  // ascending in time
  std::string text{};                 // delivered with the first fragment
  std::string detail{};               // why it failed
};

struct ForeignRun {
  RunInfo info{};  // phases, facts
  std::vector<ForeignReply> replies{};
};

// Parsing JSON takes about four times its length in memory. A line of AIPerf's file is one request;
// the other tools write one document. Longer input is Code::invalid.
inline constexpr std::size_t kForeignLineMax = std::size_t{64} << 20;
inline constexpr std::size_t kForeignDocumentMax = std::size_t{512} << 20;

// The format that the text looks like; nullopt when it is none of them, or too long to read.
std::optional<ForeignFormat> guess_foreign_format(std::string_view text);

// The message for a document of `bytes` bytes, which is too long to read.
std::string too_long_document(std::size_t bytes);

// `text`: the whole file. Errors name the place in the file.
Result<ForeignRun> read_foreign_run(ForeignFormat format, std::string_view text);
Result<ForeignRun> read_vllm_json(std::string_view text);
Result<ForeignRun> read_aiperf_jsonl(std::string_view text);
Result<ForeignRun> read_genai_perf_json(std::string_view text);

// Derives the missing fields from the events, sorts everything by instant and writes the log.
// `path` must not exist yet.
Result<void> write_foreign_run(ForeignRun run, const std::filesystem::path& path);

// Adds a fragment to a reply during reading.
void add_fragment(ForeignReply& reply, Instant at, Category category = Category::text);

}  // namespace assay::interchange
