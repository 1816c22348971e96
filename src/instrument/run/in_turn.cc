#include "run/in_turn.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace assay::run {

InTurn::InTurn(Target& target, const Clock& clock, InTurnRule rule)
    : target_(target), clock_(clock), rule_(std::move(rule)) {
  CHECK(rule_.asks());
  held_.reserve(std::size_t{2} * rule_.group);
}

std::uint32_t InTurn::group_of(const Query& query) const {
  if (rule_.group > 0) return query.index / rule_.group;
  const auto above = std::ranges::upper_bound(rule_.barriers, query.index);
  return static_cast<std::uint32_t>(above - rule_.barriers.begin());
}

std::size_t InTurn::in_flight() const {
  const std::size_t sent = target_.in_flight();
  if (rule_.group == 0) return held_.size() + sent;
  return held_.size() + (sent == 0 ? 0 : std::max(sent, passed_on_));
}

void InTurn::submit(const Query& query, Instant due, EventSink& sink) {
  if (query.phase != rule_.phase) return target_.submit(query, due, sink);
  const bool idle = rule_.group == 0 && target_.in_flight() == 0 && held_.empty();
  const bool joins = begun_ && group_of(query) == current_;  // what is held is of later groups
  if (!idle && !joins) {
    held_.push_back({query, due});
    return;
  }
  if (idle) {
    begun_ = true;
    current_ = group_of(query);
  }
  ++passed_on_;
  target_.submit(query, rule_.group > 0 ? due_ : due, sink);
}

// One group of the held queries; a later group of a partial one waits its turn too.
void InTurn::pass_on(EventSink& sink) {
  begun_ = true;
  current_ = group_of(held_.front().query);
  due_ = clock_.now();
  const auto end = std::ranges::find_if(
      held_, [this](const Held& held) { return group_of(held.query) != current_; });
  const std::vector<Held> group(held_.begin(), end);
  passed_on_ = group.size();
  held_.erase(held_.begin(), end);
  for (const Held& held : group) {
    target_.submit(held.query, rule_.group > 0 ? due_ : held.due, sink);
  }
}

// Not as soon as a group has ended: the loop looks at the clock first. What it holds when it finds
// that the least time is over then begins after that time.
void InTurn::poll(Instant until, EventSink& sink) {
  if (target_.in_flight() == 0 && !held_.empty()) pass_on(sink);
  target_.poll(until, sink);
  if (target_.in_flight() == 0) passed_on_ = 0;
}

void InTurn::cancel_all(EventSink& sink) {
  target_.cancel_all(sink);
  const Instant now = clock_.now();
  const std::vector<Held> never_sent = std::move(held_);
  held_ = {};
  for (const Held& held : never_sent) {
    sink.on_done(Event{.query = held.query, .outcome = Outcome::cancelled, .due = now, .done = now},
                 "the run ended before its turn");
  }
}

}  // namespace assay::run
