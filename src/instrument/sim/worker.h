// Worker: one serving engine: queues, continuous batching, KV memory, and the loop of steps.
//
// Between two events (a prompt to compute, a sequence that ends, memory that runs out) every step
// of a batch equals the one before, except that contexts are one token longer, and the step time is
// linear in them. So such a run of steps is one *phase*, computed at its two ends: a simulated hour
// costs as many operations as it has queries, not as it has tokens. The instants of single tokens
// inside a phase follow from the same line, so the live endpoint and the simulation agree to the
// nanosecond.
//
// Attention-DP ranks have their own queues and KV; a step takes as long as its busiest rank. One
// thread. The caller passes the time, as in sim/engine.h.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <queue>
#include <vector>

#include "base/rng.h"
#include "base/time.h"
#include "sim/engine.h"
#include "sim/kv_cache.h"
#include "sim/step_model.h"

namespace assay::sim {

struct WorkerOptions {
  WorkerRole role = WorkerRole::both;
  std::uint64_t seed = 1;
  bool every_token = false;  // report each step's tokens, not only the first and the last
  bool prefix_cache = true;
  double noise_sigma = 0;   // step time times a lognormal of this sigma
  double stall_chance = 0;  // of one step: 20 to 200 ms more
  double slow_factor = 1;   // fault injection: a slow worker
  double kv_share = 1;      // fault injection: share of the KV memory that exists
};

// A worker's report about a sequence.
struct WorkerEvent {
  enum class Kind : std::uint8_t { first, tokens, finished, prefilled, refused };
  Kind kind = Kind::first;
  std::uint32_t slot = 0;    // the caller's
  std::uint32_t tokens = 1;  // with this event; `finished` has those since the last report
  Instant at{};
  std::uint32_t cached = 0;  // prompt tokens that the prefix cache had when it was first taken in
};

// A sequence as the worker needs it.
struct Sequence {
  std::uint32_t slot = 0;  // the caller's, unique among the worker's
  std::uint64_t id = 0;    // seeds its draws
  std::uint32_t prompt = 1;
  std::uint32_t output = 1;
  std::uint32_t done = 0;  // tokens already sent elsewhere (decode role)
  std::vector<std::uint64_t> blocks{};
};

class Worker {
 public:
  Worker(const Deployment& deployment, WorkerOptions options);

  void admit(Sequence sequence, Instant now);
  // True when the worker had the sequence.
  bool cancel(std::uint32_t slot, Instant now);
  Instant next() const;
  void advance(Instant now, std::vector<WorkerEvent>& out);
  // Loses all sequences, which go into `lost`; accepts nothing until admit() revives it.
  void kill(Instant now, std::vector<std::uint32_t>& lost);
  // Both apply from the next step on.
  void set_slow(double factor, Instant now);
  void set_kv_share(double share, Instant now);

  // For routers and /metrics.
  std::uint32_t running() const;
  std::uint32_t waiting() const { return waiting_count_; }
  double kv_usage() const;
  double kv_tokens_used() const;
  double kv_tokens_capacity() const { return capacity_ * static_cast<double>(ranks_.size()); }
  double prompt_tokens_waiting() const { return prompt_waiting_; }
  std::uint64_t preemptions() const { return preemptions_; }
  std::uint64_t prefix_hit_tokens() const { return hit_tokens_; }
  std::uint64_t prefix_query_tokens() const { return query_tokens_; }
  std::uint64_t steps() const { return steps_; }
  double busy_seconds() const { return busy_; }
  double energy_joules(Instant now) const;
  // Tokens of a shared block: a prompt has one hash for each such block.
  std::uint32_t prefix_block_tokens() const {
    return deployment_.backend.block_tokens < 16 ? 16 : deployment_.backend.block_tokens;
  }
  std::size_t cached_prefix(const std::vector<std::uint64_t>& blocks) const;
  const StepModel& model() const { return model_; }
  const Deployment& deployment() const { return deployment_; }
  bool idle() const { return !phase_.active && waiting_count_ == 0 && running() == 0; }

 private:
  enum class State : std::uint8_t { empty, waiting, prefilling, decoding };
  struct Slot {
    State state = State::empty;
    Sequence sequence{};
    std::uint32_t rank = 0;
    Instant arrived{};
    bool cancelled = false;
    bool recompute = false;        // preempted: its KV is computed here, in any role
    std::uint32_t target = 0;      // tokens to compute before it decodes: the prompt, and after a
                                   // preemption what it had generated
    std::uint32_t computed = 0;    // of those, how many have their KV
    std::uint32_t reported = 0;    // output tokens reported
    std::uint32_t sent = 0;        // output tokens when decoding (re)started
    std::uint32_t generation = 0;  // counts uses and preemptions: older heap entries are stale
    std::uint32_t shared_blocks = 0;  // of its prompt, held in the cache
    std::uint32_t cached = 0;         // prompt tokens found in the cache at its first admission
    std::uint64_t start_step = 0;
    std::uint64_t finish_step = 0;    // decode step count at which it ends
    double rate = 1;                  // tokens a step
    double charged = 0;               // KV tokens it was charged at admission
    std::array<float, 8> survival{};  // chance that at least i drafts are accepted
    std::uint32_t place = 0;          // in decoding_
    std::uint32_t lead = 0;           // decode role: 1 when its first token is a decode step's
    Rng draws{0};
  };
  struct Finish {
    std::uint64_t step = 0;
    std::uint32_t index = 0;
    std::uint32_t generation = 0;
    bool operator>(const Finish& other) const {
      return step != other.step ? step > other.step : index > other.index;
    }
  };
  struct Entry {
    std::uint32_t index = 0;
    std::uint32_t generation = 0;
  };
  struct Rank {
    std::deque<std::uint32_t> waiting{};  // indices into slots_
    std::vector<Entry> admitted{};        // in order, for preemption; stale ones are dropped lazily
    double sequences = 0;                 // decoding
    double context = 0;                   // of those
    double rate = 0;                      // sum of their tokens a step
    double charged = 0;                   // KV tokens of all admitted ones, at the last phase's end
    std::uint32_t in_memory = 0;
    std::unique_ptr<PrefixCache> cache{};
  };
  struct Chunk {
    std::uint32_t index = 0;
    std::uint32_t tokens = 0;
    bool completes = false;
  };
  struct Phase {
    bool active = false;
    bool decodes = false;
    Instant start{};
    std::uint64_t steps = 0;
    std::uint64_t reported = 0;  // steps whose tokens were reported, when every_token
    double first_s = 0;
    double slope_s = 0;  // each further step takes this much longer
    double watts = 0;
    std::vector<Chunk> chunks{};
    Duration after(std::uint64_t steps) const;
  };

