// Runs the tool calls of recorded answers and times them, as MLPerf Client does: the calls of an
// agent's recorded answer are run after each iteration of its turn, and their results go nowhere;
// the history has the recorded ones. Here they are run before the first inference, once for each
// iteration, so that the model and the tools do not share the machine, and the times stand in the
// log's facts. Each iteration of a conversation runs in a jail of its own (score/code/sandbox.h)
// on a fresh copy of the folder tools_sandbox. Blocks the caller. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "desk/series.h"

namespace assay::desk {

// The number of calls of all recorded answers. Fails on an answer that cannot be read.
Result<std::size_t> count_tool_calls(const std::vector<PromptFile>& files);

// Sets `tools_s` of every item, the mean over `iterations`, or `tools_why` where a call failed.
// REQUIRES: `series` is an agentic one of `files`. Fails where the folder cannot be read, or
// nothing can be run in a jail.
Result<void> run_tools(const std::vector<PromptFile>& files, const std::filesystem::path& sandbox,
                       std::uint32_t iterations, Series& series);

// Sets `recorded_tokens` of every item of an agentic series.
using CountTokens = std::function<Result<std::size_t>(std::string_view text)>;
Result<void> count_recorded(const std::vector<PromptFile>& files, const CountTokens& count,
                            Series& series);

}  // namespace assay::desk
