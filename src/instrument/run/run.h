// run(plan, clock, target, sink, control): the run's loop. It releases queries as the plan says,
// lets the target work, and stops as the plan says. A simulation uses the same loop.
//
// Open loop: a query is due at its drawn instant, whatever the target does; a late send keeps its
// `due`, and the lateness is recorded. Closed loop: a query is due when a slot is free. Before a
// due instant the loop sleeps until the clock's spin window and then polls; a backlog of sends
// leaves receiving its share of time.
//
// One thread a call. Any thread may write `control`, also a signal handler.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "domain/client_audit.h"
#include "domain/event_sink.h"
#include "domain/plan.h"
#include "domain/target.h"
#include "run/guard.h"

namespace assay::run {

// Requests from outside to stop a run.
class Control {
 public:
  enum class Request : int { none, drain, stop };
  // Ctrl-C once: no new queries; those in flight may end. Twice: queries in flight are cancelled.
  void ask_to_stop() {
    if (request_.load(std::memory_order_relaxed) < static_cast<int>(Request::stop)) {
      request_.fetch_add(1, std::memory_order_relaxed);
    }
  }
  // As Ctrl-C twice.
  void stop_now() {
    ask_to_stop();
    ask_to_stop();
  }
  Request request() const {
    const int r = request_.load(std::memory_order_relaxed);
    return r <= 0 ? Request::none : r == 1 ? Request::drain : Request::stop;
  }

 private:
  std::atomic<int> request_{0};
};

enum class StopReason : std::uint8_t {
  count,        // queries_max, or queries_min with no other condition
  schedule,     // every arrival was released
  duration,     // duration_max
  passes,       // a whole number of passes after duration_min
  idle,         // no event for idle_max: the target is dead
  interrupted,  // asked to stop
  refused,      // only the same fatal answer came back
  failures,     // more queries failed than the plan's guard allows
  budget,       // the guard's tokens or money are spent
};

struct PhaseResult {
  std::uint16_t phase = 0;
  StopReason stopped = StopReason::count;
  bool drained = true;  // false: some were cancelled
  Instant started{};
  Instant issue_ended{};
  Instant ended{};
  std::uint64_t issued = 0;
  std::uint64_t completed = 0;  // outcome ok
  std::uint64_t failed = 0;     // issued = completed + failed, always
};

struct RunResult {
  std::vector<PhaseResult> phases{};  // the phases that were begun
  bool interrupted = false;           // asked to stop
  bool target_dead = false;           // stopped by idle_max
  bool guarded = false;               // stopped by the plan's guard; its phase says why
  std::uint64_t backoffs = 0;         // how often queries were held back by a Retry-After
  Duration backed_off{};              // and for how long together
  LagFigures loop_lag{};  // delay of the loop's return after its planned time, with handling
  LagFigures send_lag{};  // delay of a query's release after it was due and a slot was free;
                          // without a limit (all at once) it is how long issuing took
};

// `guard`: shared by all shards of the run; null: the run makes its own.
RunResult run(const Plan& plan, Clock& clock, Target& target, EventSink& sink,
              const Control& control, Guard* guard = nullptr);

}  // namespace assay::run
