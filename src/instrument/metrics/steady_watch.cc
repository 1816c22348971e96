#include "metrics/steady_watch.h"

#include <algorithm>

#include "base/check.h"
#include "base/format.h"
#include "metrics/token_truth.h"

namespace assay::metrics {
namespace {

// "TPOT", "latency", "the completion rate".
std::string_view drifting_name(const SteadyState& state) {
  if (state.by == Gating::tpot) return "TPOT";
  for (const GatingMetric& metric : state.metrics) {
    if (metric.level == Level::plateau || metric.level == Level::unknown) continue;
    return metric.is_rate() ? "the completion rate" : "latency";
  }
  return "latency";
}

std::string steady_clock_text(Duration span) {
  const auto seconds = static_cast<std::int64_t>(span.seconds());
  return format("{}:{:02}", seconds / 60, seconds % 60);
}

}  // namespace

SteadyWatch::SteadyWatch(const Plan& plan, SteadyOptions options)
    : options_(std::move(options)),
      chunks_(std::make_unique<std::array<std::atomic<Chunk*>, kChunks>>()) {
  CHECK(options_.super_pass > 0);
  for (std::size_t i = 0; i < plan.phases.size(); ++i) {
    if (plan.phases[i].kind == PhaseKind::performance) phase_ = static_cast<std::uint16_t>(i);
  }
  state_.window_min = options_.window_min;
  state_.super_pass_size = options_.super_pass;
}

SteadyWatch::~SteadyWatch() {
  for (std::atomic<Chunk*>& chunk : *chunks_) delete chunk.load(std::memory_order_relaxed);
}

SteadyWatch::Slot* SteadyWatch::slot_of(std::uint32_t index) {
  const std::size_t at = index / kChunk;
  if (at >= kChunks) return nullptr;
  std::atomic<Chunk*>& place = (*chunks_)[at];
  Chunk* chunk = place.load(std::memory_order_acquire);
  if (chunk == nullptr) {
    auto made = std::make_unique<Chunk>();
    if (place.compare_exchange_strong(chunk, made.get(), std::memory_order_acq_rel)) {
      chunk = made.release();
    }
  }
  return &(*chunk)[index % kChunk];
}

void SteadyWatch::on_done(const Event& event, std::string_view) {
  if (event.query.phase != phase_) return;
  Slot* const slot = slot_of(event.query.index);
  if (slot == nullptr) return;
  // During the run only the server's count is available.
  const Issued query = issued_of(event, plausible_count(event));
  slot->sent_ns.store(query.sent.ns, std::memory_order_relaxed);
  slot->done_ns.store(query.done.ns, std::memory_order_relaxed);
  slot->gated.store(options_.by == Gating::tpot ? query.tpot : query.latency,
                    std::memory_order_relaxed);
  slot->ended.store(query.ok ? 2 : 1, std::memory_order_release);
}

void SteadyWatch::look() {
  for (std::size_t at = issued_.size(); at < kChunk * kChunks; ++at) {
    Chunk* const chunk = (*chunks_)[at / kChunk].load(std::memory_order_acquire);
    if (chunk == nullptr) break;
    const Slot& slot = (*chunk)[at % kChunk];
    const std::uint8_t ended = slot.ended.load(std::memory_order_acquire);
    if (ended == 0) break;
    const double gated = slot.gated.load(std::memory_order_relaxed);
    const bool by_tpot = options_.by == Gating::tpot;
    issued_.push_back({.sent = Instant{slot.sent_ns.load(std::memory_order_relaxed)},
                       .tpot = by_tpot ? gated : 0,
                       .latency = by_tpot ? 0 : gated,
                       .done = Instant{slot.done_ns.load(std::memory_order_relaxed)},
                       .ok = ended == 2});
  }
  const std::size_t step = std::max<std::size_t>(options_.super_pass / 4, judged_ / 8);
  if (issued_.size() < options_.super_pass || issued_.size() < judged_ + step) return;
  judged_ = issued_.size();
  state_ = find_steady_state(issued_, options_);
}

SteadyState SteadyWatch::state() {
  const Lock lock(reading_);
  look();
  return state_;
}

std::string SteadyWatch::words() { return steady_words(state()); }

std::string steady_words(const SteadyState& state) {
  const std::string passes =
      format("{} super-pass{}", state.super_passes, state.super_passes == 1 ? "" : "es");
  switch (state.verdict) {
    case SteadyVerdict::steady:
    case SteadyVerdict::anomaly:
      break;
    case SteadyVerdict::drifting_up:
      return format("drifting up: {} grows, {}", drifting_name(state), passes);
    case SteadyVerdict::drifting_down:
      return format("drifting down: {} falls, {}", drifting_name(state), passes);
    case SteadyVerdict::not_found:
      return state.super_passes < kSuperPassesMin
                 ? format("too early to say: {} of {} super-passes", state.super_passes,
                          kSuperPassesMin)
                 : "not level yet, " + passes;
  }
  const std::uint64_t have = state.last - state.first + 1;
  std::string out = state.verdict == SteadyVerdict::anomaly
                        ? format("shifted: level in super-passes {} to {}, then another level",
                                 state.first + 1, state.last + 1)
                        : format("steady since super-pass {}", state.first + 1);
  if (state.official()) return out + format(", long enough at {}", steady_clock_text(state.span));
  return out + format(": {} of {} super-passes, {} of {}", std::min(have, kSuperPassesMin),
                      kSuperPassesMin, steady_clock_text(state.span),
                      steady_clock_text(state.window_min));
}

}  // namespace assay::metrics
