#include "sim/fixed_engine.h"

#include <algorithm>

#include "base/check.h"

namespace assay::sim {

FixedEngine::FixedEngine(const FixedEngineOptions& options) : options_(options) {
  CHECK(options.tokens_per_event >= 1 && options.running_max >= 1 && options.kv_tokens >= 1);
}

Duration FixedEngine::draw(const Delay& delay, const Slot& slot, std::uint64_t which) const {
  if (delay.is_fixed()) return delay.center;
  // Each draw has its own generator, seeded by (request, event), so the order does not matter.
  Rng rng(options_.seed ^ slot.ordinal * 0x9e3779b97f4a7c15 ^ which * 0xd1b54a32d192ed03);
  return draw_delay(delay, rng);
}

void FixedEngine::admit(const Request& request, Instant now) {
  CHECK(request.output_tokens >= 1);
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  CHECK(by_id_.emplace(request.id, index).second);
  Slot& slot = slots_[index];
  slot = {.id = request.id,
          .ordinal = admitted_++,
          .generation = slot.generation,
          .prompt_tokens = request.prompt_tokens,
          .left = request.output_tokens};
  prompt_tokens_ += request.prompt_tokens;
  if (running_ < options_.running_max) return start(index, now);
  line_.push_back({index, slot.generation});
  ++waiting_;
}

void FixedEngine::start(std::uint32_t index, Instant now) {
  Slot& slot = slots_[index];
  slot.running = true;
  ++running_;
  resident_tokens_ += slot.prompt_tokens;
  due_.push(now + draw(options_.ttft, slot, 0), index, slot.generation);
}

// The request is over; the one that has waited longest takes its place.
void FixedEngine::release(std::uint32_t index, Instant now) {
  Slot& slot = slots_[index];
  by_id_.erase(slot.id);
  ++slot.generation;
  free_.push_back(index);
  if (!slot.running) {
    --waiting_;
    return;
  }
  --running_;
  resident_tokens_ -= slot.prompt_tokens + slot.made;
  while (!line_.empty()) {
    const Waiting first = line_.front();
    line_.pop_front();
    if (slots_[first.slot].generation != first.generation) continue;  // cancelled while it waited
    --waiting_;
    return start(first.slot, now);
  }
}

void FixedEngine::drop_cancelled() {
  while (!due_.empty() && slots_[due_.front().slot].generation != due_.front().generation) {
    due_.pop();
  }
}

void FixedEngine::cancel(std::uint64_t request, Instant now) {
  const auto found = by_id_.find(request);
  if (found == by_id_.end()) return;
  release(found->second, now);
  drop_cancelled();
}

void FixedEngine::advance(Instant now, std::vector<Emission>& out) {
  while (!due_.empty() && due_.front().at <= now) {
    const DueQueue::Entry entry = due_.front();
    due_.pop();
    Slot& slot = slots_[entry.slot];
    if (slot.generation != entry.generation) continue;
    const std::uint32_t tokens = std::min(options_.tokens_per_event, slot.left);
    slot.left -= tokens;
    slot.made += tokens;
    resident_tokens_ += tokens;
    const bool last = slot.left == 0;
    out.push_back({slot.id, tokens, last, entry.at});
    if (last) {
      release(entry.slot, entry.at);
    } else {
      due_.push(entry.at + draw(options_.itl, slot, slot.made), entry.slot, slot.generation);
    }
  }
  drop_cancelled();
}

EngineStats FixedEngine::stats() const {
  const double share =
      static_cast<double>(resident_tokens_) / static_cast<double>(options_.kv_tokens);
  return {.running = running_,
          .waiting = waiting_,
          .kv_usage = std::min(1.0, share),
          .prefix_hit_tokens = 0,
          .prefix_query_tokens = prompt_tokens_,
          .preemptions = 0};
}

}  // namespace assay::sim
