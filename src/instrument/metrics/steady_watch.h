// SteadyWatch: is a run steady yet, while it goes on? The same detector as afterwards
// (steady_state.h), over the queries that have ended so far: from the first on, as long as none is
// missing between them.
//
// An EventSink of any number of measuring threads: each query has a slot of its own, so nobody
// locks and nobody waits; a thread allocates once in 4,096 queries. Whoever reads, reads from any
// thread; the detector runs there, and only when a quarter of a super-pass and an eighth of all has
// come since it last did, so that all its runs together cost a few times what the last one does.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "domain/event_sink.h"
#include "domain/plan.h"
#include "metrics/steady_state.h"

namespace assay::metrics {

class SteadyWatch final : public EventSink {
 public:
  // Of the plan's performance phase. REQUIRES: options.super_pass > 0.
  SteadyWatch(const Plan& plan, const SteadyOptions& options);
  ~SteadyWatch() override;
  SteadyWatch(const SteadyWatch&) = delete;
  SteadyWatch& operator=(const SteadyWatch&) = delete;

  void on_phase(const PhaseMark&) override {}
  void on_sent(const Query&, Instant, Instant) override {}
  void on_stream_event(const Query&, const StreamEvent&, std::string_view) override {}
  void on_tick(Instant) override {}
  void on_done(const Event& event, std::string_view detail) override;

  // "steady since super-pass 2: …", "ramping: …", "drifting up: …".
  std::string words();
  SteadyState state();

 private:
  struct Slot {
    std::atomic<std::int64_t> sent_ns{0};
    std::atomic<double> tpot{0};
    std::atomic<std::uint8_t> ended{0};  // 0: not yet, 1: failed, 2: succeeded
  };
  static constexpr std::size_t kChunk = 4096;
  static constexpr std::size_t kChunks = 4096;  // 16.8 million queries; those beyond are left out
  using Chunk = std::array<Slot, kChunk>;

  Slot* slot_of(std::uint32_t index);
  void look() REQUIRES_LOCK(reading_);

  const SteadyOptions options_;
  std::uint16_t phase_ = 0;
  std::unique_ptr<std::array<std::atomic<Chunk*>, kChunks>> chunks_;

  Mutex reading_{};  // of readers alone
  std::vector<Issued> issued_ GUARDED_BY(reading_){};
  std::size_t judged_ GUARDED_BY(reading_) = 0;  // queries when the detector last ran
  SteadyState state_ GUARDED_BY(reading_){};
};

// How a run stands, for a person who watches it.
std::string steady_words(const SteadyState& state);

}  // namespace assay::metrics
