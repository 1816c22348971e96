// Guard: what a whole run's GuardRule comes to while the run goes on. It hears of every query that
// was issued and that ended, in whichever shard, and says when to stop: the same fatal answer and
// nothing else, more failures than are allowed, or a budget that is spent.
//
// A budget is judged before it is spent: what is in flight, and one query more, is taken to need
// what the queries that ended needed on average. So a run overshoots by its first queries at most,
// whose need is not known. A reply that does not say how many tokens it held counts its fragments.
//
// One object a run. A shard writes its own cell, and only its own; any thread reads.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "domain/event.h"
#include "domain/plan.h"

namespace assay::run {

enum class StopReason : std::uint8_t;

// Before so many queries ended, their failed share says little: 20, and as many as let one failure
// be within the share that is allowed.
std::uint64_t share_is_judged_from(double failed_share_max);

// An answer that asking again does not change: no key, no such path or model, nobody listens, no
// TLS. What a server under load says (429, 500, 503, a reset) is none.
bool is_fatal(const Event& event);

class Guard {
 public:
  Guard(const GuardRule& rule, std::uint32_t shards);

  // The shard's own thread.
  void on_issued(std::uint32_t shard);
  void on_done(std::uint32_t shard, const Event& event);

  // Likewise. `drains`: what is in flight when the run stops is waited for, so that it needs its
  // part of a budget. Once there is a verdict, it is the same for ever, for every shard.
  std::optional<StopReason> verdict(std::uint32_t shard, Instant now, bool drains);
  Instant held_back_until() const { return Instant{held_back_.load(std::memory_order_relaxed)}; }
  // After the run. The verdict for a person: "20 queries in a row got HTTP 401, and none
  // succeeded"; "" without one.
  const std::string& reason() const { return reason_; }

 private:
  using Count = std::atomic<std::uint64_t>;
  struct alignas(64) Cell {
    Count issued{0};
    Count ended{0};
    Count failed{0};
    Count ok{0};
    Count tokens_in{0};
    Count tokens_out{0};
    Count streak{0};                      // queries in a row with one fatal answer
    std::atomic<std::uint32_t> fatal{0};  // which; 0: none
    std::atomic<std::int64_t> since{0};   // when the streak began
    bool judged = true;                   // nothing to judge since; the shard's own
  };
  struct Sums {
    std::uint64_t in_flight = 0;  // and waited for
    std::uint64_t ended = 0;
    std::uint64_t failed = 0;
    std::uint64_t ok = 0;
    double tokens = 0;
    double cost = 0;
    std::uint64_t streak = 0;  // of all shards, where it is of one answer
    std::uint32_t fatal = 0;   // that answer; 0: there is none
    std::int64_t since = 0;
  };

  Sums sums(bool drains) const;
  void sum_streaks(Sums& out) const;
  bool refused(const Sums& sums, Instant now) const;
  bool too_many_failed(const Sums& sums) const;
  static double ahead(const Sums& sums);
  bool tokens_are_spent(const Sums& sums) const;
  bool money_is_spent(const Sums& sums) const;
  std::string words_for(StopReason why, const Sums& sums) const;

  const GuardRule rule_;
  const bool judges_;
  const bool budgets_;
  std::vector<Cell> cells_;
  std::atomic<std::int64_t> held_back_{0};
  std::atomic<int> verdict_{-1};
  std::string reason_{};  // written by the shard that found the verdict
};

}  // namespace assay::run
