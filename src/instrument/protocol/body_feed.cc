#include "protocol/body_feed.h"

#include <algorithm>
#include <limits>

namespace assay::protocol {
namespace {

// Bodies held at once: many small ones, or a few large ones.
constexpr std::size_t kFeedBytes = std::size_t{16} << 20;
constexpr std::size_t kSlotsMin = 4;
constexpr std::size_t kSlotsMax = 4096;
constexpr std::uint64_t kTaken = std::numeric_limits<std::uint64_t>::max();
constexpr Duration kLook = 1_ms;
// A late feed continues this far ahead of the queries; otherwise each body would be made twice.
constexpr std::uint64_t kLeap = 32;

// No query's key is 0, which is that of an empty slot.
std::uint64_t key_of(std::size_t phase, std::uint32_t index) {
  return (static_cast<std::uint64_t>(phase) << 32 | index) + 1;
}
std::uint64_t key_of(const Query& query) { return key_of(query.phase, query.index); }

std::size_t slots_for(std::size_t body_bytes) {
  return std::clamp(kFeedBytes / body_bytes, kSlotsMin, kSlotsMax);
}

}  // namespace

BodyFeed::BodyFeed(std::shared_ptr<const PreparedBodies> bodies, const Plan& plan)
    : bodies_(std::move(bodies)), stride_(plan.shard_count) {
  std::size_t largest = 0;
  for (std::size_t i = 0; i < plan.phases.size(); ++i) {
    const auto index = static_cast<std::uint16_t>(i);
    const PhasePlan& phase = plan.phases[i];
    const PreparedBodies::Variant& variant = bodies_->variants_[bodies_->phases_[i]];
    phases_.push_back({QueryStream(phase, index, plan.shard_index, plan.shard_count),
                       variant.make_row ? phase.stop.queries_max : 0, &variant, phase.salted});
    largest = std::max(largest, variant.body_bytes);
  }
  slots_ = std::vector<Slot>(slots_for(largest));
  std::size_t offset = 0;
  for (Phase& phase : phases_) {
    phase.offset = offset;
    offset = (offset + phase.count % slots_.size()) % slots_.size();
  }
  thread_ = std::thread([this] { make_all(); });
}

BodyFeed::~BodyFeed() {
  stop_.store(true);
  steps_.fetch_add(1);
  steps_.notify_one();
  thread_.join();
}

void BodyFeed::make_all() {
  for (std::size_t at = 0; at < phases_.size(); ++at) {
    Phase& phase = phases_[at];
    leap_ = 0;
    for (std::uint64_t ordinal = 0; ordinal < phase.count; ++ordinal) {
      if (!wait_for_room(at, ordinal)) break;
      const Query query = phase.queries.next();
      if (ordinal < skip_to(at, ordinal)) continue;
      Slot& slot = slot_of(at, ordinal);
      // A body without a taker belongs to a phase that ended early, or to a query that is far
      // behind the others.
      std::uint64_t key = slot.key.load();
      if (key == kTaken || !slot.key.compare_exchange_strong(key, kTaken)) continue;
      PreparedBodies::make_body_of(*phase.variant, query, phase.salted, slot.body);
      slot.key.store(key_of(query), std::memory_order_release);
    }
  }
  full_.store(true);
}

std::uint64_t BodyFeed::skip_to(std::size_t phase, std::uint64_t ordinal) {
  const std::uint64_t reached = reached_.load(std::memory_order_acquire);
  const std::uint64_t done = reached >> 32 == phase ? reached & 0xffffffff : 0;
  if (ordinal < done) leap_ = done + std::min<std::uint64_t>(kLeap, slots_.size() / 2);
  return leap_;
}

bool BodyFeed::wait_for_room(std::size_t phase, std::uint64_t ordinal) {
  for (;;) {
    const std::uint32_t step = steps_.load();
    if (stop_.load()) return false;
    const std::uint64_t reached = reached_.load(std::memory_order_acquire);
    const std::uint64_t in_phase = reached >> 32;
    if (in_phase > phase) return false;
    // The furthest query's own body is in use until the next one begins.
    const std::uint64_t begun = in_phase == phase ? reached & 0xffffffff : 0;
    const std::uint64_t done = begun - std::min<std::uint64_t>(begun, 1);
    // A body ahead of its phase takes no other body's place.
    const bool early =
        in_phase < phase && slot_of(phase, ordinal).key.load(std::memory_order_acquire) != 0;
    if (ordinal < done + slots_.size() && !early) return true;
    full_.store(true);
    steps_.wait(step);
  }
}

void BodyFeed::begin_use(const Query& query) {
  if (taken_ != nullptr) taken_->key.store(0, std::memory_order_release);
  taken_ = nullptr;
  current_ = key_of(query);
  const std::uint64_t ordinal = query.index / stride_;
  const std::uint64_t here = static_cast<std::uint64_t>(query.phase) << 32 | (ordinal + 1);
  const std::uint64_t before = reached_.load(std::memory_order_relaxed);
  if (here <= before) return;
  reached_.store(here, std::memory_order_release);
  // Wakes the feed four times in a round of the slots, and with each phase: waking costs a system
  // call.
  const std::uint64_t part = slots_.size() / 4;
  if (here / part == before / part) return;
  steps_.fetch_add(1);
  steps_.notify_one();
}

const PreparedBodies::Body& BodyFeed::body(const Query& query) {
  if (current_ == key_of(query)) return taken_ != nullptr ? taken_->body : own_;
  begin_use(query);
  Slot& slot = slot_of(query.phase, query.index / stride_);
  std::uint64_t key = current_;
  if (slot.key.compare_exchange_strong(key, kTaken)) {
    taken_ = &slot;
    return slot.body;
  }
  ++made_here_;
  PreparedBodies::make_body_of(bodies_->variant(query), query, bodies_->salted_[query.phase], own_);
  return own_;
}

void BodyFeed::get_ahead(Clock& clock, Instant limit) {
  while (!full_.load() && clock.now() < limit) {
    clock.sleep_until(std::min(limit, clock.now() + kLook));
  }
}

}  // namespace assay::protocol
