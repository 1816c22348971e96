#include "loadgen/measured_fold.h"

#include <utility>

namespace assay::loadgen {

bool has_performance_test(const RunInfo& info) {
  const Json& test = info.facts[kTestFact];
  return !test.is_null() && test["requested"]["mode"].as_string() != to_string(Mode::AccuracyOnly);
}

bool MeasuredFold::is_measured(std::uint16_t phase) const {
  return phase < phases_.size() && phases_[phase].kind == PhaseKind::performance;
}

void MeasuredFold::on_phase(const PhaseMark& mark) {
  metrics::ReplyFold::on_phase(mark);
  if (mark.step == PhaseStep::started && is_measured(mark.phase) && !started_.known()) {
    started_ = mark.at;
  }
}

void MeasuredFold::on_sent(const assay::Query& query, Instant, Instant) {
  if (is_measured(query.phase)) sent_.push_back(query);
}

// In the log of a killed run the phase's mark may be missing, and then its first query begins it.
std::int64_t MeasuredFold::since_start(Instant at) const {
  return started_.known() && at.known() ? (at - started_).ns : 0;
}

void MeasuredFold::on_reply(const metrics::Reply& reply) {
  const Event& event = reply.event;
  if (!started_.known()) started_ = event.due;
  const std::uint32_t index = event.query.index;
  if (ended_.size() <= index) ended_.resize(std::size_t{index} + 1);
  ended_[index] = true;
  MeasuredSample one{.index = index,
                     .sample = event.query.sample,
                     .ok = event.outcome == Outcome::ok,
                     .due = since_start(event.due),
                     .issued = since_start(event.sent),
                     .done = since_start(event.done)};
  if (event.streamed && event.first_token.known()) one.first_token = since_start(event.first_token);
  if (one.ok) one.tokens = reply.truth->count.output;
  samples_.push_back(one);
}

std::vector<MeasuredSample> MeasuredFold::finish() {
  for (const assay::Query& query : sent_) {
    if (query.index < ended_.size() && ended_[query.index]) continue;
    samples_.push_back({.index = query.index, .sample = query.sample});
  }
  sent_.clear();
  return std::exchange(samples_, {});
}

Result<Judgement> judge(const RunInfo& info, MeasuredFold& fold, const RunEnd& end) {
  ASSIGN_OR_RETURN(const Test test, Test::from_json(info.facts[kTestFact]));
  return judge(test, fold.finish(),
               {.complete = end.state == RunState::complete,
                .why = end.reason.empty() ? std::string(to_string(end.state)) : end.reason});
}

}  // namespace assay::loadgen
