// Running another program: an evaluator of the user's, or code that a model wrote.
//
// What every program gets: its own session and process group, killed as a whole at the end; a time
// limit; a bounded output; no descriptors and no environment of ours but PATH, HOME and LANG.
// What `confined` adds, for code that nobody has read: limits of CPU time, memory, file size and
// open files; where we are root, user and group nobody; no network, no tracing of other processes,
// no escape from the process group (seccomp); no writing outside its folder where the kernel can
// forbid that (Landlock, 5.13). It may still read what its user may read. Without seccomp the
// program is not started: `layers` of a result says what held.
//
// Blocks the caller until the program has ended. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace assay::score {

struct Program {
  std::vector<std::string> command{};  // the first is looked for in PATH
  std::string input{};                 // its standard input
  std::filesystem::path folder{};      // where it works
  Duration time_max{60'000'000'000};
  std::size_t output_bytes_max = std::size_t{64} << 20;
  bool confined = false;
  // Of a confined program.
  Duration cpu_max{60'000'000'000};
  std::uint64_t memory_bytes_max = std::uint64_t{4} << 30;
  std::uint64_t file_bytes_max = std::uint64_t{64} << 20;
};

struct ProgramEnd {
  int exit_code = -1;  // -1: it was killed
  int signal = 0;
  bool out_of_time = false;
  bool too_loud = false;  // more output than allowed
  std::string out{};
  std::string err{};     // its first 64 KiB
  std::string layers{};  // "no network, writes confined, user nobody"
};

Result<ProgramEnd> run_program(const Program& program);

}  // namespace assay::score
