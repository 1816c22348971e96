// For tests of the loop: a target with scripted replies: what it reports of a query, when it came
// and when it is reported. Records each call.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/format.h"
#include "domain/target.h"
#include "run/run.h"

namespace assay::run {

// One report about a query; times are since it was sent.
struct Said {
  Duration arrival{};
  Duration told{};                   // no earlier than `arrival`
  std::optional<Outcome> outcome{};  // the query's end; without one a stream event
  Duration retry_after{-1};
  Usage usage{};
};

inline Said event_at(Duration at) { return {.arrival = at, .told = at}; }
inline Said end_at(Duration at, Outcome outcome = Outcome::ok) {
  return {.arrival = at, .told = at, .outcome = outcome};
}

class ScriptedTarget final : public Target {
 public:
  using Script = std::function<std::vector<Said>(const Query&)>;
  ScriptedTarget(Clock& clock, Script script) : clock_(clock), script_(std::move(script)) {}

  void submit(const Query& query, Instant due, EventSink& sink) override {
    const Instant now = clock_.now();
    sent.push_back({query, due, now});
    ++in_flight_;
    sink.on_sent(query, due, now);
    for (const Said& said : script_(query)) coming_.insert({now + said.told, {sent.back(), said}});
    clock_.sleep_until(now + send_cost);
  }
  void poll(Instant until, EventSink& sink) override {
    polls.push_back({clock_.now(), until});
    if (at_poll) at_poll(clock_.now());
    Instant wake = until;
    if (!coming_.empty()) wake = std::min(until, coming_.begin()->first);
    clock_.sleep_until(wake + oversleep);
    while (!coming_.empty() && coming_.begin()->first <= clock_.now()) {
      const auto [query, said] = coming_.begin()->second;
      coming_.erase(coming_.begin());
      tell(query, said, sink);
    }
  }
  std::size_t in_flight() const override { return in_flight_; }
  void cancel_all(EventSink& sink) override {
    cancelled_at = clock_.now();
    const auto coming = std::exchange(coming_, {});
    for (const auto& [at, what] : coming) {
      if (what.second.outcome) {
        tell(what.first, {.outcome = Outcome::cancelled}, sink);
      }
    }
  }

  struct Sent {
    Query query{};
    Instant due{};
    Instant at{};
  };
  struct Poll {
    Instant at{};
    Instant until{};
  };
  std::vector<Sent> sent{};
  std::vector<Poll> polls{};
  Instant cancelled_at = Instant::none();
  Duration send_cost{};
  Duration oversleep{};                      // lateness of each poll's return
  std::function<void(Instant now)> at_poll;  // called as a poll begins

 private:
  void tell(const Sent& query, const Said& said, EventSink& sink) {
    const Instant arrival = query.at + said.arrival;
    if (!said.outcome) {
      const StreamEvent event{.category = Category::text, .arrival = arrival, .read = clock_.now()};
      sink.on_stream_event(query.query, event, "word");
      return;
    }
    --in_flight_;
    Event event{.query = query.query, .outcome = *said.outcome, .due = query.due, .sent = query.at};
    event.done = said.outcome == Outcome::cancelled ? clock_.now() : arrival;
    event.retry_after = said.retry_after;
    event.usage = said.usage;
    sink.on_done(event, "detail");
  }

  Clock& clock_;
  Script script_;
  std::multimap<Instant, std::pair<Sent, Said>> coming_{};
  std::size_t in_flight_ = 0;
};

// A closed loop with `in_flight_max` slots.
inline PhasePlan slots(std::uint32_t in_flight_max, std::uint64_t queries) {
  PhasePlan phase{.name = "performance", .order = SampleOrder::sequential(1000)};
  phase.limits = {{{}, in_flight_max}};
  phase.stop.queries_max = queries;
  return phase;
}

// An open loop.
inline PhasePlan schedule(std::vector<Duration> arrivals) {
  PhasePlan phase{.name = "performance", .order = SampleOrder::sequential(1000)};
  phase.open_loop = true;
  phase.arrivals = std::move(arrivals);
  return phase;
}

// Closed loops of users.
inline PhasePlan with_users(std::vector<UserLoop> loops, Duration least) {
  PhasePlan phase{.name = "performance"};
  phase.loops = std::move(loops);
  phase.stop.duration_min = least;
  return phase;
}

// When the queries with the samples `low` to `high` were sent, in milliseconds.
inline std::vector<std::int64_t> sent_at(const ScriptedTarget& target, std::uint32_t low,
                                         std::uint32_t high) {
  std::vector<std::int64_t> out;
  for (const ScriptedTarget::Sent& one : target.sent) {
    if (one.query.sample >= low && one.query.sample <= high) out.push_back(one.at.ns / 1'000'000);
  }
  return out;
}

// Records all events: the kind, the query, and the time in milliseconds.
class HeardSink final : public EventSink {
 public:
  void on_phase(const PhaseMark& mark) override {
    const char* const step = mark.step == PhaseStep::started       ? "started"
                             : mark.step == PhaseStep::issue_ended ? "issued"
                                                                   : "drained";
    say("phase {} {} {}", mark.phase, step, mark.at.ns / 1'000'000);
  }
  void on_sent(const Query& query, Instant due, Instant sent) override {
    say("sent {} due {} at {}", query.index, due.ns / 1'000'000, sent.ns / 1'000'000);
  }
  void on_stream_event(const Query& query, const StreamEvent& event,
                       std::string_view text) override {
    say("event {} {} {}", query.index, event.arrival.ns / 1'000'000, text);
  }
  void on_done(const Event& event, std::string_view detail) override {
    say("done {} {} {}", event.query.index, event.done.ns / 1'000'000, detail);
    outcomes.push_back(event.outcome);
  }
  void on_tick(Instant now) override { ticks.push_back(now.ns / 1'000'000); }

  std::vector<std::string> heard{};
  std::vector<Outcome> outcomes{};
  std::vector<std::int64_t> ticks{};

 private:
  template <typename... Args>
  void say(fmt::format_string<Args...> words, Args&&... args) {
    heard.push_back(format(words, std::forward<Args>(args)...));
  }
};

struct Ran {
  RunResult result{};
  HeardSink sink{};
  Instant end{};
};

inline Ran run_scripted(const Plan& plan, SimClock& clock, ScriptedTarget& target) {
  Ran out;
  out.result = run(plan, clock, target, out.sink, Control{});
  out.end = clock.now();
  return out;
}

inline std::vector<Said> in_10_ms(const Query&) { return {end_at(10_ms)}; }

}  // namespace assay::run
