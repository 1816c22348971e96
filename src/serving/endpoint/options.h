// What the endpoint is told: the flags of `assay endpoint`, as values. One paragraph a field.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "base/time.h"
#include "dataset/length.h"
#include "endpoint/fault.h"
#include "endpoint/quirk.h"
#include "sim/delay.h"
#include "sim/engine.h"

namespace assay::endpoint {

// The engine of one of `threads` workers. They share nothing: what is limited (a concurrency, a KV
// cache) is to be divided among them.
using EngineMaker =
    std::function<std::unique_ptr<sim::Engine>(std::uint32_t thread, std::uint32_t threads)>;

enum class ToolPolicy : std::uint8_t {
  asked,  // as tool_call.h says
  never,
};

struct EndpointOptions {
  // Where to listen: an address and a port (0: any that is free), or a Unix socket's path.
  std::string host = "127.0.0.1";
  std::uint16_t port = 8000;
  std::string unix_path{};
  bool tls = false;  // with a certificate made at start and signed by itself

  std::uint32_t threads = 1;

  // The model's name, in /v1/models and where a request names none. With `any_model`, requests for
  // other names are answered under those names; without, they are told 404.
  std::string model = "assay";
  bool any_model = true;
  std::string api_key{};  // "": nobody is asked for one

  // Timing, by an engine whose timing is told; `make_engine` replaces it by another.
  sim::Delay ttft{};
  sim::Delay itl{};
  std::uint32_t tokens_per_event = 1;
  std::uint32_t concurrency = 0;  // requests that run at once, the rest wait in line; 0: no limit
  std::uint64_t kv_tokens = std::uint64_t{1} << 20;
  EngineMaker make_engine{};
  // Above 0: the engine has a prefix cache of blocks of so many tokens, and is told each prompt's.
  std::uint32_t prefix_block_tokens = 0;

  // Output length before a request's own limit cuts it; with `osl_is_limit` each reply is as long
  // as its request allows (`osl` where it does not say).
  dataset::LengthSpec osl = dataset::LengthSpec::fixed(64);
  bool osl_is_limit = false;
  // Share of the output that is reasoning, for chats. A request that asks for reasoning gets half
  // of it where this is 0.
  double reasoning = 0;
  ToolPolicy tools = ToolPolicy::asked;

  // Events that go into one write() together, the last of a reply aside.
  std::uint32_t events_per_write = 1;

  Quirks quirks{};
  FaultPlan faults{};
  Duration stall{1'000'000'000};  // how long the quirk `stall` waits
  Duration keep_alive{75'000'000'000};

  std::filesystem::path truth_log{};  // "": none
  std::uint64_t seed = 0;
};

// "max", or what dataset::parse_length reads, into osl and osl_is_limit.
Result<void> set_osl(EndpointOptions& options, std::string_view text);
// What contradicts itself or lies out of bounds.
Result<void> check(const EndpointOptions& options);

}  // namespace assay::endpoint