  struct Prompts {  // a step's prefill: of the busiest rank, and of all
    double tokens = 0;
    double work = 0;
    double all = 0;
    double leaving = 0;  // prompts that leave a prefill worker's busiest rank
  };

  std::uint32_t take_index();
  void drop(std::uint32_t index);
  void begin(Instant now);
  void end(std::vector<WorkerEvent>& out);
  void join_decode_batch(Rank& rank);
  std::uint32_t choose_rank();
  void gather(Rank& rank, Prompts& prompts);
  void gather_ahead(Instant now, Prompts& prompts);
  void refuse_head(Rank& rank);
  std::uint64_t steps_ahead();
  void start_decoding(std::uint32_t index, std::uint32_t lead);
  void stop_decoding(std::uint32_t index);
  void prompt_done(std::uint32_t index, Instant at, std::vector<WorkerEvent>& out);
  void finish_due(Instant at, std::vector<WorkerEvent>& out);
  void tell(Slot& slot, WorkerEvent::Kind kind, std::uint32_t tokens, Instant at,
            std::vector<WorkerEvent>& out);
  void report_step(Instant at, bool last_of_phase, std::vector<WorkerEvent>& out);
  void cut_phase(Instant now);
  std::uint32_t draw_steps(Slot& slot, std::uint32_t tokens) const;
  std::uint32_t draw_tokens(const Slot& slot, Rng& rng) const;
  bool hold_prompts();
  bool balances() const;
  void see_arrivals();
  void hide_until_polled(std::uint32_t index, Instant now);
  std::uint64_t steps_by(Instant now) const;
  StepLoad load_of(const Prompts& prompts, bool decodes, double steps_later) const;
  void set_phase(Instant now, bool decodes, std::uint64_t steps, const Prompts& prompts);
  // Memory (worker_memory.cc).
  double room(const Rank& rank) const;
  bool reserve(Rank& rank, std::uint32_t index);
  void release(Slot& slot);
  void share_prompt(Slot& slot);
  std::uint64_t steps_until_full(const Rank& rank) const;
  void make_room(Rank& rank);
  void preempt(Rank& rank, std::uint32_t index);
  std::uint32_t tokens_by_now(const Slot& slot) const;
  void tidy(Rank& rank);

  Deployment deployment_;
  StepModel model_;
  WorkerOptions options_;
  double capacity_ = 0;  // KV tokens of one rank
  double half_block_ = 0;
  double fixed_tokens_ = 0;  // of each sequence, whatever its length
  std::vector<Rank> ranks_{};
  std::vector<Slot> slots_{};
  std::vector<std::uint32_t> free_slots_{};
  std::vector<std::uint32_t> by_caller_{};  // the caller's slot -> index + 1
  std::vector<std::uint32_t> decoding_{};   // indices, for reports of every token
  std::priority_queue<Finish, std::vector<Finish>, std::greater<>> finishes_{};
  std::uint64_t step_ = 0;  // decode steps so far
  Phase phase_{};
  std::uint32_t waiting_count_ = 0;
  double prompt_waiting_ = 0;
  std::vector<WorkerEvent> early_{};        // refused; the next advance() reports them
  std::vector<std::uint32_t> fresh_{};      // decode role: their first token comes in this step
  std::vector<std::uint32_t> cancelled_{};  // dropped when the phase ends
  Instant wake_ = Instant::max();           // idle, with something to begin
  Instant ended_{};                         // the last phase
  Instant in_time_ = Instant::max();        // who arrived later misses the step being made up
  std::uint64_t held_ = 0;                  // steps since prompts were last let in, in attention DP
  // Arrivals that the scheduler has not seen yet, and the decode step at which it will.
  std::deque<std::uint32_t> unseen_{};
  std::uint64_t poll_step_ = 0;
  std::uint64_t polled_step_ = 0;  // when it last checked, or could have
  bool preempted_ = false;         // while this step was made up
  Rng noise_;
  std::uint64_t preemptions_ = 0;
  std::uint64_t hit_tokens_ = 0;
  std::uint64_t query_tokens_ = 0;
  std::uint64_t steps_ = 0;
  double busy_ = 0;
  double busy_joules_ = 0;
  Instant born_{};
};

}  // namespace assay::sim
