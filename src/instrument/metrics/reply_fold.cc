#include "metrics/reply_fold.h"

#include <algorithm>

namespace assay::metrics {
namespace {

constexpr TokenCount kUncounted{};

}  // namespace

ReplyFold::ReplyFold(const RunInfo& info, bool keep_text, bool with_tail)
    : keep_text_(keep_text), with_tail_(with_tail) {
  for (const PhaseInfo& phase : info.phases) phases_.push_back(phase.kind);
}

// A phase that the header does not name counts as measured, as in a log made by hand.
bool ReplyFold::measured(std::uint16_t phase) const {
  if (phase >= phases_.size() || phases_[phase] == PhaseKind::performance) return true;
  return with_tail_ && phases_[phase] == PhaseKind::tail;
}

const TokenCount* ReplyFold::counted(const Query& query) const {
  if (counts_ == nullptr) return nullptr;
  const TokenCount* const found = counts_->find(query);
  return found == nullptr ? &kUncounted : found;
}

void ReplyFold::on_phase(const PhaseMark& mark) {
  if (mark.step == PhaseStep::started && measured(mark.phase)) {
    run_start_ = std::min(run_start_, mark.at);
  }
}

void ReplyFold::on_stream_event(const Query& query, const StreamEvent& event,
                                std::string_view text) {
  if (!measured(query.phase)) return;
  Open& open = open_.insert(query_key(query));
  open.events.push_back(event);
  if (keep_text_) open.text += text;
}

void ReplyFold::on_done(const Event& event, std::string_view detail) {
  if (!measured(event.query.phase)) return;
  if (event.sent.known()) run_start_ = std::min(run_start_, event.sent);
  if (event.done.known()) run_end_ = std::max(run_end_, event.done);
  const std::uint64_t key = query_key(event.query);
  const Open* const open = open_.find(key);
  const TokenCount* const count = counted(event.query);
  evidence_.clear();
  if (open != nullptr) {
    for (const StreamEvent& told : open->events) evidence_.add(told);
  }
  reconcile(event, evidence_, count, truth_);
  if (open == nullptr) {
    on_reply({event, {}, {}, detail, count, &truth_});
    return;
  }
  on_reply({event, open->events, open->text, detail, count, &truth_});
  open_.erase(key);
}

}  // namespace assay::metrics
