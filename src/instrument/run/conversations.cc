#include "run/conversations.h"

#include <algorithm>

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
  slots_[slot].conversation = &all_[begun_++];
  CHECK(!slots_[slot].conversation->turns.empty());
  becomes_due(slot, now);  // the first turn follows no reply, so it waits for none
}

void Conversations::becomes_due(std::uint32_t slot, Instant at) {
  due_.push_back({at, slot});
  std::ranges::push_heap(due_, Later{});
}

std::optional<Conversations::DueTurn> Conversations::next() const {
  if (due_.empty()) return std::nullopt;
  const auto& [at, slot] = due_.front();
  const Slot& first = slots_[slot];
  return DueTurn{.slot = slot, .sample = first.conversation->turns[first.turn].sample, .at = at};
}

void Conversations::sent(const DueTurn& turn, const Query& query) {
  CHECK(!due_.empty() && due_.front().slot == turn.slot);
  std::ranges::pop_heap(due_, Later{});
  due_.pop_back();
  in_flight_.insert(query_key(query)) = turn.slot;
}

std::vector<std::uint32_t> Conversations::ended(const Query& query, Instant done, bool ok) {
  std::vector<std::uint32_t> given_up;
  const std::uint32_t* const found = in_flight_.find(query_key(query));
  if (found == nullptr) return given_up;  // of an earlier phase
  const std::uint32_t id = *found;
  Slot& slot = slots_[id];
  in_flight_.erase(query_key(query));
  ++slot.turn;
  const std::vector<Turn>& turns = slot.conversation->turns;
  if (ok && slot.turn < turns.size()) {
    becomes_due(id, done + turns[slot.turn].delay);
    return given_up;
  }
  for (; slot.turn < turns.size(); ++slot.turn) given_up.push_back(turns[slot.turn].sample);
  begin_next(id, done);
  return given_up;
}

bool Conversations::finished() const { return under_way_ == 0; }

}  // namespace assay::run
