#include "hub/ledger.h"

#include "base/format.h"
#include "rulebook/history_entry.h"
#include "rules/review.h"

namespace assay::hub {
namespace {

using rulebook::kFederationHistory;

constexpr int kTries = 100;

Error broken(std::int64_t sequence) {
  return {Code::corrupt,
          format("entry {} of the federation's history does not follow from those before it",
                 sequence)};
}

}  // namespace

Result<void> Ledger::refresh() {
  ASSIGN_OR_RETURN(const auto entries, store_.history(kFederationHistory));
  if (entries.size() < static_cast<std::size_t>(sequence_)) return broken(sequence_);
  if (head_.empty()) head_ = rules::kNoHash;
  if (sequence_ > 0 && entries[static_cast<std::size_t>(sequence_) - 1].hash != head_) {
    return broken(sequence_);
  }
  for (auto i = static_cast<std::size_t>(sequence_); i < entries.size(); ++i) {
    const rulebook::HistoryEntry& entry = entries[i];
    const std::int64_t sequence = sequence_ + 1;
    if (entry.sequence != sequence || entry.previous != head_ ||
        entry.hash != rules::hash_of(entry)) {
      return broken(sequence);
    }
    ASSIGN_OR_RETURN(const sites::Role role, sites::role_named(entry.role));
    ASSIGN_OR_RETURN(const sites::Act act, sites::parse_act(entry.body));
    const auto done = sites::apply(state_, {role, entry.actor}, act);
    if (!done || *done != sites::Effect::done) return broken(sequence);
    sequence_ = sequence;
    head_ = entry.hash;
  }
  return {};
}

Result<sites::Effect> Ledger::act(const sites::Actor& actor, const sites::Act& act,
                                  const std::string& at) {
  for (int i = 0; i < kTries; ++i) {
    TRY(refresh());
    sites::Federation next = state_;
    ASSIGN_OR_RETURN(const sites::Effect effect, sites::apply(next, actor, act));
    if (effect == sites::Effect::repeated) return effect;
    rulebook::HistoryEntry entry{.submission = std::string(kFederationHistory),
                                 .sequence = sequence_ + 1,
                                 .at = at,
                                 .actor = actor.organisation,
                                 .role = std::string(to_string(actor.role)),
                                 .kind = std::string(to_string(act.kind)),
                                 .body = sites::to_json(act).dump(),
                                 .previous = head_};
    entry.hash = rules::hash_of(entry);
    const auto appended = store_.append(entry);
    if (appended) {
      state_ = std::move(next);
      sequence_ = entry.sequence;
      head_ = entry.hash;
      return effect;
    }
    // Another process took the sequence.
    if (appended.error().code != Code::refused) return appended.error();
  }
  return Error{Code::timed_out, "other writers were faster at every retry"};
}

}  // namespace assay::hub
