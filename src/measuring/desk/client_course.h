// A run of MLPerf Client's profile, from what was asked to its result: the scenario and its
// prompts, the server on this machine, the run, client_result.json. `assay client` is its command.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/talk.h"
#include "base/time.h"
#include "campaign/recorded_run.h"

namespace assay::desk {

struct DeskOptions {
  campaign::ClientOptions client{};
  std::string config{};
  std::string scenario{};
  std::string prompts{};
  std::string tools{};
  std::string set = "base";
  bool agentic = false;
  bool no_salt = false;
  std::optional<std::uint64_t> iterations{};
  std::optional<std::uint64_t> warmups{};
  std::optional<Duration> delay{};
  std::string endpoint{};
  std::string model{};
  std::vector<std::string> ports{};
  bool list = false;
  std::string api_key_env{};
  std::vector<std::string> headers{};
  std::vector<std::string> meters{};
  std::string meter_command{};
  std::string tokenizer{};
  std::string folder{};
  bool json = false;
  std::optional<std::uint64_t> page{};
  bool quiet = false;
};

// Lists the servers that answer on this machine, or measures one. `args` are the command's own, for
// the manifest. Returns the exit code.
Result<int> run_client(const DeskOptions& options, std::span<const std::string> args,
                       const Talk& talk);

}  // namespace assay::desk
