#include "run/run.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/format.h"
#include "host/self_audit.h"
#include "run/conversations.h"
#include "run/users.h"

namespace assay::run {
namespace {

// Upper bound of one sleep; it limits how late a stop is noticed and how rarely sinks tick.
constexpr Duration kLookUp = 50_ms;
// A late sender must still receive: otherwise its pool stays empty and it never sends again.
constexpr int kSendsBetweenPolls = 32;

// Passes all calls on, and counts what the loop needs.
class Watch final : public EventSink {
 public:
  Watch(EventSink& next, std::size_t phases, Guard& guard, std::uint32_t shard)
      : next_(next), guard_(guard), shard_(shard), done_(phases), ok_(phases) {}

  void on_phase(const PhaseMark& mark) override { next_.on_phase(mark); }
  void on_sent(const Query& query, Instant due, Instant sent) override {
    next_.on_sent(query, due, sent);
  }
  void on_stream_event(const Query& query, const StreamEvent& event,
                       std::string_view text) override {
    last_activity = event.read;
    waiting_since = std::min(waiting_since, event.arrival);
    next_.on_stream_event(query, event, text);
  }
  void on_done(const Event& event, std::string_view detail) override {
    ++done_[event.query.phase];
    guard_.on_done(shard_, event);
    failing = event.outcome != Outcome::ok;
    if (!failing) waiting_since = std::min(waiting_since, event.done);
    // A server that holds back the end of its stream holds the slot: this makes no send late.
    const Instant released = event.released.known() ? event.released : event.done;
    sorted_ = sorted_ && (freed_.empty() || freed_.back() <= released);
    freed_.push_back(released);
    if (users) users->ended(event.query, released);
    if (conversations) {
      for (const std::uint32_t sample : conversations->ended(event.query, released, !failing)) {
        given_up.push_back({sample, event.outcome});
      }
    }
    if (!failing) {
      ++ok_[event.query.phase];
      last_activity = std::max(last_activity, event.done);
    }
    next_.on_done(event, detail);
  }
  void on_tick(Instant now) override { next_.on_tick(now); }

  std::uint64_t done(std::uint16_t phase) const { return done_[phase]; }
  std::uint64_t ok(std::uint16_t phase) const { return ok_[phase]; }

  // The loop has sent all it may: a query that ended before now frees no slot that a later query
  // could have used earlier.
  void looked() { freed_.clear(); }
  // Since when, with `in_flight` now, there has been a free place under the limits in force since
  // the last call of looked(): the last of `steps`, and earlier ones that ended since. none():
  // since that call or longer, so no limit held a query back.
  Instant place_since(std::size_t in_flight, std::span<const LimitStep> steps, Instant started) {
    if (!sorted_) std::ranges::sort(freed_);
    sorted_ = true;
    for (std::size_t i = steps.size(); i-- > 0;) {
      const std::size_t limit = steps[i].in_flight_max;
      std::size_t later = 0;  // how many queries ended after this step
      if (i + 1 < steps.size()) {
        const Instant end = started + steps[i + 1].at;
        while (later < freed_.size() && freed_[freed_.size() - 1 - later] >= end) ++later;
        if (in_flight + later >= limit) return end;
      }
      const std::size_t slots = limit - in_flight;
      if (freed_.size() < slots) continue;
      const Instant freed = freed_[freed_.size() - slots];
      if (i == 0 || freed > started + steps[i].at) return freed;
    }
    return Instant::none();
  }

  Instant waiting_since = Instant::max();  // the earliest arrival since this was set
  Instant last_activity{};                 // last successful activity; failures do not count
  bool failing = false;                    // the query that ended last failed
  // For a replay and its tail. Ended queries move the conversations on.
  std::optional<Conversations> conversations{};
  std::optional<Users> users{};  // of a phase with closed loops beside its schedule
  // Turns that are never sent because an earlier one failed; `cause` says why.
  struct GivenUp {
    std::uint32_t sample = 0;
    Outcome cause = Outcome::ok;
  };
  std::vector<GivenUp> given_up{};

 private:
  EventSink& next_;
  Guard& guard_;
  const std::uint32_t shard_;
  std::vector<std::uint64_t> done_;
  std::vector<std::uint64_t> ok_;
  std::vector<Instant> freed_{};  // when queries that ended since looked() freed their slots
  bool sorted_ = true;
};

class Loop {
 public:
  Loop(const Plan& plan, Clock& clock, Target& target, EventSink& sink, const Control& control,
       Guard& guard)
      : plan_(plan),
        clock_(clock),
        target_(target),
        guard_(guard),
        watch_(sink, plan.phases.size(), guard, plan.shard_index),
        control_(control) {}

