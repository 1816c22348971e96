#include "run/conversations.h"

#include <algorithm>

#include "base/check.h"

namespace assay::run {

Conversations::Conversations(const std::vector<Conversation>& all, std::uint32_t at_once,
                             Instant now)
    : all_(all) {
  slots_.resize(std::min<std::size_t>(at_once, all.size()));
  thinning_ = slots_.empty();
  for (Slot& slot : slots_) begin_next(slot, now);
}

void Conversations::begin_next(Slot& slot, Instant now) {
  slot = Slot{};
  if (begun_ == all_.size()) {
    thinning_ = true;
    return;
  }
  slot.conversation = &all_[begun_++];
  CHECK(!slot.conversation->turns.empty());
  slot.due = now;  // the first turn follows no reply, so it waits for none
}

std::optional<Conversations::DueTurn> Conversations::next() const {
  std::optional<DueTurn> out;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (slot.conversation == nullptr || slot.waiting) continue;
    if (out && out->at <= slot.due) continue;
    out = DueTurn{.slot = static_cast<std::uint32_t>(i),
                  .sample = slot.conversation->turns[slot.turn].sample,
                  .at = slot.due};
  }
  return out;
}

void Conversations::sent(const DueTurn& turn, const Query& query) {
  slots_[turn.slot].waiting = true;
  in_flight_.insert(query_key(query)) = turn.slot;
}

std::vector<std::uint32_t> Conversations::ended(const Query& query, Instant done, bool ok) {
  std::vector<std::uint32_t> given_up;
  const std::uint32_t* const found = in_flight_.find(query_key(query));
  if (found == nullptr) return given_up;  // of an earlier phase
  Slot& slot = slots_[*found];
  in_flight_.erase(query_key(query));
  slot.waiting = false;
  ++slot.turn;
  const std::vector<Turn>& turns = slot.conversation->turns;
  if (ok && slot.turn < turns.size()) {
    slot.due = done + turns[slot.turn].delay;
    return given_up;
  }
  for (; slot.turn < turns.size(); ++slot.turn) given_up.push_back(turns[slot.turn].sample);
  begin_next(slot, done);
  return given_up;
}

bool Conversations::finished() const {
  return std::ranges::all_of(slots_, [](const Slot& slot) { return slot.conversation == nullptr; });
}

}  // namespace assay::run
