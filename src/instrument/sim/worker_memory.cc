// The KV memory of a worker: what a sequence is charged, when it must wait, which is preempted.
//
// Held tokens are counted by rank: each sequence's charge at admission, its growth since, half a
// block for its last one, and the shared blocks of the prefix cache. Without drafts all counts are
// whole numbers; with them the growth is the sequence's mean, and its end returns exactly what it
// took.
#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "sim/worker.h"

namespace assay::sim {

double Worker::room(const Rank& rank) const {
  double used = rank.charged;
  if (rank.cache) used += static_cast<double>(rank.cache->held()) * prefix_block_tokens();
  return capacity_ - used;
}

bool Worker::reserve(Rank& rank, std::uint32_t index) {
  Slot& slot = slots_[index];
  const std::vector<std::uint64_t>& blocks = slot.sequence.blocks;
  std::size_t hits = 0;
  if (rank.cache && !blocks.empty() && options_.role != WorkerRole::decode) {
    hits = rank.cache->match(blocks);
    // The last token is always computed: the first output token comes from its logits.
    const std::uint32_t most = (slot.target - 1) / prefix_block_tokens();
    hits = std::min<std::size_t>(hits, most);
  }
  const double cached = static_cast<double>(hits * prefix_block_tokens());
  double need = slot.target - cached + half_block_ + fixed_tokens_;
  if (deployment_.backend.reserves_output) {
    need += slot.sequence.output - std::min(slot.sequence.output, slot.sent);
  }
  double free = room(rank);
  if (hits > 0) {
    rank.cache->acquire(blocks, hits);
    free = room(rank);  // blocks that were free are held now
  }
  if (need > free) {
    if (hits > 0) rank.cache->release(blocks, hits);
    return false;
  }
  slot.shared_blocks = static_cast<std::uint32_t>(hits);
  slot.charged = need;
  rank.charged += need;
  ++rank.in_memory;
  rank.admitted.push_back({index, slot.generation});
  if (rank.cache && !blocks.empty()) {
    query_tokens_ += slot.target;
    hit_tokens_ += static_cast<std::uint64_t>(cached);
  }
  const auto computed = static_cast<std::uint32_t>(cached);
  prompt_waiting_ -= computed;
  slot.computed = computed;
  if (!slot.recompute) slot.cached = computed;
  if (rank.cache) {
    rank.cache->trim(static_cast<std::size_t>(std::max(0.0, room(rank)) / prefix_block_tokens()));
  }
  tidy(rank);
  return true;
}

// From now on others can use the prompt's full blocks, and the cache holds them for it.
void Worker::share_prompt(Slot& slot) {
  Rank& rank = ranks_[slot.rank];
  const std::vector<std::uint64_t>& blocks = slot.sequence.blocks;
  if (!rank.cache || blocks.size() <= slot.shared_blocks) return;
  rank.cache->insert(blocks, slot.shared_blocks);
  const double moved =
      std::min(slot.charged,
               static_cast<double>((blocks.size() - slot.shared_blocks)) * prefix_block_tokens());
  slot.charged -= moved;
  rank.charged -= moved;
  slot.shared_blocks = static_cast<std::uint32_t>(blocks.size());
}

// Returns the charge of admission; stop_decoding() has returned the growth.
void Worker::release(Slot& slot) {
  Rank& rank = ranks_[slot.rank];
  rank.charged -= slot.charged;
  slot.charged = 0;
  CHECK(rank.in_memory > 0);
  --rank.in_memory;
  if (rank.in_memory == 0) rank.charged = 0;
  if (rank.cache && slot.shared_blocks > 0) {
    rank.cache->release(slot.sequence.blocks, slot.shared_blocks);
    slot.shared_blocks = 0;
  }
}

std::uint64_t Worker::steps_until_full(const Rank& rank) const {
  if (deployment_.backend.reserves_output || rank.rate <= 0) return ~std::uint64_t{0};
  return static_cast<std::uint64_t>(std::max(0.0, room(rank)) / rank.rate);
}

// Before a step: preempts the youngest until the next token of all others fits.
void Worker::make_room(Rank& rank) {
  if (deployment_.backend.reserves_output) return;
  while (rank.sequences > 1 && room(rank) < rank.rate) {
    while (!rank.admitted.empty()) {
      const Entry& last = rank.admitted.back();
      const Slot& slot = slots_[last.index];
      if (slot.generation == last.generation && slot.state != State::empty) break;
      rank.admitted.pop_back();
    }
    CHECK(!rank.admitted.empty());
    const std::uint32_t index = rank.admitted.back().index;
    rank.admitted.pop_back();
    preempt(rank, index);
  }
}

std::uint32_t Worker::tokens_by_now(const Slot& slot) const {
  if (options_.every_token) return std::max(slot.sent, slot.reported);
  const double grown = slot.rate * static_cast<double>(step_ - slot.start_step) - slot.lead;
  const auto sent = slot.sent + static_cast<std::uint32_t>(grown + 1e-9);
  return std::min(sent, slot.sequence.output - 1);
}

// Frees its blocks; its prompt and generated tokens are computed anew when there is memory: it
// waits at the head.
void Worker::preempt(Rank& rank, std::uint32_t index) {
  Slot& slot = slots_[index];
  ++preemptions_;
  preempted_ = true;
  const double before = slot.target - slot.computed;
  if (slot.state == State::decoding) {
    const std::uint32_t sent = tokens_by_now(slot);
    stop_decoding(index);
    slot.sent = sent;
    slot.target = slot.sequence.prompt + sent;
    rank.waiting.push_front(index);
    ++waiting_count_;
    prompt_waiting_ += slot.target;
  } else {
    prompt_waiting_ += slot.target - before;
  }
  release(slot);
  slot.computed = 0;
  slot.recompute = true;
  slot.state = State::waiting;
  ++slot.generation;
}

void Worker::tidy(Rank& rank) {
  if (rank.admitted.size() < 2 * static_cast<std::size_t>(rank.in_memory) + 64) return;
  std::erase_if(rank.admitted, [&](const Entry& entry) {
    const Slot& slot = slots_[entry.index];
    return slot.generation != entry.generation || slot.state == State::empty;
  });
}

double Worker::kv_tokens_used() const {
  double used = 0;
  for (const Rank& rank : ranks_) used += capacity_ - room(rank);
  return used;
}

double Worker::kv_usage() const {
  return std::clamp(kv_tokens_used() / kv_tokens_capacity(), 0.0, 1.0);
}

std::size_t Worker::cached_prefix(const std::vector<std::uint64_t>& blocks) const {
  std::size_t best = 0;
  for (const Rank& rank : ranks_) {
    if (rank.cache) best = std::max(best, rank.cache->match(blocks));
  }
  return best;
}

}  // namespace assay::sim
