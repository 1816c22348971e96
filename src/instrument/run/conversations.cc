#include "run/conversations.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace assay::run {

Conversations::Conversations(const std::vector<Conversation>& all, std::uint32_t at_once,
                             Instant now)
    : all_(all) {
  slots_.resize(std::min<std::size_t>(at_once, all.size()));
  due_.reserve(slots_.size());
  thinning_ = slots_.empty();
  under_way_ = slots_.size();
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) begin_next(slot, now);
}

void Conversations::begin_next(std::uint32_t slot, Instant now) {
  slots_[slot] = Slot{};
  if (begun_ == all_.size()) {
    thinning_ = true;
    --under_way_;
    return;
  }
  const Conversation& begun = all_[begun_++];
  CHECK(!begun.turns.empty());
  slots_[slot].conversation = &begun;
  slots_[slot].left = begun.turns.size();
  if (begun.after.empty()) return becomes_due(slot, 0, now);  // it follows no reply, so no delay
  begin_trajectory(slot, now);
}

void Conversations::begin_trajectory(std::uint32_t slot, Instant now) {
  const Conversation& begun = *slots_[slot].conversation;
  CHECK(begun.after.size() == begun.turns.size());
  std::vector<Waiting>& waiting = slots_[slot].waiting;
  waiting.resize(begun.turns.size());
  for (std::uint32_t turn = 0; turn < begun.turns.size(); ++turn) {
    waiting[turn].missing = static_cast<std::uint32_t>(begun.after[turn].size());
    for (const std::uint32_t before : begun.after[turn]) waiting[before].next.push_back(turn);
    if (waiting[turn].missing == 0) becomes_due(slot, turn, now + begun.turns[turn].delay);
  }
}

void Conversations::becomes_due(std::uint32_t slot, std::size_t turn, Instant at) {
  due_.push_back({at, slot, static_cast<std::uint32_t>(turn)});
  std::ranges::push_heap(due_, Later{});
}

std::optional<Conversations::DueTurn> Conversations::next() const {
  if (due_.empty()) return std::nullopt;
  const auto& [at, slot, turn] = due_.front();
  return DueTurn{.slot = slot,
                 .turn = turn,
                 .sample = slots_[slot].conversation->turns[turn].sample,
                 .at = at};
}

void Conversations::sent(const DueTurn& turn, const Query& query) {
  CHECK(!due_.empty() && due_.front().slot == turn.slot && due_.front().turn == turn.turn);
  std::ranges::pop_heap(due_, Later{});
  due_.pop_back();
  in_flight_.insert(query_key(query)) = {turn.slot, turn.turn};
}

std::vector<std::uint32_t> Conversations::ended(const Query& query, Instant done, bool ok) {
  const UnderWay* const found = in_flight_.find(query_key(query));
  if (found == nullptr) return {};  // of an earlier phase
  const UnderWay one = *found;
  in_flight_.erase(query_key(query));
  Slot& slot = slots_[one.slot];
  --slot.left;
  std::vector<std::uint32_t> given_up =
      slot.waiting.empty() ? turn_ended(one, done, ok) : node_ended(one, done, ok);
  slot.left -= given_up.size();
  if (slot.left == 0) begin_next(one.slot, done);
  return given_up;
}

std::vector<std::uint32_t> Conversations::turn_ended(const UnderWay& one, Instant done, bool ok) {
  const std::vector<Turn>& turns = slots_[one.slot].conversation->turns;
  std::vector<std::uint32_t> given_up;
  std::size_t next = one.turn + std::size_t{1};
  if (ok && next < turns.size()) becomes_due(one.slot, next, done + turns[next].delay);
  for (; !ok && next < turns.size(); ++next) given_up.push_back(turns[next].sample);
  return given_up;
}

std::vector<std::uint32_t> Conversations::node_ended(const UnderWay& one, Instant done, bool ok) {
  Slot& slot = slots_[one.slot];
  const std::vector<Turn>& turns = slot.conversation->turns;
  std::vector<std::uint32_t> given_up;
  if (ok) {
    for (const std::uint32_t turn : slot.waiting[one.turn].next) {
      Waiting& waits = slot.waiting[turn];
      waits.last = std::max(waits.last, done);
      // Another of its replies may have failed: then it is given up already.
      if (--waits.missing > 0 || waits.given_up) continue;
      becomes_due(one.slot, turn, waits.last + turns[turn].delay);
    }
    return given_up;
  }
  std::vector<std::uint32_t> lost{one.turn};
  while (!lost.empty()) {
    const std::uint32_t turn = lost.back();
    lost.pop_back();
    for (const std::uint32_t next : slot.waiting[turn].next) {
      if (std::exchange(slot.waiting[next].given_up, true)) continue;
      given_up.push_back(turns[next].sample);
      lost.push_back(next);
    }
  }
  return given_up;
}

bool Conversations::finished() const { return under_way_ == 0; }

}  // namespace assay::run
