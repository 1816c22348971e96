// InTurn: a Target before another one. It passes the queries of one phase on in groups: the first
// group at the first poll, each next one at the poll after all queries of the group before have
// ended. So a client asks as LoadGen's SingleStream (groups of one) and MultiStream do, and the
// loop needs no rule for it: its limit is two groups, one in flight and one that is held here.
//
// The queries of a group are due at the instant at which the group is passed on. A held query
// counts as in flight, and so does each of a group until its slowest has ended: the loop never is
// more than a group ahead. When the loop has stopped issuing, the group that is held still goes: it
// is the one that begins after the phase's least time. Groups are by Query.index, so a run has one
// shard.
//
// With barriers (PhasePlan::barriers) a group has any size, and its queries are released when they
// are due; only the first of the next group waits for the last reply of the one before. They keep
// the due instants of the plan, so that the wait is a part of their latency.
//
// Target and clock must outlive it. Belongs to the thread that runs the loop.
#pragma once

#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "domain/target.h"

namespace assay::run {

struct InTurnRule {
  std::uint16_t phase = 0;  // index into the plan's phases; queries of others pass unchanged
  std::uint32_t group = 0;  // queries of a group; 0: no rule, or barriers
  std::vector<std::uint32_t> barriers{};  // ascending: the first query of each group but the first
  bool asks() const { return group > 0 || !barriers.empty(); }
};

class InTurn final : public Target {
 public:
  // REQUIRES: rule.asks().
  InTurn(Target& target, const Clock& clock, InTurnRule rule);

  void submit(const Query& query, Instant due, EventSink& sink) override;
  void poll(Instant until, EventSink& sink) override;
  std::size_t in_flight() const override;
  void cancel_all(EventSink& sink) override;

 private:
  struct Held {
    Query query{};
    Instant due{};
  };
  std::uint32_t group_of(const Query& query) const;
  void pass_on(EventSink& sink);

  Target& target_;
  const Clock& clock_;
  InTurnRule rule_;
  std::uint32_t current_ = 0;  // the group that was passed on last
  std::size_t passed_on_ = 0;  // how many of it; 0 once all have ended
  bool begun_ = false;
  Instant due_{};             // of the current group
  std::vector<Held> held_{};  // in order
};

}  // namespace assay::run
