// Worker: which rank a prompt goes to, when the scheduler sees it, and which prompts a step takes.
#include <algorithm>
#include <limits>

#include "sim/worker.h"

namespace assay::sim {

// The rank with the fewest sequences, the first of equals; or one that is drawn.
std::uint32_t Worker::choose_rank() {
  if (options_.role == WorkerRole::prefill && deployment_.backend.prefill_draws_ranks) {
    return static_cast<std::uint32_t>(noise_.below(ranks_.size()));
  }
  std::uint32_t best = 0;
  const auto count = [&](std::uint32_t r) {
    return ranks_[r].sequences + static_cast<double>(ranks_[r].waiting.size());
  };
  for (std::uint32_t r = 1; r < ranks_.size(); ++r) {
    if (count(r) < count(best)) best = r;
  }
  return best;
}

// For an engine that checks for arrivals only after a number of decode steps.
void Worker::hide_until_polled(std::uint32_t index, Instant now) {
  unseen_.push_back(index);
  if (unseen_.size() > 1) return;  // those before it are seen at the same check
  const std::uint64_t every = deployment_.backend.poll_steps(running() + waiting_count_);
  const std::uint64_t soonest = step_ + steps_by(now);
  const std::uint64_t looks = (soonest - std::min(soonest, polled_step_) + every - 1) / every;
  poll_step_ = std::max(soonest, polled_step_ + looks * every);
  phase_.steps = std::min(phase_.steps, poll_step_ - step_);
}

void Worker::see_arrivals() {
  for (const std::uint32_t index : unseen_) ranks_[slots_[index].rank].waiting.push_back(index);
  unseen_.clear();
  polled_step_ = step_;
}

// The step was made up when the one before it began, of what was there then. If nothing was there,
// the scheduler looks again now.
void Worker::gather_ahead(Instant now, Prompts& prompts) {
  if (ended_ == now) in_time_ = phase_.start;
  for (Rank& rank : ranks_) gather(rank, prompts);
  in_time_ = Instant::max();
  if (!phase_.chunks.empty()) return;
  for (Rank& rank : ranks_) gather(rank, prompts);
}

void Worker::gather(Rank& rank, Prompts& prompts) {
  const BackendSpec& backend = deployment_.backend;
  double budget = backend.token_budget;
  if (backend.policy == BackendSpec::Policy::mixed) {
    budget -= rank.sequences * (1.0 + deployment_.drafts);
  }
  double tokens = 0;
  double work = 0;
  double leaving = 0;
  const std::uint32_t prompts_max =
      backend.prompts_max(deployment_.drafts > 0, options_.role == WorkerRole::both);
  std::uint32_t prompts_left =
      prompts_max > 0 ? prompts_max : std::numeric_limits<std::uint32_t>::max();
  // The loop leaves a prompt that does not fit into the budget at the head: partly computed, or
  // whole where prompts are not cut. A prompt longer than a budget has a step of its own.
  while (!rank.waiting.empty() && budget >= 1 && prompts_left-- > 0) {
    const std::uint32_t index = rank.waiting.front();
    Slot& slot = slots_[index];
    if (options_.role == WorkerRole::decode && !slot.recompute) break;
    if (slot.arrived > in_time_) break;
    if (!backend.chunks && tokens > 0 && slot.target - slot.computed > budget) break;
    if (slot.state == State::waiting) {
      if (rank.in_memory >= backend.seqs_max || !reserve(rank, index)) break;
      slot.state = State::prefilling;
    }
    const auto left = static_cast<double>(slot.target - slot.computed);
    const auto chunk = static_cast<std::uint32_t>(backend.chunks ? std::min(budget, left) : left);
    work += chunk * (slot.computed + 0.5 * chunk);
    tokens += chunk;
    budget -= chunk;
    prompt_waiting_ -= chunk;
    const bool completes = slot.computed + chunk == slot.target;
    phase_.chunks.push_back({index, chunk, completes});
    if (!completes) break;
    ++leaving;
    rank.waiting.pop_front();
    --waiting_count_;
  }
  prompts.tokens = std::max(prompts.tokens, tokens);
  prompts.work = std::max(prompts.work, work);
  prompts.all += tokens;
  if (options_.role == WorkerRole::prefill) prompts.leaving = std::max(prompts.leaving, leaving);
}

// Attention-DP balancing, as in TensorRT-LLM: a prompt stalls every rank, so prompts wait until
// each rank has one, or has nothing to decode, or a number of steps has passed since the last were
// let in (the count goes on when no prompt waits).
bool Worker::hold_prompts() {
  if (!balances()) return false;
  bool everybody = true;
  bool at_once = false;  // a rank has nothing else to do, or a prompt is half computed
  for (const Rank& rank : ranks_) {
    if (rank.waiting.empty()) {
      everybody = false;
    } else if (slots_[rank.waiting.front()].computed > 0) {
      at_once = true;
    }
    at_once = at_once || rank.sequences <= 0;
  }
  if (!everybody && !at_once && ++held_ < deployment_.backend.dp_wait_steps) return true;
  held_ = 0;
  return false;
}

bool Worker::balances() const {
  return deployment_.backend.dp_wait_steps > 0 && ranks_.size() > 1 &&
         options_.role == WorkerRole::both;
}

}  // namespace assay::sim
