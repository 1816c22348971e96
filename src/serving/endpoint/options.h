// The configuration of the endpoint: the flags of `assay endpoint`, as values.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "base/time.h"
#include "dataset/length.h"
#include "domain/described_kind.h"
#include "endpoint/answers.h"
#include "endpoint/fault.h"
#include "endpoint/quirk.h"
#include "sim/delay.h"
#include "sim/engine.h"

namespace assay::endpoint {

// Makes the engine of one of `threads` workers. Engines share nothing, so divide limits
// (concurrency, KV cache) among them.
using EngineMaker =
    std::function<std::unique_ptr<sim::Engine>(std::uint32_t thread, std::uint32_t threads)>;

enum class ToolPolicy : std::uint8_t {
  asked,  // as in tool_call.h
  never,
};

struct EndpointOptions {
  // Where to listen: an address and a port (0: any that is free), or a Unix socket's path.
  std::string host = "127.0.0.1";
  std::uint16_t port = 8000;
  std::string unix_path{};
  bool tls = false;  // with a self-signed certificate made at the start

  std::uint32_t threads = 1;

  // The model's name, in /v1/models and for requests that name none. With `any_model`, other names
  // are accepted and replied with; otherwise they get 404.
  std::string model = "assay";
  bool any_model = true;
  std::string api_key{};  // "": no key required

  // The built-in engine's timing; `make_engine` replaces that engine.
  sim::Delay ttft{};
  sim::Delay itl{};
  std::uint32_t tokens_per_event = 1;
  std::uint32_t concurrency = 0;  // requests served at once, the rest queue; 0: no limit
  std::uint64_t kv_tokens = std::uint64_t{1} << 20;
  EngineMaker make_engine{};
  // Above 0: the engine has a prefix cache with blocks of this many tokens, and gets each prompt's.
  std::uint32_t prefix_block_tokens = 0;

  // Output length before a request's own limit cuts it. With `osl_is_limit` each reply has the
  // length that its request allows (`osl` if the request has no limit).
  dataset::LengthSpec osl = dataset::LengthSpec::fixed(64);
  bool osl_is_limit = false;
  // A kind of API that a file describes, spoken beside the others; shared by the workers.
  std::shared_ptr<const DescribedKind> described{};
  // Share of a chat's output that is reasoning. If it is 0, a request for reasoning gets half.
  double reasoning = 0;
  ToolPolicy tools = ToolPolicy::asked;

  // Events in one write(), except at a reply's end.
  std::uint32_t events_per_write = 1;

  Quirks quirks{};
  FaultPlan faults{};
  Duration stall{1'000'000'000};  // duration of the quirk `stall`
  Duration keep_alive{75'000'000'000};

  std::filesystem::path truth_log{};  // "": none
  bool truth_holds = false;           // the log has the writes that took long
  std::uint64_t seed = 0;
  // Replies to known prompts; null: all words are made up.
  std::shared_ptr<const AnswerBook> answers{};
};

// Reads "max", or a length for dataset::parse_length, into osl and osl_is_limit.
Result<void> set_osl(EndpointOptions& options, std::string_view text);
// Fails for options that contradict each other or are out of bounds.
Result<void> check(const EndpointOptions& options);

}  // namespace assay::endpoint
