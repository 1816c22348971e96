// The acts on a pipeline, from their options to their words: its plan, a run to the end or from
// where it was, its state, a person's decisions, the logs of its steps. `assay pipeline` is the
// command.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "base/talk.h"

namespace assay::pipeline {

struct PipelineOptions {
  std::string act{};
  std::string file{};
  std::string step{};
  std::string site{};
  std::string work{};
  std::vector<std::string> inputs{};
  std::vector<std::string> parameters{};
  std::uint64_t jobs = std::max(1U, std::thread::hardware_concurrency());
  std::string engine = "auto";
  std::string exported{};
  std::string partition{};
  std::string by{};
  bool following = false;
  bool no_wait = false;
  bool allow_code = false;
  bool watch = false;
  bool json = false;
};

// Does options.act. Returns the exit code.
Result<int> act_on_pipeline(const PipelineOptions& options, const Talk& talk);

}  // namespace assay::pipeline
