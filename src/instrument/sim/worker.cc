#include "sim/worker.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace assay::sim {
namespace {
constexpr std::uint32_t kNobody = 0xffffffff;
}

Duration Worker::Phase::after(std::uint64_t n) const {
  const auto count = static_cast<double>(n);
  return Duration::from_seconds(count * first_s + slope_s * 0.5 * count * (count - 1));
}

Worker::Worker(const Deployment& deployment, WorkerOptions options)
    : deployment_(deployment), model_(deployment), options_(options), noise_(options.seed) {
  ranks_.resize(deployment_.parallelism.dp);
  for (Rank& rank : ranks_) {
    if (options_.prefix_cache) rank.cache = std::make_unique<PrefixCache>();
  }
  half_block_ = 0.5 * (deployment_.backend.block_tokens - 1.0);
  fixed_tokens_ = deployment_.fixed_tokens();
  set_kv_share(options_.kv_share, Instant{});
}

void Worker::set_slow(double factor, Instant now) {
  options_.slow_factor = factor;
  if (phase_.active) cut_phase(now);
}

void Worker::set_kv_share(double share, Instant now) {
  if (phase_.active) cut_phase(now);
  options_.kv_share = share;
  capacity_ = std::max(1.0, deployment_.kv_capacity_tokens() * share);
}

std::uint32_t Worker::take_index() {
  if (free_slots_.empty()) {
    slots_.emplace_back();
    return static_cast<std::uint32_t>(slots_.size() - 1);
  }
  const std::uint32_t index = free_slots_.back();
  free_slots_.pop_back();
  return index;
}

void Worker::drop(std::uint32_t index) {
  Slot& slot = slots_[index];
  if (slot.sequence.slot != kNobody) by_caller_[slot.sequence.slot] = 0;
  slot.state = State::empty;
  slot.cancelled = false;
  slot.recompute = false;
  slot.sequence.blocks.clear();
  ++slot.generation;
  free_slots_.push_back(index);
}

void Worker::admit(Sequence sequence, Instant now) {
  if (born_ == Instant{} && steps_ == 0) born_ = now;
  const std::uint32_t index = take_index();
  Slot& slot = slots_[index];
  const std::uint32_t best = choose_rank();
  slot.state = State::waiting;
  slot.rank = best;
  slot.arrived = now;
  slot.target = std::max(1U, sequence.prompt);
  if (options_.role != WorkerRole::decode) slot.target += sequence.done;
  slot.computed = 0;
  slot.sent = slot.reported = sequence.done;
  slot.shared_blocks = 0;
  slot.cached = 0;
  slot.charged = 0;
  slot.sequence = std::move(sequence);
  if (deployment_.drafts > 0) {
    float reach = 1;
    const auto chances = deployment_.acceptance_for(slot.sequence.output);
    for (std::size_t i = 0; i < chances.size() && i < slot.survival.size(); ++i) {
      slot.survival[i] = reach *= static_cast<float>(chances[i]);
    }
  }
  slot.draws = Rng(options_.seed * 0x9e3779b97f4a7c15 + slot.sequence.id);
  if (by_caller_.size() <= slot.sequence.slot) by_caller_.resize(slot.sequence.slot + 1, 0);
  by_caller_[slot.sequence.slot] = index + 1;
  ++waiting_count_;
  prompt_waiting_ += slot.target;
  if (phase_.active && phase_.decodes && options_.role == WorkerRole::both &&
      !deployment_.backend.polls.empty()) {
    hide_until_polled(index, now);
    return;
  }
  ranks_[best].waiting.push_back(index);
  if (phase_.active) {
    cut_phase(now);
  } else {
    wake_ = std::min(wake_, now);
  }
}

void Worker::cut_phase(Instant now) {
  // The current step ends unchanged; the next one uses the new state.
  if (phase_.steps > 1) phase_.steps = steps_by(now);
}

