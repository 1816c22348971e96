// Engine: a model of a server that turns requests into tokens at instants. SimTarget drives one on
// SimClock as a target; `assay endpoint` drives the same one on OsClock behind a socket.
//
// An engine reads no clock: the caller passes the time, and next() returns when it wants the next
// call. So it is exact and replayable in simulation, and only punctual when live. One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"

namespace assay::sim {

struct Request {
  std::uint64_t id = 0;  // the caller's; unique among those in the engine
  std::uint32_t prompt_tokens = 0;
  std::uint32_t output_tokens = 1;             // how many it will produce
  std::vector<std::uint64_t> prefix_blocks{};  // hashes of the prompt's KV blocks; may be empty
};

// `tokens` tokens of a request leave the server at `at`, in one event.
struct Emission {
  std::uint64_t request = 0;
  std::uint32_t tokens = 1;
  bool last = false;
  Instant at{};
  std::uint32_t cached = 0;  // of the request's prompt tokens, those that a prefix cache had
};

// The figures that a server's /metrics would report.
struct EngineStats {
  std::uint32_t running = 0;
  std::uint32_t waiting = 0;
  double kv_usage = 0;  // 0 to 1
  std::uint64_t prefix_hit_tokens = 0;
  std::uint64_t prefix_query_tokens = 0;
  std::uint64_t preemptions = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;
  // REQUIRES: `now` is not before the instant of an earlier call.
  virtual void admit(const Request& request, Instant now) = 0;
  // The client left. Unknown ids are ignored.
  virtual void cancel(std::uint64_t request, Instant now) = 0;
  // The next due instant; Instant::max() if there is none without another admit().
  virtual Instant next() const = 0;
  // Appends all emissions due up to and including `now`, in order of `at`.
  virtual void advance(Instant now, std::vector<Emission>& out) = 0;
  virtual EngineStats stats() const = 0;
};

}  // namespace assay::sim
