// A step's process: started in a group of its own, with its output in a file, ended with all that
// it started. It ends with this program too: by the kernel if it is the first of its group, else by
// end_leftovers() at the next run, which finds them by a mark in their environment. For the one
// thread that starts and reaps them.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::pipeline {

inline constexpr const char* kWorkMark = "ASSAY_PIPELINE_WORK";

struct Launch {
  std::vector<std::string> words{};      // PATH is searched for the first
  std::vector<std::string> variables{};  // NAME=VALUE, in addition to our own environment
  std::filesystem::path folder{};        // where it runs
  std::filesystem::path log{};           // appended to
};

// The process, which is also its group. A program that cannot be started ends with 127 and says so
// in the log.
Result<pid_t> launch(const Launch& launch);

// To every process of the group.
void signal_group(pid_t group, int signal);

// "exit 3", "killed by signal 9"; empty for exit 0.
std::string end_text(int status);

// Kills every process whose environment has the mark with this value, and waits until they are
// gone. Returns how many there were.
std::size_t end_leftovers(const std::string& mark);

}  // namespace assay::pipeline
