// SimTarget: a target that computes the replies of a modelled server: an Engine on a SimClock.
// `run` cannot tell it from a real target, so an hour of load passes in milliseconds, and the same
// seeds always give the same events.
//
// The network is ideal: a request arrives when it is sent, a token when it is made. Faults are
// drawn from a seed and the order of submission, so that the counting of failures can be tested
// against known numbers. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "domain/target.h"
#include "sim/engine.h"

namespace assay::sim {

struct SimTargetOptions {
  bool stream = true;
  bool report_usage = true;
  bool report_cached = false;  // also of the prompt's tokens that a prefix cache had
  // A query that is not done this long after it was sent is `timed_out`.
  Duration query_timeout = Duration::max();
  std::uint32_t bytes_per_token = 4;
  std::uint64_t seed = 0;
  // The probability of each outcome except `ok`; together at most 1. timed_out: the server stops
  // answering, and query_timeout must be finite. cancelled can't be drawn: only the caller cancels.
  std::array<double, kOutcomes> faults{};
};

// What a query asks of the server; the target fills in `id`.
using AskOf = std::function<Request(const Query& query)>;

class SimTarget final : public Target {
 public:
  // `engine` and `clock` must outlive the target; the clock is the run's.
  SimTarget(Engine& engine, SimClock& clock, AskOf ask, const SimTargetOptions& options);

  void submit(const Query& query, Instant due, EventSink& sink) override;
  void poll(Instant until, EventSink& sink) override;
  std::size_t in_flight() const override { return in_flight_; }
  void cancel_all(EventSink& sink) override;

  // How often each outcome was drawn so far: a correct account of the run must show these numbers
  // if no query was cancelled and none was too slow.
  const std::array<std::uint64_t, kOutcomes>& drawn() const { return drawn_; }

 private:
  struct Flight {
    Event event{};
    std::uint32_t slot = 0;
    std::uint32_t generation = 0;
    bool open = false;
    bool silent = false;  // the server has stopped answering
    Outcome fault = Outcome::ok;
    std::uint32_t prompt_tokens = 0;
    std::uint32_t cached = 0;   // of them
    std::uint32_t planned = 0;  // tokens
    std::uint32_t made = 0;
    std::uint32_t fault_at = 0;  // tokens that come before the fault
  };
  struct Key {
    std::uint32_t slot = 0;
    std::uint32_t generation = 0;
  };
  struct Deadline {
    Instant at{};
    Key key{};
  };

  static std::uint64_t id_of(const Flight& flight);
  Flight* find(Key key);
  Flight& open_flight();
  void draw_fault(Flight& flight);
  void on_emission(const Emission& emission, EventSink& sink);
  // True when the flight's fault happens instead of the emission.
  bool strike(Flight& flight, const Emission& emission, EventSink& sink);
  void fragment(Flight& flight, std::uint32_t tokens, Instant at, bool last_of_read,
                EventSink& sink);
  void finish(Flight& flight, Instant at, EventSink& sink);
  void mark(Flight& flight, Category category, Instant at, bool last_of_read, EventSink& sink);
  void end(Flight& flight, Outcome outcome, Instant at, std::string_view detail, EventSink& sink);
  void expire(Instant now, EventSink& sink);
  void drop_old_deadlines();
  Instant next_deadline() const {
    return deadlines_.empty() ? Instant::max() : deadlines_.front().at;
  }

  Engine& engine_;
  SimClock& clock_;
  AskOf ask_;
  SimTargetOptions options_;
  std::deque<Flight> flights_{};
  std::vector<std::uint32_t> free_{};
  std::vector<Key> refused_{};  // reported at the next poll
  std::deque<Deadline> deadlines_{};
  std::vector<Emission> emissions_{};
  std::string text_{};
  std::size_t in_flight_ = 0;
  std::uint64_t submitted_ = 0;
  std::uint64_t told_ = 0;  // calls of the sink; shows whether a poll handled an event
  std::array<std::uint64_t, kOutcomes> drawn_{};
};

}  // namespace assay::sim
