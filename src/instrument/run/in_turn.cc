#include "run/in_turn.h"

#include <algorithm>

#include "base/check.h"

namespace assay::run {

InTurn::InTurn(Target& target, const Clock& clock, InTurnRule rule)
    : target_(target), clock_(clock), rule_(rule) {
  CHECK(rule.group > 0);
  held_.reserve(std::size_t{2} * rule.group);
}

std::size_t InTurn::in_flight() const {
  const std::size_t sent = target_.in_flight();
  return held_.size() + (sent == 0 ? 0 : std::max(sent, passed_on_));
}

void InTurn::submit(const Query& query, Instant due, EventSink& sink) {
  if (query.phase != rule_.phase) return target_.submit(query, due, sink);
  const bool idle = target_.in_flight() == 0 && held_.empty();
  const bool joins = begun_ && held_.empty() && group_of(query) == current_;
  if (!idle && !joins) {
    held_.push_back(query);
    return;
  }
  if (!joins) {
    begun_ = true;
    current_ = group_of(query);
    passed_on_ = 0;
    due_ = due;
  }
  ++passed_on_;
  target_.submit(query, due_, sink);
}

// One group of the held queries; a later group of a partial one waits its turn too.
void InTurn::pass_on(EventSink& sink) {
  begun_ = true;
  current_ = group_of(held_.front());
  due_ = clock_.now();
  const auto end = std::ranges::find_if(
      held_, [this](const Query& query) { return group_of(query) != current_; });
  const std::vector<Query> group(held_.begin(), end);
  passed_on_ = group.size();
  held_.erase(held_.begin(), end);
  for (const Query& query : group) target_.submit(query, due_, sink);
}

void InTurn::poll(Instant until, EventSink& sink) {
  target_.poll(until, sink);
  if (target_.in_flight() > 0) return;
  passed_on_ = 0;
  if (!held_.empty()) pass_on(sink);
}

void InTurn::cancel_all(EventSink& sink) {
  target_.cancel_all(sink);
  const Instant now = clock_.now();
  const std::vector<Query> never_sent = std::move(held_);
  held_ = {};
  for (const Query& query : never_sent) {
    sink.on_done(Event{.query = query, .outcome = Outcome::cancelled, .due = now, .done = now},
                 "the run ended before its turn");
  }
}

}  // namespace assay::run
