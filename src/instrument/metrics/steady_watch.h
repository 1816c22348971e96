// SteadyWatch: reports during a run whether it is steady yet. It uses the final detector
// (steady_state.h) over the queries that have ended so far, from the first up to the first one that
// is missing.
//
// An EventSink for any number of measuring threads: each query has its own slot, so no thread locks
// or waits; a thread allocates once in 4,096 queries. Any thread may read; the detector runs in the
// reader, and only after a quarter of a super-pass and an eighth of all queries are new, so that
// all its runs together cost a few times the last one.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "domain/plan.h"
#include "domain/quiet_sink.h"
#include "metrics/steady_state.h"

namespace assay::metrics {

class SteadyWatch final : public QuietSink {
 public:
  // Watches the plan's performance phase. REQUIRES: options.super_pass > 0.
  SteadyWatch(const Plan& plan, SteadyOptions options);
  ~SteadyWatch() override;
  SteadyWatch(const SteadyWatch&) = delete;
  SteadyWatch& operator=(const SteadyWatch&) = delete;

  void on_done(const Event& event, std::string_view detail) override;

  // "steady since super-pass 2: …", "ramping: …", "drifting up: …".
  std::string words();
  SteadyState state();

 private:
  struct Slot {
    std::atomic<std::int64_t> sent_ns{0};
    std::atomic<std::int64_t> done_ns{0};
    std::atomic<double> gated{0};        // TPOT or latency, as the options have it
    std::atomic<std::uint8_t> ended{0};  // 0: not yet, 1: failed, 2: succeeded
  };
  static constexpr std::size_t kChunk = 4096;
  static constexpr std::size_t kChunks = 4096;  // 16.8 million queries; later ones are left out
  using Chunk = std::array<Slot, kChunk>;

  Slot* slot_of(std::uint32_t index);
  void look() REQUIRES_LOCK(reading_);

  const SteadyOptions options_;
  std::uint16_t phase_ = 0;
  std::unique_ptr<std::array<std::atomic<Chunk*>, kChunks>> chunks_;

  Mutex reading_{};  // for readers only
  std::vector<Issued> issued_ GUARDED_BY(reading_){};
  std::size_t judged_ GUARDED_BY(reading_) = 0;  // queries when the detector last ran
  SteadyState state_ GUARDED_BY(reading_){};
};

// The state of a run, for a person who watches it.
std::string steady_words(const SteadyState& state);

}  // namespace assay::metrics
