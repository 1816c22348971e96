#include "sim/sim_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/format.h"
#include "base/rng.h"
#include "domain/quiet_sink.h"
#include "sim/fixed_engine.h"

namespace assay::sim {
namespace {

// Keeps all events and checks the rules of every target: each query is sent at most once and done
// exactly once, and instants never go back.
class Witness final : public QuietSink {
 public:
  void on_sent(const Query& query, Instant due, Instant sent) override {
    EXPECT_LE(due, sent);
    EXPECT_TRUE(sent_.emplace(query.index, sent).second);
    story += format("s{}@{} ", query.index, sent.ns);
  }
  void on_stream_event(const Query& query, const StreamEvent& event,
                       std::string_view text) override {
    EXPECT_FALSE(done.contains(query.index));
    EXPECT_EQ(text.size(), event.bytes);
    see(event.arrival);
    ++stream_events[query.index];
    story += format("e{}@{} ", query.index, event.arrival.ns);
  }
  void on_done(const Event& event, std::string_view detail) override {
    EXPECT_TRUE(done.emplace(event.query.index, event).second);
    EXPECT_EQ(event.outcome == Outcome::ok, detail.empty());
    see(event.done);
    story += format("d{}:{}@{} ", event.query.index, to_string(event.outcome), event.done.ns);
  }

  std::map<std::uint32_t, Event> done{};
  std::map<std::uint32_t, std::uint32_t> stream_events{};
  std::string story{};

