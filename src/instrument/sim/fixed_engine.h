// FixedEngine: a server with given timing instead of a model: a time to the first token and a gap
// between events, both fixed or drawn, and a number of requests that may run at once; the others
// wait in line. Instruments are tested against it, because its true times are known in advance.
//
// Draws depend only on the seed and the order of admission, never on how requests interleave, so a
// slower client sees the same delays. One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <unordered_map>
#include <vector>

#include "sim/delay.h"
#include "sim/due_queue.h"
#include "sim/engine.h"

namespace assay::sim {

struct FixedEngineOptions {
  Delay ttft{};  // from the instant a request starts to run to its first event
  Delay itl{};   // from one event of a request to its next
  std::uint32_t tokens_per_event = 1;
  std::uint32_t running_max = std::numeric_limits<std::uint32_t>::max();
  std::uint64_t kv_tokens = std::uint64_t{1} << 20;  // stats().kv_usage is a share of it
  std::uint64_t seed = 0;
};

class FixedEngine final : public Engine {
 public:
  // REQUIRES: tokens_per_event, running_max and kv_tokens are at least 1.
  explicit FixedEngine(const FixedEngineOptions& options);

  void admit(const Request& request, Instant now) override;
  void cancel(std::uint64_t request, Instant now) override;
  Instant next() const override { return due_.empty() ? Instant::max() : due_.front().at; }
  void advance(Instant now, std::vector<Emission>& out) override;
  EngineStats stats() const override;

 private:
  struct Slot {
    std::uint64_t id = 0;
    std::uint64_t ordinal = 0;  // of admission
    std::uint32_t generation = 0;
    std::uint32_t prompt_tokens = 0;
    std::uint32_t made = 0;
    std::uint32_t left = 0;
    bool running = false;
  };
  struct Waiting {
    std::uint32_t slot = 0;
    std::uint32_t generation = 0;
  };

  Duration draw(const Delay& delay, const Slot& slot, std::uint64_t which) const;
  void start(std::uint32_t index, Instant now);
  void release(std::uint32_t index, Instant now);
  void drop_cancelled();

  FixedEngineOptions options_;
  std::vector<Slot> slots_{};
  std::vector<std::uint32_t> free_{};
  std::unordered_map<std::uint64_t, std::uint32_t> by_id_{};
  DueQueue due_{};
  std::deque<Waiting> line_{};
  std::uint64_t admitted_ = 0;
  std::uint32_t running_ = 0;
  std::uint32_t waiting_ = 0;
  std::uint64_t resident_tokens_ = 0;
  std::uint64_t prompt_tokens_ = 0;
};

}  // namespace assay::sim
