// Runs another program: an evaluator of the user's, or a model's code.
//
// Every program ends by itself or is killed, with all its processes. It has one time limit for all
// its commands, a limited output, none of our descriptors, and PATH, HOME, TMPDIR and LANG as
// environment. A `Jail` adds layers (jail.h): if one is missing, the program is not started and the
// error has the reason. `layers` of an end lists the active layers.
//
// Blocks the caller until the program has ended. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace assay::score {

struct Jail {
  enum class View {
    programs,  // the system's programs, and an empty folder that is deleted afterwards
    disk,      // the disk as the user sees it, read-only
  };
  View view = View::programs;
  std::vector<std::filesystem::path> writable{};  // for View::disk, in addition to `folder`
  bool network = false;
  bool runs_own_files = false;   // files written into its folder may be executed
  bool limits_addresses = true;  // memory_bytes_max also bounds each process's addresses
  std::uint64_t memory_bytes_max = std::uint64_t{4} << 30;  // of all processes; 0: no limit
  std::uint64_t file_bytes_max = std::uint64_t{64} << 20;   // of one file; View::programs
  std::uint64_t disk_bytes_max = std::uint64_t{256} << 20;  // of all files; View::programs
  std::uint32_t processes_max = 64;                         // and threads; 0: no limit
};

struct Program {
  // Run one after the other while each ends with 0. PATH is searched for the first word.
  std::vector<std::vector<std::string>> commands{};
  std::string input{};             // the standard input of the first; the others share its rest
  std::filesystem::path folder{};  // work folder; for View::programs a folder of the jail
  // Written into the work folder before the start; View::programs.
  std::vector<std::pair<std::string, std::string>> files{};
  Duration time_max{60'000'000'000};
  std::size_t output_bytes_max = std::size_t{64} << 20;
  std::optional<Jail> jail{};
};

struct ProgramEnd {
  int exit_code = -1;  // of the last command that ran; -1: it was killed
  int signal = 0;
  std::size_t commands_ran = 0;
  bool out_of_time = false;
  bool too_loud = false;       // more output than allowed
  bool out_of_memory = false;  // more than memory_bytes_max as a whole
  std::string out{};
  std::string err{};     // its first 64 KiB
  std::string layers{};  // "own namespaces, no network, …"
};

Result<ProgramEnd> run_program(const Program& program);

// Checks that this machine has what `jail` needs, by starting a program in it.
Result<void> probe_jail(const Jail& jail);

}  // namespace assay::score
