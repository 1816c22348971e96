// ForeignRun: a run that another tool measured, read from its file, and written as an event log of
// ours, so that it can be reported, compared and drawn like one of our own.
//
//   vllm        the JSON of `vllm bench serve --save-result --save-detailed`
//   aiperf      AIPerf's profile_export.jsonl
//   genai-perf  perf_analyzer's profile_export.json
//
// A file says less than we record, and nothing is made up: `due` is `sent`, arrivals are the tool's
// own reads (never kernel stamps), categories are text unless the file tells. What the file gives
// as gaps becomes fragments at those instants. Top-level keys of vLLM's file that we do not know
// are kept in RunInfo::facts["imported"]["fields"]; whole files are kept beside the log by the
// caller.
//
// Pure but for write_foreign_run. docs/formats/interchange.md.
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
std::string_view to_string(ForeignFormat format);
std::optional<ForeignFormat> foreign_format_from(std::string_view name);

struct ForeignReply {
  Event event{};  // query, outcome, due, sent, done, usage; the rest is filled in from the events
  std::vector<StreamEvent> events{};  // ascending
  std::string text{};                 // told with the first fragment
  std::string detail{};               // why it failed
};

struct ForeignRun {
  RunInfo info{};  // phases, facts
  std::vector<ForeignReply> replies{};
};

// Reading JSON takes some four times its length in memory. A line of AIPerf's is one request; the
// other tools write one document. Longer ones are Code::invalid.
inline constexpr std::size_t kForeignLineMax = std::size_t{64} << 20;
inline constexpr std::size_t kForeignDocumentMax = std::size_t{512} << 20;

// What the text looks like; nothing when it is none of them, or longer than may be read.
std::optional<ForeignFormat> guess_foreign_format(std::string_view text);

// Why a document of so many bytes is not read.
std::string too_long_document(std::size_t bytes);

// `text`: the whole file. Errors name the place in it.
Result<ForeignRun> read_foreign_run(ForeignFormat format, std::string_view text);
Result<ForeignRun> read_vllm_json(std::string_view text);
Result<ForeignRun> read_aiperf_jsonl(std::string_view text);
Result<ForeignRun> read_genai_perf_json(std::string_view text);

// Fills in what follows from the events, sorts all that happened by its instant and writes the log.
// `path` must not be there yet.
Result<void> write_foreign_run(ForeignRun run, const std::filesystem::path& path);

// Adds a fragment to a reply that is being read.
void add_fragment(ForeignReply& reply, Instant at, Category category = Category::text);

}  // namespace assay::interchange