  RunResult run() {
    for (std::uint16_t i = 0; i < plan_.phases.size(); ++i) {
      if (time_is_over(plan_.phases[i])) break;
      run_phase(i);
      if (ended_early()) break;
    }
    settle();
    result_.loop_lag = loop_lag_->figures();
    result_.send_lag = send_lag_->figures();
    return std::move(result_);
  }

 private:
  struct PhaseState {
    const PhasePlan& plan;
    QueryStream queries;
    Instant started{};
    std::size_t limit_at = 0;         // the step of `limits` in force
    std::size_t limit_looked_at = 0;  // the step when the loop last had nothing to send
    std::uint64_t issued = 0;         // by this shard
  };

  bool time_is_over(const PhasePlan& plan);
  void run_phase(std::uint16_t index);
  void issue(PhaseState& phase, PhaseResult& result);
  void replay(PhaseState& phase, PhaseResult& result);
  void issue_with_users(PhaseState& phase, PhaseResult& result);
  void give_up(PhaseState& phase);
  void send_turn(PhaseState& phase, const Conversations::DueTurn& turn, Instant now);
  Query next_turn(PhaseState& phase, std::uint32_t sample) const;
  // The number, in the whole plan, of this shard's next query.
  std::uint64_t next_index(const PhaseState& phase) const {
    return plan_.shard_index + phase.issued * plan_.shard_count;
  }
  bool may_issue(const PhaseState& phase, Instant now, PhaseResult& result);
  bool has_enough(const PhaseState& phase, Duration elapsed, StopReason* why) const;
  Instant due_of(const PhaseState& phase, std::uint32_t limit, Instant place, Instant now) const;
  Instant release_due(PhaseState& phase, Instant now);
  Instant work_until(Instant now, Instant until, bool send_follows);
  void drain(const PhasePlan& plan, PhaseResult& result);
  bool asked_to_stop(PhaseResult& result);
  bool heard_nothing(const PhasePlan& plan, Instant now);
  bool target_is_dead(const PhasePlan& plan, Instant& now);
  bool guard_stops(const PhasePlan& plan, Instant now, PhaseResult& result);
  bool ended_early() const { return result_.interrupted || result_.target_dead || result_.guarded; }
  Instant held_back_until(Instant now);
  void submit(const Query& query, Instant due);
  void settle();