// Steps of the phase until the step at `now` has ended. Their time grows slowly, so bisect.
std::uint64_t Worker::steps_by(Instant now) const {
  std::uint64_t low = 1;
  std::uint64_t high = phase_.steps;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (phase_.start + phase_.after(middle) > now) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

bool Worker::cancel(std::uint32_t caller, Instant now) {
  if (caller >= by_caller_.size() || by_caller_[caller] == 0) return false;
  const std::uint32_t index = by_caller_[caller] - 1;
  Slot& slot = slots_[index];
  by_caller_[caller] = 0;
  slot.sequence.slot = kNobody;
  Rank& rank = ranks_[slot.rank];
  if (slot.state == State::waiting) {
    std::erase(unseen_, index);
    std::erase(rank.waiting, index);
    --waiting_count_;
    prompt_waiting_ -= slot.target - slot.computed;
    drop(index);
    return true;
  }
  slot.cancelled = true;
  cancelled_.push_back(index);
  cut_phase(now);
  return true;
}

void Worker::kill(Instant now, std::vector<std::uint32_t>& lost) {
  if (phase_.active) busy_ += std::max(0.0, (now - phase_.start).seconds());
  for (std::uint32_t index = 0; index < slots_.size(); ++index) {
    Slot& slot = slots_[index];
    if (slot.state == State::empty) continue;
    if (slot.sequence.slot != kNobody) lost.push_back(slot.sequence.slot);
    drop(index);
  }
  for (Rank& rank : ranks_) {
    rank = Rank{};
    if (options_.prefix_cache) rank.cache = std::make_unique<PrefixCache>();
  }
  finishes_ = {};
  decoding_.clear();
  fresh_.clear();
  cancelled_.clear();
  unseen_.clear();
  phase_.active = false;
  wake_ = Instant::max();
  waiting_count_ = 0;
  prompt_waiting_ = 0;
}

Instant Worker::next() const {
  if (!early_.empty()) return Instant{};
  if (!phase_.active) return wake_;
  const std::uint64_t due = options_.every_token ? phase_.reported + 1 : phase_.steps;
  return phase_.start + phase_.after(std::min(due, phase_.steps));
}

void Worker::advance(Instant now, std::vector<WorkerEvent>& out) {
  for (;;) {
    for (WorkerEvent& event : early_) {
      event.at = std::min(event.at, now);
      out.push_back(event);
    }
    early_.clear();
    if (!phase_.active) {
      if (wake_ > now) return;
      const Instant at = wake_;
      wake_ = Instant::max();
      begin(at);
      if (!phase_.active && early_.empty()) return;
      continue;
    }
    while (options_.every_token && phase_.reported + 1 < phase_.steps) {
      const Instant at = phase_.start + phase_.after(phase_.reported + 1);
      if (at > now) return;
      report_step(at, false, out);
      ++phase_.reported;
    }
    const Instant at = phase_.start + phase_.after(phase_.steps);
    if (at > now) return;
    end(out);
    begin(at);
  }
}

// Makes up the next step, and finds how many equal ones follow.
void Worker::begin(Instant now) {
  const bool decoded = phase_.decodes && !decoding_.empty();
  if (!decoded || (!unseen_.empty() && step_ >= poll_step_)) see_arrivals();
  phase_.chunks.clear();
  preempted_ = false;
  Prompts prompts;
  if (options_.role == WorkerRole::prefill && deployment_.backend.prefill_ahead) {
    gather_ahead(now, prompts);
  } else {
    const bool hold = hold_prompts();
    for (Rank& rank : ranks_) {
      if (rank.sequences > 0) make_room(rank);
      if (options_.role == WorkerRole::decode) join_decode_batch(rank);
      if (!preempted_ && !hold) gather(rank, prompts);
    }
  }
  double sequences = 0;
  for (const Rank& rank : ranks_) sequences += rank.sequences;
  const bool prefilling = !phase_.chunks.empty();
  if (!prefilling && sequences == 0) {
    for (Rank& rank : ranks_) {
      if (!rank.waiting.empty()) refuse_head(rank);
    }
    if (waiting_count_ > 0) wake_ = now;
    return;
  }
  const bool decodes =
      sequences > 0 && (!prefilling || deployment_.backend.policy == BackendSpec::Policy::mixed);
  std::uint64_t steps = 1;
  const bool single = prefilling || !fresh_.empty() || !cancelled_.empty() ||
                      options_.noise_sigma > 0 || options_.stall_chance > 0;
  if (!single) steps = steps_ahead();
  set_phase(now, decodes, steps, prompts);
}

// Refuses the first prompt when the memory is too small for it, even with nothing else in it.
void Worker::refuse_head(Rank& rank) {
  const std::uint32_t index = rank.waiting.front();
  Slot& slot = slots_[index];
  rank.waiting.pop_front();
  --waiting_count_;
  prompt_waiting_ -= slot.target - slot.computed;
  if (slot.sequence.slot != kNobody) {
    early_.push_back({WorkerEvent::Kind::refused, slot.sequence.slot, 0, Instant::max()});
  }
  drop(index);
}

// Decode role: sequences whose KV has arrived join as soon as there is memory.
void Worker::join_decode_batch(Rank& rank) {
  while (!rank.waiting.empty() && rank.in_memory < deployment_.backend.seqs_max) {
    const std::uint32_t index = rank.waiting.front();
    Slot& slot = slots_[index];
    if (slot.recompute || !reserve(rank, index)) return;
    rank.waiting.pop_front();
    --waiting_count_;
    prompt_waiting_ -= slot.target - slot.computed;
    slot.computed = slot.target;
    const bool first_here = slot.sent == 0;
    if (first_here) {
      slot.sent = 1;  // by the end of the step that now begins
      fresh_.push_back(index);
    }
    start_decoding(index, first_here ? 1 : 0);
  }
}

std::uint64_t Worker::steps_ahead() {
  while (!finishes_.empty()) {
    const Finish& top = finishes_.top();
    const Slot& slot = slots_[top.index];
    if (slot.state == State::decoding && slot.generation == top.generation) break;
    finishes_.pop();
  }
  CHECK(!finishes_.empty());
  std::uint64_t steps = finishes_.top().step - step_;
  for (const Rank& rank : ranks_) steps = std::min(steps, steps_until_full(rank));
  if (waiting_count_ > unseen_.size() && balances()) {
    steps = std::min<std::uint64_t>(steps, deployment_.backend.dp_wait_steps - held_);
  }
  if (!unseen_.empty()) steps = std::min(steps, poll_step_ - step_);
  return std::max<std::uint64_t>(1, steps);
}

StepLoad Worker::load_of(const Prompts& prompts, bool decodes, double steps_later) const {
  StepLoad load;
  if (decodes) {
    for (const Rank& rank : ranks_) {
      load.sequences = std::max(load.sequences, rank.sequences);
      load.context = std::max(load.context, rank.context + rank.rate * steps_later);
      load.all_sequences += rank.sequences;
    }
  }
  load.prefill_tokens = prompts.tokens;
  load.prefill_work = prompts.work;
  load.all_prefill = prompts.all;
  return load;
}

void Worker::set_phase(Instant now, bool decodes, std::uint64_t steps, const Prompts& prompts) {
  const StepLoad load = load_of(prompts, decodes, 0);
  phase_.active = true;
  phase_.decodes = decodes;
  phase_.start = now;
  phase_.steps = steps;
  phase_.reported = 0;
  phase_.slope_s = 0;
  const double sending_s = prompts.leaving * deployment_.backend.send_s;
  phase_.first_s = (model_.seconds(load) + sending_s) * options_.slow_factor;
  if (steps > 1) {
    const auto more = static_cast<double>(steps - 1);
    const double last = model_.seconds(load_of(prompts, decodes, more)) * options_.slow_factor;
    phase_.slope_s = (last - phase_.first_s) / more;
  }
  if (options_.noise_sigma > 0) {
    const double sigma = options_.noise_sigma;
    phase_.first_s *= std::exp(sigma * noise_.normal() - 0.5 * sigma * sigma);
  }
  if (options_.stall_chance > 0 && noise_.uniform() < options_.stall_chance) {
    phase_.first_s += 0.02 + 0.18 * noise_.uniform();
  }
  const HardwareSpec& card = deployment_.hardware;
  phase_.watts =
      deployment_.parallelism.gpus() * (card.tdp_w - card.idle_w) * model_.utilisation(load);
}

void Worker::end(std::vector<WorkerEvent>& out) {
  const Duration took = phase_.after(phase_.steps);
  const Instant at = phase_.start + took;
  phase_.active = false;
  ended_ = at;
  steps_ += phase_.steps;
  if (balances()) {
    held_ = (held_ + phase_.steps - 1) % deployment_.backend.dp_wait_steps;
  }
  busy_ += took.seconds();
  busy_joules_ += took.seconds() * phase_.watts;
  if (phase_.decodes) {
    step_ += phase_.steps;
    const auto steps = static_cast<double>(phase_.steps);
    for (Rank& rank : ranks_) {
      rank.context += rank.rate * steps;
      if (!deployment_.backend.reserves_output) rank.charged += rank.rate * steps;
    }
    if (options_.every_token) report_step(at, true, out);
    for (const std::uint32_t index : fresh_) {
      Slot& slot = slots_[index];
      if (slot.finish_step > step_) tell(slot, WorkerEvent::Kind::first, 1, at, out);
    }
    fresh_.clear();
    finish_due(at, out);
  }
  for (const Chunk& chunk : phase_.chunks) {
    Slot& slot = slots_[chunk.index];
    slot.computed += chunk.tokens;
    if (chunk.completes) prompt_done(chunk.index, at, out);
  }
  for (const std::uint32_t index : cancelled_) {
    Slot& slot = slots_[index];
    if (!slot.cancelled) continue;  // it ended by itself
    Rank& rank = ranks_[slot.rank];
    const auto queued = std::find(rank.waiting.begin(), rank.waiting.end(), index);
    if (queued != rank.waiting.end()) {
      rank.waiting.erase(queued);
      --waiting_count_;
      prompt_waiting_ -= slot.target - slot.computed;
    }
    if (slot.state == State::decoding) stop_decoding(index);
    release(slot);
    drop(index);
  }
  cancelled_.clear();
}

void Worker::tell(Slot& slot, WorkerEvent::Kind kind, std::uint32_t tokens, Instant at,
                  std::vector<WorkerEvent>& out) {
  slot.reported += tokens;
  if (slot.sequence.slot == kNobody) return;
  out.push_back({kind, slot.sequence.slot, tokens, at, slot.cached});
}

void Worker::prompt_done(std::uint32_t index, Instant at, std::vector<WorkerEvent>& out) {
  Slot& slot = slots_[index];
  share_prompt(slot);
  const bool resumed = slot.sent > 0;
  if (options_.role == WorkerRole::prefill) {
    tell(slot, WorkerEvent::Kind::prefilled, 1, at, out);
    release(slot);
    drop(index);
    return;
  }
  ++slot.sent;
  if (slot.sent >= slot.sequence.output) {
    tell(slot, WorkerEvent::Kind::finished, slot.sequence.output - slot.reported, at, out);
    release(slot);
    drop(index);
    return;
  }
  if (!resumed) {
    tell(slot, WorkerEvent::Kind::first, 1, at, out);
  } else if (options_.every_token) {
    tell(slot, WorkerEvent::Kind::tokens, slot.sent - slot.reported, at, out);
  }
  start_decoding(index, 0);
}

// `lead`: steps before the ones that bring the tokens after `sent`.
void Worker::start_decoding(std::uint32_t index, std::uint32_t lead) {
  Slot& slot = slots_[index];
  Rank& rank = ranks_[slot.rank];
  const std::uint32_t left = slot.sequence.output - std::min(slot.sequence.output, slot.sent);
  const std::uint32_t steps = std::max(1U, lead + draw_steps(slot, left));
  slot.state = State::decoding;
  slot.rate = std::max(1.0, static_cast<double>(left + lead)) / steps;
  slot.start_step = step_;
  slot.finish_step = step_ + steps;
  finishes_.push({slot.finish_step, index, slot.generation});
  rank.sequences += 1;
  rank.rate += slot.rate;
  // The context already includes the token that the next step reads.
  rank.context += slot.target + 1.0 - lead;
  if (!deployment_.backend.reserves_output) {
    rank.charged += 1.0 - lead;
    slot.charged += 1.0 - lead;
  }
  slot.lead = lead;
  slot.place = static_cast<std::uint32_t>(decoding_.size());
  decoding_.push_back(index);
}

void Worker::stop_decoding(std::uint32_t index) {
  Slot& slot = slots_[index];
  Rank& rank = ranks_[slot.rank];
  const double grown = slot.rate * static_cast<double>(step_ - slot.start_step);
  rank.sequences -= 1;
  rank.rate -= slot.rate;
  rank.context -= slot.target + 1.0 + grown - slot.lead;
  if (!deployment_.backend.reserves_output) {
    rank.charged -= grown;
  }
  if (rank.sequences == 0) rank.context = rank.rate = 0;  // removes rounding drift
  decoding_[slot.place] = decoding_.back();
  slots_[decoding_[slot.place]].place = slot.place;
  decoding_.pop_back();
}

void Worker::finish_due(Instant at, std::vector<WorkerEvent>& out) {
  while (!finishes_.empty() && finishes_.top().step <= step_) {
    const Finish top = finishes_.top();
    finishes_.pop();
    Slot& slot = slots_[top.index];
    if (slot.state != State::decoding || slot.generation != top.generation) continue;
    stop_decoding(top.index);
    tell(slot, WorkerEvent::Kind::finished, slot.sequence.output - slot.reported, at, out);
    release(slot);
    drop(top.index);
  }
}

// Reports one step's tokens of every decoding sequence; in the last step, not of those that end.
void Worker::report_step(Instant at, bool last_of_phase, std::vector<WorkerEvent>& out) {
  if (!phase_.decodes) return;
  for (const std::uint32_t index : decoding_) {
    Slot& slot = slots_[index];
    if (last_of_phase && slot.finish_step <= step_) continue;
    if (slot.reported == 0) continue;  // its first token is reported separately
    const std::uint32_t left = slot.sequence.output - slot.reported;
    const std::uint32_t tokens = std::min(draw_tokens(slot, slot.draws), left > 1 ? left - 1 : 0U);
    if (tokens > 0) tell(slot, WorkerEvent::Kind::tokens, tokens, at, out);
  }
}

std::uint32_t Worker::draw_tokens(const Slot& slot, Rng& rng) const {
  if (deployment_.drafts == 0) return 1;
  const double u = rng.uniform();
  std::uint32_t tokens = 1;
  for (std::uint32_t i = 0; i < deployment_.drafts && u < slot.survival[i]; ++i) ++tokens;
  return tokens;
}

std::uint32_t Worker::draw_steps(Slot& slot, std::uint32_t tokens) const {
  if (deployment_.drafts == 0) return tokens;
  Rng rng = slot.draws;  // the same draws follow again when tokens are reported
  std::uint32_t steps = 0;
  for (std::uint32_t sent = 0; sent < tokens; ++steps) sent += draw_tokens(slot, rng);
  return steps;
}

std::uint32_t Worker::running() const {
  double count = 0;
  for (const Rank& rank : ranks_) count += rank.in_memory;
  return static_cast<std::uint32_t>(count);
}

double Worker::energy_joules(Instant now) const {
  const double alive = std::max(0.0, (now - born_).seconds());
  return busy_joules_ + alive * deployment_.parallelism.gpus() * deployment_.hardware.idle_w;
}

}  // namespace assay::sim
