// Guard: applies a run's GuardRule while the run goes on. It counts every query issued and ended,
// in all shards, and decides when to stop: only the same fatal answer comes back, more failures
// than allowed, or a budget is spent.
//
// A budget is judged before it is spent: the guard assumes that the queries in flight, and one
// more, need the average of those that ended. So a run overshoots by its first queries at most,
// whose need is unknown. For a reply without token counts it counts the fragments.
//
// One object a run. A shard writes only its own cell; any thread reads.
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

// Queries that must end before their failed share is judged: at least 20, and enough that one
// failure is within the allowed share.
std::uint64_t share_is_judged_from(double failed_share_max);

// An answer that a retry does not change: no key, no such path or model, no listener, no TLS.
// Errors of a server under load (429, 500, 503, a reset) are not fatal.
bool is_fatal(const Event& event);

class Guard {
 public:
  // `first`: the number of the first shard, where other processes have those before it.
  Guard(const GuardRule& rule, std::uint32_t shards, std::uint32_t first = 0);

  // Call from the shard's own thread.
  void on_issued(std::uint32_t shard);
  void on_done(std::uint32_t shard, const Event& event);

  // Call from the shard's own thread. `drains`: queries in flight are awaited when the run stops,
  // so they need their part of a budget. A verdict, once found, never changes, for all shards.
  std::optional<StopReason> verdict(std::uint32_t shard, Instant now, bool drains);
  Instant held_back_until() const { return Instant{held_back_.load(std::memory_order_relaxed)}; }
  // After the run: the verdict for a person, "20 queries in a row got HTTP 401, and none
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
    Count streak{0};                      // queries in a row with the answer `fatal`
    std::atomic<std::uint32_t> fatal{0};  // which answer; 0: none
    std::atomic<std::int64_t> since{0};   // when the streak began
    bool judged = true;                   // no change since the last verdict; the shard's own
  };
  struct Sums {
    std::uint64_t in_flight = 0;  // and awaited
    std::uint64_t ended = 0;
    std::uint64_t failed = 0;
    std::uint64_t ok = 0;
    double tokens = 0;
    double cost = 0;
    std::uint64_t streak = 0;  // over all shards, if their answer is the same
    std::uint32_t fatal = 0;   // that answer; 0: none
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
  Cell& cell_of(std::uint32_t shard) { return cells_[shard - first_]; }

  std::uint32_t first_;
  std::vector<Cell> cells_;
  std::atomic<std::int64_t> held_back_{0};
  std::atomic<int> verdict_{-1};
  std::string reason_{};  // written by the shard that found the verdict
};

}  // namespace assay::run