  const Plan& plan_;
  Clock& clock_;
  Target& target_;
  Guard& guard_;
  Watch watch_;
  const Control& control_;
  RunResult result_{};
  Instant next_tick_{};
  std::optional<Instant> counted_from_{};  // when the first counted phase began
  Instant backing_off_since_ = Instant::none();
  Instant replay_began_{};
  std::unique_ptr<host::LagRecorder> loop_lag_ = std::make_unique<host::LagRecorder>();
  std::unique_ptr<host::LagRecorder> send_lag_ = std::make_unique<host::LagRecorder>();
};

// An open loop ends with its schedule; a closed loop needs a rule for when to stop.
bool Loop::has_enough(const PhaseState& phase, Duration elapsed, StopReason* why) const {
  const StopRule& stop = phase.plan.stop;
  if (phase.plan.open_loop) return false;
  if (stop.queries_min == 0 && stop.duration_min == Duration{}) return false;
  if (phase.issued < stop.queries_min || elapsed < stop.duration_min) return false;
  *why = stop.pass == 0 ? StopReason::count : StopReason::passes;
  // All of this shard's queries of the pass are issued, and none of the next.
  const std::uint64_t next = next_index(phase);
  return stop.pass == 0 || (next >= stop.pass && next % stop.pass < plan_.shard_count);
}

bool Loop::may_issue(const PhaseState& phase, Instant now, PhaseResult& result) {
  const StopRule& stop = phase.plan.stop;
  const Duration elapsed = now - phase.started;
  StopReason why = StopReason::count;
  if (phase.plan.open_loop && phase.issued >= phase.plan.arrivals.size()) {
    why = StopReason::schedule;
  } else if (elapsed >= stop.duration_max) {
    why = StopReason::duration;
  } else if (phase.issued < stop.queries_max && !has_enough(phase, elapsed, &why)) {
    return true;
  }
  result.stopped = why;
  return false;
}

// Open loop: the drawn instant. Closed loop: when the slot that the query takes became free;
// without a limit all queries are due at once.
Instant Loop::due_of(const PhaseState& phase, std::uint32_t limit, Instant place,
                     Instant now) const {
  if (phase.plan.open_loop) return phase.started + phase.plan.arrivals[phase.issued];
  if (limit == std::numeric_limits<std::uint32_t>::max()) return phase.started;
  if (!place.known()) return now;
  // A slot that the previous phase left free while it drained belongs to this phase from its start.
  return std::max(phase.started, std::min(now, place));
}

// Releases one query if one is due; returns the instant of the loop's next action.
Instant Loop::release_due(PhaseState& phase, Instant now) {
  const std::vector<LimitStep>& limits = phase.plan.limits;
  while (phase.limit_at + 1 < limits.size() &&
         phase.started + limits[phase.limit_at + 1].at <= now) {
    ++phase.limit_at;
  }
  const bool more_steps = phase.limit_at + 1 < limits.size();
  const Instant step = more_steps ? phase.started + limits[phase.limit_at + 1].at : Instant::max();
  const std::uint32_t limit = limits[phase.limit_at].in_flight_max;
  const std::size_t in_flight = target_.in_flight();
  const bool full = in_flight >= limit;
  const auto since_look =
      std::span(limits).subspan(phase.limit_looked_at, phase.limit_at - phase.limit_looked_at + 1);
  const Instant place =
      full ? Instant::none() : watch_.place_since(in_flight, since_look, phase.started);
  const Instant due = due_of(phase, limit, place, now);
  // A due query may still have to wait: the endpoint sent Retry-After.
  const Instant wait = due > now ? due : held_back_until(now);
  // Or the limit holds it: the next completion or the next step releases it.
  if (full || wait > now) {
    phase.limit_looked_at = phase.limit_at;
    return wait > now ? std::min(step, wait) : step;
  }
  // While a limit or a back-off held the query, the plan made it wait; later delay is ours.
  send_lag_->record(std::max({due, place, wait}), now);
  submit(phase.queries.next(), due);
  ++phase.issued;
  return now;
}

// Returns the instant of its end.
Instant Loop::work_until(Instant now, Instant until, bool send_follows) {
  Instant wake = std::min(until, now + kLookUp);
  // Close to a send, or with a clock that never sleeps: poll and return.
  if (send_follows) wake = std::max(now, std::min(wake, until - clock_.spin_window()));
  watch_.looked();
  watch_.waiting_since = Instant::max();
  target_.poll(wake, watch_);
  // The loop should return for received bytes as for an instant.
  const Instant end = clock_.now();
  loop_lag_->record(std::max(std::min(wake, watch_.waiting_since), now), end);
  if (now < next_tick_) return end;
  watch_.on_tick(now);
  next_tick_ = now + kLookUp;
  return clock_.now();
}

bool Loop::asked_to_stop(PhaseResult& result) {
  if (control_.request() == Control::Request::none) return false;
  result_.interrupted = true;
  result.stopped = StopReason::interrupted;
  return true;
}

bool Loop::heard_nothing(const PhasePlan& plan, Instant now) {
  if (target_.in_flight() == 0 && !watch_.failing) watch_.last_activity = now;
  return now - watch_.last_activity >= plan.stop.idle_max;
}

bool Loop::target_is_dead(const PhasePlan& plan, Instant& now) {
  if (!heard_nothing(plan, now)) return false;
  // The loop itself may have been held up for that long, by a stopped process or a target's
  // callback, and replies may be waiting.
  target_.poll(now, watch_);
  now = clock_.now();
  if (!heard_nothing(plan, now)) return false;
  result_.target_dead = true;
  return true;
}

// All queries at once: after a stop only those already done remain of such a phase.
bool is_burst(const PhasePlan& plan) {
  return plan.limits.back().in_flight_max == std::numeric_limits<std::uint32_t>::max();
}

bool Loop::guard_stops(const PhasePlan& plan, Instant now, PhaseResult& result) {
  const auto why = guard_.verdict(plan_.shard_index, now, !is_burst(plan));
  if (!why) return false;
  result_.guarded = true;
  result.stopped = *why;
  return true;
}

// The end of a Retry-After that holds back a due query.
Instant Loop::held_back_until(Instant now) {
  const Instant until = guard_.held_back_until();
  if (until > now) {
    if (!backing_off_since_.known()) {
      backing_off_since_ = now;
      ++result_.backoffs;
    }
  } else if (backing_off_since_.known()) {
    result_.backed_off += now - backing_off_since_;
    backing_off_since_ = Instant::none();
  }
  return until;
}

void Loop::submit(const Query& query, Instant due) {
  guard_.on_issued(plan_.shard_index);
  target_.submit(query, due, watch_);
}

void Loop::issue(PhaseState& phase, PhaseResult& result) {
  int sends = 0;
  for (Instant now = clock_.now();;) {
    if (asked_to_stop(result) || guard_stops(phase.plan, now, result)) return;
    if (!may_issue(phase, now, result)) return;
    if (target_is_dead(phase.plan, now)) {
      result.stopped = StopReason::idle;
      return;
    }
    const std::uint64_t issued_before = phase.issued;
    const Instant next = release_due(phase, now);
    if (phase.issued > issued_before) {
      if (++sends % kSendsBetweenPolls == 0) target_.poll(now, watch_);
      now = clock_.now();
      continue;
    }
    const Instant deadline = phase.started + phase.plan.stop.duration_max;
    now = work_until(now, std::min(next, deadline), phase.plan.open_loop && next < Instant::max());
  }
}

Query Loop::next_turn(PhaseState& phase, std::uint32_t sample) const {
  const auto index = static_cast<std::uint16_t>(&phase.plan - plan_.phases.data());
  const Query query{
      .index = static_cast<std::uint32_t>(next_index(phase)), .phase = index, .sample = sample};
  ++phase.issued;
  return query;
}

// The turns after a failed one count as issued and failed, so that whole conversations are counted.
void Loop::give_up(PhaseState& phase) {
  for (const Watch::GivenUp& turn : std::exchange(watch_.given_up, {})) {
    Event event{.query = next_turn(phase, turn.sample), .outcome = Outcome::cancelled};
    event.due = event.done = clock_.now();
    watch_.on_done(
        event, format("TurnAbortedByPriorFailure: prior turn errored: {}", to_string(turn.cause)));
  }
}

void Loop::send_turn(PhaseState& phase, const Conversations::DueTurn& turn, Instant now) {
  send_lag_->record(std::max(turn.at, guard_.held_back_until()), now);
  const Query query = next_turn(phase, turn.sample);
  watch_.conversations->sent(turn, query);
  submit(query, turn.at);
}

// A phase of conversations, or the tail of one.
void Loop::replay(PhaseState& phase, PhaseResult& result) {
  const bool tail = phase.plan.kind == PhaseKind::tail;
  if (!tail) {
    watch_.conversations.emplace(phase.plan.conversations, phase.plan.limits.front().in_flight_max,
                                 phase.started);
    replay_began_ = phase.started;
  }
  // The time limit applies to the whole replay.
  const Instant deadline = replay_began_ + phase.plan.stop.duration_max;
  int sends = 0;
  while (watch_.conversations) {
    Instant now = clock_.now();
    give_up(phase);
    result.stopped = now >= deadline ? StopReason::duration : StopReason::schedule;
    const bool over = tail ? watch_.conversations->finished() : watch_.conversations->thinning();
    if (asked_to_stop(result) || guard_stops(phase.plan, now, result)) return;
    if (now >= deadline || over) return;
    if (target_is_dead(phase.plan, now)) {
      result.stopped = StopReason::idle;
      return;
    }
    const auto turn = watch_.conversations->next();
    Instant next = turn ? turn->at : Instant::max();
    if (next <= now) next = held_back_until(now);
    if (next <= now) {
      send_turn(phase, *turn, now);
      if (++sends % kSendsBetweenPolls == 0) target_.poll(now, watch_);
      continue;
    }
    work_until(now, std::min(next, deadline), turn.has_value());
  }
}

// A phase of users in closed loops, beside a schedule. What the schedule has due goes out even
// where the loop comes to it after the phase's least time, as in a phase of the schedule alone.
void Loop::issue_with_users(PhaseState& phase, PhaseResult& result) {
  const PhasePlan& plan = phase.plan;
  watch_.users.emplace(plan.loops, phase.started);
  QueryStream scheduled = phase.queries;
  std::size_t at = 0;
  int sends = 0;
  for (;;) {
    Instant now = clock_.now();
    if (asked_to_stop(result) || guard_stops(plan, now, result)) return;
    const Instant arrival =
        at < plan.arrivals.size() ? phase.started + plan.arrivals[at] : Instant::max();
    const Instant due = std::min(arrival, watch_.users->next());
    const bool owed = arrival <= now && phase.issued < plan.stop.queries_max &&
                      now - phase.started < plan.stop.duration_max;
    if (!owed && !may_issue(phase, now, result)) return;
    if (target_is_dead(plan, now)) {
      result.stopped = StopReason::idle;
      return;
    }
    const Instant next = due > now ? due : held_back_until(now);
    if (next > now) {
      // A loop's time may end while all users wait.
      const Duration least = plan.stop.duration_min;
      const Instant end = least > Duration{} ? phase.started + least : Instant::max();
      const Instant deadline = phase.started + plan.stop.duration_max;
      work_until(now, std::min({next, deadline, end > now ? end : Instant::max()}),
                 next < Instant::max());
      continue;
    }
    send_lag_->record(std::max(due, guard_.held_back_until()), now);
    Query query = phase.queries.next();
    if (arrival == due) {
      query.sample = scheduled.next().sample;
      ++at;
    } else {
      query.sample = watch_.users->take(query);
    }
    ++phase.issued;
    submit(query, due);
    if (++sends % kSendsBetweenPolls == 0) target_.poll(now, watch_);
  }
}

// A failing phase cancels its queries in flight. A spent budget lets them end, except in a burst.
bool cancels(const PhasePlan& plan, StopReason why) {
  return why != StopReason::budget || is_burst(plan);
}

void Loop::drain(const PhasePlan& plan, PhaseResult& result) {
  const Instant give_up = clock_.now() + plan.stop.drain_max;
  while (target_.in_flight() > 0) {
    Instant now = clock_.now();
    asked_to_stop(result);
    if (!ended_early()) guard_stops(plan, now, result);
    const bool stop_now = control_.request() == Control::Request::stop ||
                          (result_.guarded && cancels(plan, result.stopped));
    if (stop_now || now >= give_up || target_is_dead(plan, now)) {
      result.drained = false;
      target_.cancel_all(watch_);
      return;
    }
    work_until(now, give_up, false);
  }
}

bool Loop::time_is_over(const PhasePlan& plan) {
  if (!is_counted(plan.kind)) return false;
  const Instant now = clock_.now();
  if (!counted_from_) counted_from_ = now;
  return now - *counted_from_ >= plan.begin_max;
}

void Loop::run_phase(std::uint16_t index) {
  const PhasePlan& plan = plan_.phases[index];
  PhaseState phase{.plan = plan,
                   .queries = QueryStream(plan, index, plan_.shard_index, plan_.shard_count)};
  PhaseResult result{.phase = index};
  phase.started = clock_.now();
  result.started = phase.started;
  watch_.last_activity = phase.started;
  watch_.on_phase({index, PhaseStep::started, phase.started});
  if (plan.kind == PhaseKind::tail || plan.replay) {
    replay(phase, result);
  } else if (!plan.loops.empty()) {
    issue_with_users(phase, result);
  } else {
    issue(phase, result);
  }
  result.issue_ended = clock_.now();
  watch_.on_phase({index, PhaseStep::issue_ended, result.issue_ended});
  result.issued = phase.issued;
  const bool last = index + 1U == plan_.phases.size();
  const bool begun = result.stopped == StopReason::schedule;  // and nothing ended it early
  const bool goes_on = !last && plan_.phases[index + 1U].kind == PhaseKind::tail && begun;
  if (!goes_on) watch_.conversations.reset();
  if (plan.drain || last || ended_early()) drain(plan, result);
  result.ended = clock_.now();
  watch_.on_phase({index, PhaseStep::drained, result.ended});
  result_.phases.push_back(result);
}

// A query in flight at a phase's end may end in a later one: count at the very end.
void Loop::settle() {
  CHECK(target_.in_flight() == 0);
  for (PhaseResult& phase : result_.phases) {
    phase.completed = watch_.ok(phase.phase);
    phase.failed = watch_.done(phase.phase) - phase.completed;
    CHECK(phase.issued == phase.completed + phase.failed);
  }
  // If it was held back to the end of its phase, no query ended the wait.
  if (backing_off_since_.known()) {
    result_.backed_off += result_.phases.back().issue_ended - backing_off_since_;
  }
  watch_.on_tick(clock_.now());
}

}  // namespace

RunResult run(const Plan& plan, Clock& clock, Target& target, EventSink& sink,
              const Control& control, Guard* guard) {
  Guard own(plan.guard, plan.shard_count);
  return Loop(plan, clock, target, sink, control, guard != nullptr ? *guard : own).run();
}

}  // namespace assay::run
