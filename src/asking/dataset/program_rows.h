// Rows that a program makes, for a data set that no file holds: "program:COMMAND" in the place of a
// file's path. The program writes a JSON object a line to its standard output, each a row as in a
// file of JSON lines, and {"end": true} behind the last one, so that rows that are missing are seen
// (docs/formats/plugin.md). It runs once, before the run, to its end. One thread.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace assay::dataset {

inline constexpr std::string_view kRowProgram = "program:";

constexpr bool is_row_program(std::string_view path) { return path.starts_with(kRowProgram); }

// Runs the program and writes its rows to `file`. Fails with the program's own words where it
// writes {"error": "…"}, ends without its last line or with a failure, or is silent for a minute.
Result<void> write_program_rows(std::string_view path, const std::filesystem::path& file);

}  // namespace assay::dataset