 private:
  void see(Instant at) {
    EXPECT_GE(at, last_);
    last_ = at;
  }
  std::map<std::uint32_t, Instant> sent_{};
  Instant last_{};
};

Request ask_of(const Query& query) {
  return {.prompt_tokens = 10 + query.sample, .output_tokens = 1 + query.sample % 7};
}

void drain(SimTarget& target, Witness& witness) {
  while (target.in_flight() > 0) target.poll(Instant::max(), witness);
}

TEST(SimTarget, one_query_has_all_its_milestones) {
  FixedEngine engine({.ttft = Delay::fixed(50_ms), .itl = Delay::fixed(10_ms)});
  SimClock clock;
  SimTarget target(engine, clock, ask_of, {});
  Witness witness;
  clock.sleep_until(Instant{1'000'000});
  target.submit({.index = 3, .sample = 4}, Instant{900'000}, witness);
  EXPECT_EQ(target.in_flight(), 1u);
  drain(target, witness);
  const Event& event = witness.done.at(3);
  EXPECT_EQ(event.outcome, Outcome::ok);
  EXPECT_EQ(event.due, Instant{900'000});
  EXPECT_EQ(event.sent, Instant{1'000'000});
  EXPECT_EQ(event.first_token, event.sent + 50_ms);
  EXPECT_EQ(event.first_visible, event.first_token);
  EXPECT_EQ(event.last_token, event.sent + 50_ms + 10_ms * 4);
  EXPECT_EQ(event.done, event.last_token);
  EXPECT_EQ(event.fragments, 5u);
  EXPECT_EQ(event.stream_events, 8u);  // and finish, usage, [DONE]
  EXPECT_EQ(witness.stream_events[3], 8u);
  EXPECT_EQ(event.output_bytes, 20u);
  EXPECT_EQ(event.usage.completion_tokens, 5);
  EXPECT_EQ(event.usage.prompt_tokens, 14);
  EXPECT_TRUE(event.done_marker && event.streamed);
  EXPECT_EQ(event.http_status, 200);
  EXPECT_EQ(clock.now(), event.done);
}

TEST(SimTarget, a_plain_reply_comes_at_once_at_its_end) {
  FixedEngine engine({.ttft = Delay::fixed(50_ms), .itl = Delay::fixed(10_ms)});
  SimClock clock;
  SimTarget target(engine, clock, ask_of, {.stream = false});
  Witness witness;
  target.submit({.sample = 2}, Instant{}, witness);
  drain(target, witness);
  const Event& event = witness.done.at(0);
  EXPECT_EQ(event.first_token, Instant{} + 70_ms);
  EXPECT_EQ(event.done, Instant{} + 70_ms);
  EXPECT_EQ(event.output_bytes, 12u);
  EXPECT_FALSE(event.first_event.known());
  EXPECT_EQ(event.usage.completion_tokens, 3);
}

TEST(SimTarget, poll_moves_the_clock_and_not_beyond_what_was_asked) {
  FixedEngine engine({.ttft = Delay::fixed(50_ms)});
  SimClock clock;
  SimTarget target(engine, clock, ask_of, {});
  Witness witness;
  target.poll(Instant{} + 5_ms, witness);
  EXPECT_EQ(clock.now(), Instant{} + 5_ms);
  target.submit({}, clock.now(), witness);
  target.poll(Instant{} + 20_ms, witness);
  EXPECT_EQ(clock.now(), Instant{} + 20_ms);
  target.poll(Instant{} + 1_s, witness);
  EXPECT_EQ(clock.now(), Instant{} + 55_ms);  // an event was handled
  target.poll(Instant{}, witness);            // the past: at once
  EXPECT_EQ(clock.now(), Instant{} + 55_ms);
}

TEST(SimTarget, the_time_limit_ends_a_query_and_frees_the_server) {
  FixedEngine engine({.ttft = Delay::fixed(50_ms), .running_max = 1});
  SimClock clock;
  SimTarget target(engine, clock, ask_of, {.query_timeout = 80_ms});
  Witness witness;
  for (std::uint32_t i = 0; i < 3; ++i) target.submit({.index = i}, Instant{}, witness);
  drain(target, witness);
  EXPECT_EQ(witness.done.at(0).outcome, Outcome::ok);
  EXPECT_EQ(witness.done.at(1).outcome, Outcome::timed_out);
  EXPECT_EQ(witness.done.at(2).outcome, Outcome::timed_out);
  EXPECT_EQ(witness.done.at(2).done, Instant{} + 80_ms);
  EXPECT_EQ(engine.stats().running + engine.stats().waiting, 0u);
}

TEST(SimTarget, cancel_all_ends_everything_once) {
  FixedEngine engine({.ttft = Delay::fixed(50_ms)});
  SimClock clock;
  SimTargetOptions options;
  options.faults[static_cast<std::size_t>(Outcome::connect_failed)] = 0.5;
  SimTarget target(engine, clock, ask_of, options);
  Witness witness;
  for (std::uint32_t i = 0; i < 20; ++i) target.submit({.index = i}, Instant{}, witness);
  target.cancel_all(witness);
  EXPECT_EQ(target.in_flight(), 0u);
  EXPECT_EQ(witness.done.size(), 20u);
  for (const auto& [index, event] : witness.done) EXPECT_EQ(event.outcome, Outcome::cancelled);
  target.poll(Instant{} + 1_s, witness);
  EXPECT_EQ(witness.done.size(), 20u);
}

// A random load with every kind of fault; returns the story of it.
std::string random_run(std::uint64_t seed, bool stream) {
  Rng rng(seed);
  FixedEngine engine({.ttft = *parse_delay("lognormal:20ms,1"),
                      .itl = *parse_delay("normal:3ms,2ms"),
                      .tokens_per_event = static_cast<std::uint32_t>(1 + rng.below(3)),
                      .running_max = static_cast<std::uint32_t>(1 + rng.below(30)),
                      .seed = seed});
  SimClock clock;
  // Far above a reply's time unless the server is silent or the queue very long.
  SimTargetOptions options{.stream = stream, .query_timeout = 1'000_s, .seed = seed};
  for (const Outcome outcome :
       {Outcome::connect_failed, Outcome::reset, Outcome::truncated, Outcome::http_error,
        Outcome::stream_error, Outcome::bad_reply, Outcome::timed_out}) {
    options.faults[static_cast<std::size_t>(outcome)] = 0.05;
  }
  SimTarget target(engine, clock, ask_of, options);
  Witness witness;
  constexpr std::uint32_t kQueries = 300;
  for (std::uint32_t i = 0; i < kQueries; ++i) {
    const Instant due = clock.now() + Duration{static_cast<std::int64_t>(rng.below(4'000'000))};
    while (clock.now() < due) target.poll(due, witness);
    target.submit({.index = i, .sample = static_cast<std::uint32_t>(rng.below(50))}, due, witness);
  }
  drain(target, witness);
  std::array<std::uint64_t, kOutcomes> seen{};
  for (const auto& [index, event] : witness.done) {
    ++seen[static_cast<std::size_t>(event.outcome)];
    EXPECT_EQ(event.stream_events, stream ? witness.stream_events[index] : 0u);
    if (event.outcome != Outcome::ok) continue;
    EXPECT_EQ(event.usage.completion_tokens * 4, static_cast<std::int64_t>(event.output_bytes));
    EXPECT_LE(event.sent, event.first_token);
    EXPECT_LE(event.first_token, event.last_token);
    EXPECT_LE(event.last_token, event.done);
  }
  EXPECT_EQ(witness.done.size(), kQueries);
  EXPECT_EQ(seen, target.drawn());
  EXPECT_EQ(engine.stats().running + engine.stats().waiting, 0u);
  return witness.story;
}

TEST(SimTarget, accounts_for_every_query_and_replays) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(format("seed {}", seed));
    const bool stream = seed % 2 == 0;
    const std::string story = random_run(seed, stream);
    ASSERT_EQ(story, random_run(seed, stream));
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace assay::sim
