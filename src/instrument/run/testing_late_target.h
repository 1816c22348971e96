// For tests of the loop: a target that answers in any order, returns late and is slow to send. It
// records each call of the loop and each report to it, so that a twin can judge them.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/rng.h"
#include "domain/quiet_sink.h"
#include "domain/target.h"

namespace assay::run {

// Simulated time in which the loop polls before a send instead of sleeping.
class SpinningClock final : public Clock {
 public:
  explicit SpinningClock(Duration window) : window_(window) {}
  Instant now() const override { return clock_.now(); }
  void sleep_until(Instant until) override { clock_.sleep_until(until); }
  Duration spin_window() const override { return window_; }

 private:
  SimClock clock_{};
  Duration window_;
};

struct Submitted {
  Query query{};
  Instant due{};
  Instant at{};
  std::size_t in_flight = 0;  // before it
};
struct Ended {
  Query query{};
  Instant released{};
  Instant told{};
  bool ok = true;
  Instant back = Instant::none();  // asks the client to wait until then
};
struct Polled {
  Instant at{};
  Instant until{};
  bool in_flight = false;
  bool between_sends = false;  // the poll after each 32nd send, which does not wait
};
struct Step {
  std::optional<Submitted> submitted{};
  std::optional<Ended> ended{};
  std::optional<Polled> polled{};
};

// Reports only true events, but late: polls take `poll_cost` and end up to `poll_late` too late,
// each send takes up to `send_cost`. With a `grain`, replies take a multiple of it, so that many
// events share one instant. Failures ask the client to wait for up to `retry_after`.
class LateTarget final : public Target {
 public:
  LateTarget(Clock& clock, std::uint64_t seed, Duration poll_late, Duration send_cost,
             Duration poll_cost = {}, Duration grain = 1_ns, Duration retry_after = {})
      : clock_(clock),
        rng_(seed),
        poll_late_(poll_late),
        send_cost_(send_cost),
        poll_cost_(poll_cost),
        grain_(grain),
        retry_after_(retry_after) {}

  void submit(const Query& query, Instant due, EventSink& sink) override {
    const Instant now = clock_.now();
    steps.push_back({.submitted = Submitted{query, due, now, pending_.size()}});
    ++submits_;
    sink.on_sent(query, due, now);
    const Duration drawn = Duration::from_seconds(rng_.exponential(0.01));
    pending_.insert({now + grain_ * (drawn.ns / grain_.ns + 1), query});
    clock_.sleep_until(now + send_cost_ * static_cast<std::int64_t>(rng_.below(2)));
  }
  void poll(Instant until, EventSink& sink) override {
    const bool after_send = !steps.empty() && steps.back().submitted && submits_ % 32 == 0;
    steps.push_back({.polled = Polled{clock_.now(), until, !pending_.empty(), after_send}});
    clock_.sleep_until(clock_.now() + poll_cost_);
    Instant wake = std::max(until, clock_.now());
    if (!pending_.empty()) wake = std::min(wake, std::max(clock_.now(), pending_.begin()->first));
    if (rng_.below(3) == 0) wake = wake + poll_late_ * static_cast<std::int64_t>(rng_.below(8));
    clock_.sleep_until(wake);
    std::vector<Ended> ended;
    while (!pending_.empty() && pending_.begin()->first <= clock_.now()) {
      Ended one{pending_.begin()->second, pending_.begin()->first, clock_.now(),
                rng_.below(10) != 0};
      if (!one.ok && retry_after_ > Duration{}) {
        one.back = one.released + retry_after_ / static_cast<std::int64_t>(1 + rng_.below(4));
      }
      ended.push_back(one);
      pending_.erase(pending_.begin());
    }
    // Sockets are read in the order of their numbers, not of their ends.
    if (rng_.below(2) == 0) std::ranges::reverse(ended);
    for (const Ended& one : ended) {
      steps.push_back({.ended = one});
      Event event{.query = one.query, .done = one.released - 1_ns, .released = one.released};
      if (!one.ok) event.outcome = Outcome::reset;
      if (one.back.known()) event.retry_after = one.back - event.done;
      sink.on_done(event, "");
    }
  }
  std::size_t in_flight() const override { return pending_.size(); }
  void cancel_all(EventSink& sink) override {
    for (const auto& [end, query] : pending_) {
      steps.push_back({.ended = Ended{query, clock_.now(), clock_.now(), false}});
      sink.on_done(Event{.query = query, .outcome = Outcome::cancelled, .done = clock_.now()}, "");
    }
    pending_.clear();
  }

  std::vector<Step> steps{};

 private:
  Clock& clock_;
  Rng rng_;
  Duration poll_late_;
  Duration send_cost_;
  Duration poll_cost_;
  Duration grain_;
  Duration retry_after_;
  std::size_t submits_ = 0;
  std::multimap<Instant, Query> pending_{};
};

class NoSink final : public QuietSink {
 public:
  void on_tick(Instant now) override { ticks.push_back(now); }
  std::vector<Instant> ticks{};
};

}  // namespace assay::run
