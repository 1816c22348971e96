// Runs another program to its end: its words go to a file, its processor time is counted, and a
// limit ends it with everything that it started. One thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace assay::conformance {

struct ProgramRun {
  int exit_code = 0;  // 128 and its number after a signal
  bool timed_out = false;
  double wall_s = 0;
  double cpu_s = 0;  // of the program and all its children that it waited for
};

// `words` receives both of its outputs. The program inherits the environment plus `environment`
// ("NAME=VALUE"). An error: it could not be started.
Result<ProgramRun> run_program(const std::filesystem::path& program,
                               const std::vector<std::string>& arguments,
                               const std::vector<std::string>& environment,
                               const std::filesystem::path& words, Duration limit);

// The program of that name in PATH, or a path as it is; an empty path: there is none.
std::filesystem::path find_program(std::string_view name);

// The last `lines` lines of a file, for a message; "" if it can't be read.
std::string last_lines(const std::filesystem::path& file, std::size_t lines);

}  // namespace assay::conformance
