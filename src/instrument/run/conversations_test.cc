// Conversations replayed through the loop, on simulated time.
#include "run/conversations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "domain/quiet_sink.h"
#include "run/run.h"

namespace assay::run {
namespace {

using testing::ElementsAre;

// Answers each turn 10 ms after it was sent; turns of the samples in `failing` fail.
class TurnTarget final : public Target {
 public:
  explicit TurnTarget(Clock& clock) : clock_(clock) {}

  void submit(const Query& query, Instant due, EventSink& sink) override {
    const Instant now = clock_.now();
    sink.on_sent(query, due, now);
    sent.push_back({query, due, now});
    pending_.push_back({query, due, now});
    peak = std::max(peak, pending_.size());
  }
  void poll(Instant until, EventSink& sink) override {
    Instant wake = until;
    if (!pending_.empty()) wake = std::min(until, pending_.front().sent + 10_ms);
    clock_.sleep_until(wake);
    while (!pending_.empty() && pending_.front().sent + 10_ms <= clock_.now()) {
      const Sent one = pending_.front();
      pending_.pop_front();
      Event event{.query = one.query, .due = one.due, .sent = one.sent};
      event.done = one.sent + 10_ms;
      if (one.query.sample == failing) event.outcome = Outcome::http_error;
      sink.on_done(event, "");
    }
  }
  std::size_t in_flight() const override { return pending_.size(); }
  void cancel_all(EventSink& sink) override {
    for (const Sent& one : pending_) {
      sink.on_done(Event{.query = one.query, .outcome = Outcome::cancelled, .due = one.due}, "");
    }
    pending_.clear();
  }

  struct Sent {
    Query query{};
    Instant due{};
    Instant sent{};
  };
  std::vector<Sent> sent{};
  std::size_t peak = 0;
  std::uint32_t failing = ~0U;

 private:
  Clock& clock_;
  std::deque<Sent> pending_{};
};

class TurnSink final : public QuietSink {
 public:
  void on_done(const Event& event, std::string_view detail) override {
    if (event.outcome != Outcome::cancelled) return;
    given_up.emplace_back(detail);
    given_up_due.push_back(event.due);
  }
  std::vector<std::string> given_up{};
  std::vector<Instant> given_up_due{};
};

// Conversation k has the samples 10 k, 10 k + 1, …
Conversation turns(std::uint32_t k, std::uint32_t count, Duration delay = {}) {
  Conversation out;
  for (std::uint32_t i = 0; i < count; ++i) out.turns.push_back({10 * k + i, delay});
  return out;
}

Plan replay_of(std::vector<Conversation> conversations, std::uint32_t at_once, bool tail) {
  PhasePlan phase{.name = "performance"};
  phase.replay = true;
  phase.conversations = std::move(conversations);
  phase.limits = {{{}, at_once}};
  Plan plan{.phases = {phase}};
  if (!tail) return plan;
  plan.phases[0].drain = false;
  plan.phases.push_back({.kind = PhaseKind::tail, .name = "tail", .limits = phase.limits});
  return plan;
}

std::vector<std::uint32_t> samples_of(const TurnTarget& target, std::uint16_t phase) {
  std::vector<std::uint32_t> out;
  for (const TurnTarget::Sent& one : target.sent) {
    if (one.query.phase == phase) out.push_back(one.query.sample);
  }
  return out;
}

TEST(Conversations, the_time_limit_counts_from_the_replays_own_start) {
  SimClock clock;
  TurnTarget target(clock);
  TurnSink sink;
  Plan plan = replay_of({turns(0, 100)}, 1, true);
  plan.phases[0].stop.duration_max = 50_ms;
  PhasePlan before{.kind = PhaseKind::warmup, .order = SampleOrder::sequential(1)};
  before.limits = {{{}, 1}};
  before.stop.queries_max = 20;
  plan.phases.insert(plan.phases.begin(), before);
  const RunResult result = run(plan, clock, target, sink, Control{});
  EXPECT_EQ(result.phases[1].started, Instant{} + 200_ms);
  EXPECT_EQ(result.phases[1].issued, 5U);  // replies of 10 ms
  EXPECT_EQ(result.phases[1].stopped, StopReason::duration);
}

TEST(Conversations, a_turn_is_due_when_the_reply_before_it_has_come_and_its_delay_has_passed) {
  SimClock clock;
  TurnTarget target(clock);
  TurnSink sink;
  const Plan plan = replay_of({turns(0, 3, 5_ms)}, 4, true);
  const RunResult result = run(plan, clock, target, sink, Control{});
  ASSERT_EQ(target.sent.size(), 3U);
  for (int i = 0; i < 3; ++i) {
    const TurnTarget::Sent& one = target.sent[static_cast<std::size_t>(i)];
    EXPECT_EQ(one.sent, Instant{} + 15_ms * i) << "the first waits for nothing";
    EXPECT_EQ(one.due, one.sent);
    EXPECT_EQ(one.query.index, static_cast<std::uint32_t>(i));
  }
  EXPECT_EQ(result.phases[0].completed, 3U);
  EXPECT_EQ(result.phases[1].issued, 0U);
}

TEST(Conversations, what_is_under_way_when_a_slot_runs_empty_goes_on_in_the_tail) {
  SimClock clock;
  TurnTarget target(clock);
  TurnSink sink;
  // Two at once: 0 ends at 20 ms and 2 follows; 1 has five turns; 2 ends at 30 ms, nothing follows.
  const Plan plan = replay_of({turns(0, 2), turns(1, 5), turns(2, 1)}, 2, true);
  const RunResult result = run(plan, clock, target, sink, Control{});
  EXPECT_EQ(target.peak, 2U);
  EXPECT_THAT(samples_of(target, 0), ElementsAre(0, 10, 1, 11, 20, 12));
  EXPECT_THAT(samples_of(target, 1), ElementsAre(13, 14));
  EXPECT_EQ(result.phases[0].stopped, StopReason::schedule);
  EXPECT_EQ(result.phases[0].completed, 6U);
  EXPECT_EQ(result.phases[1].completed, 2U);
}

TEST(Conversations, without_a_tail_only_the_turns_in_flight_end) {
  SimClock clock;
  TurnTarget target(clock);
  TurnSink sink;
  const Plan plan = replay_of({turns(0, 1), turns(1, 5)}, 2, false);
  const RunResult result = run(plan, clock, target, sink, Control{});
  EXPECT_EQ(result.phases[0].issued, result.phases[0].completed);
  EXPECT_LT(target.sent.size(), 6U);
}

TEST(Conversations, a_failure_gives_up_the_turns_behind_it_and_the_next_conversation_begins) {
  SimClock clock;
  TurnTarget target(clock);
  target.failing = 1;
  TurnSink sink;
  const Plan plan = replay_of({turns(0, 4), turns(1, 2)}, 1, true);
  const RunResult result = run(plan, clock, target, sink, Control{});
  EXPECT_THAT(samples_of(target, 0), ElementsAre(0, 1, 10, 11));
  EXPECT_EQ(result.phases[0].issued, 6U) << "the two that were given up too";
  EXPECT_EQ(result.phases[0].failed, 3U);
  EXPECT_THAT(sink.given_up,
              testing::Each("TurnAbortedByPriorFailure: prior turn errored: http_error"));
  EXPECT_EQ(sink.given_up.size(), 2U);
  const Instant failed_at = target.sent[1].sent + 10_ms;
  EXPECT_THAT(sink.given_up_due, ElementsAre(failed_at, failed_at)) << "when they were given up";
}

TEST(Conversations, the_time_limit_ends_the_tail_too) {
  SimClock clock;
  TurnTarget target(clock);
  TurnSink sink;
  Plan plan = replay_of({turns(0, 9), turns(1, 9)}, 1, true);
  plan.phases[0].stop.duration_max = 35_ms;
  const RunResult result = run(plan, clock, target, sink, Control{});
  EXPECT_EQ(result.phases[0].stopped, StopReason::duration);
  EXPECT_EQ(target.sent.size(), 4U);
  EXPECT_EQ(result.phases[1].issued, 0U);
}

TEST(Conversations, the_time_limit_is_the_whole_replays_and_does_not_begin_anew_in_the_tail) {
  SimClock clock;
  TurnTarget target(clock);
  TurnSink sink;
  Plan plan = replay_of({turns(0, 2), turns(1, 9)}, 2, true);
  plan.phases[0].stop.duration_max = plan.phases[1].stop.duration_max = 35_ms;
  const RunResult result = run(plan, clock, target, sink, Control{});
  EXPECT_EQ(result.phases[0].stopped, StopReason::schedule);
  EXPECT_EQ(result.phases[1].stopped, StopReason::duration);
  EXPECT_THAT(samples_of(target, 1), ElementsAre(12, 13)) << "at 20 and 30 ms";
}

TEST(Conversations, what_ended_ends_once_and_what_nobody_sent_moves_nothing) {
  const std::vector<Conversation> all = {turns(0, 3)};
  Conversations replay(all, 1, Instant{});
  const Query query{.index = 0};
  replay.sent(*replay.next(), query);
  EXPECT_FALSE(replay.next()) << "it waits for its reply";
  EXPECT_TRUE(replay.ended(Query{.index = 7}, Instant{} + 1_ms, false).empty());
  EXPECT_FALSE(replay.next());
  EXPECT_TRUE(replay.ended(query, Instant{} + 2_ms, true).empty());
  EXPECT_EQ(replay.next()->sample, 1U);
  EXPECT_EQ(replay.next()->at, Instant{} + 2_ms);
  EXPECT_TRUE(replay.ended(query, Instant{} + 3_ms, false).empty()) << "it has ended already";
  EXPECT_EQ(replay.next()->sample, 1U);
}

// The rule as it was first written: of all slots the one that is due first, found by a look at
// each.
class ScannedConversations {
 public:
  ScannedConversations(const std::vector<Conversation>& all, std::uint32_t at_once, Instant now)
      : all_(all), slots_(std::min<std::size_t>(at_once, all.size())) {
    for (ScannedSlot& slot : slots_) begin_next(slot, now);
  }
  std::optional<Conversations::DueTurn> next() const {
    std::optional<Conversations::DueTurn> out;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      const ScannedSlot& slot = slots_[i];
      if (slot.conversation == nullptr || slot.waits) continue;
      if (out && out->at <= slot.due) continue;
      out = Conversations::DueTurn{.slot = static_cast<std::uint32_t>(i),
                                   .turn = static_cast<std::uint32_t>(slot.turn),
                                   .sample = slot.conversation->turns[slot.turn].sample,
                                   .at = slot.due};
    }
    return out;
  }
  void sent(std::uint32_t slot) { slots_[slot].waits = true; }
  std::vector<std::uint32_t> ended(std::uint32_t at, Instant done, bool ok) {
    std::vector<std::uint32_t> given_up;
    ScannedSlot& slot = slots_[at];
    slot.waits = false;
    const std::vector<Turn>& of = slot.conversation->turns;
    if (++slot.turn < of.size() && ok) {
      slot.due = done + of[slot.turn].delay;
      return given_up;
    }
    for (; slot.turn < of.size(); ++slot.turn) given_up.push_back(of[slot.turn].sample);
    begin_next(slot, done);
    return given_up;
  }
  bool finished() const {
    return std::ranges::all_of(slots_, [](const auto& slot) { return !slot.conversation; });
  }
  bool thinning() const {
    return slots_.empty() ||
           std::ranges::any_of(slots_, [](const auto& slot) { return !slot.conversation; });
  }

 private:
  struct ScannedSlot {
    const Conversation* conversation = nullptr;
    std::size_t turn = 0;
    bool waits = false;
    Instant due{};
  };
  void begin_next(ScannedSlot& slot, Instant now) {
    slot = {};
    if (begun_ == all_.size()) return;
    slot.conversation = &all_[begun_++];
    slot.due = now;
  }
  const std::vector<Conversation>& all_;
  std::size_t begun_ = 0;
  std::vector<ScannedSlot> slots_;
};

// Sends and ends turns in random order; delays and instants are few, so that many turns are due at
// one instant.
void expect_as_scanned(Rng& rng) {
  std::vector<Conversation> all(rng.below(30));
  for (std::uint32_t c = 0; c < all.size(); ++c) {
    const std::uint64_t count = 1 + rng.below(5);
    for (std::uint32_t t = 0; t < count; ++t) {
      all[c].turns.push_back({10 * c + t, 1_ms * static_cast<std::int64_t>(rng.below(4))});
    }
  }
  const auto at_once = static_cast<std::uint32_t>(rng.below(12));
  Conversations fast(all, at_once, Instant{});
  ScannedConversations slow(all, at_once, Instant{});
  std::vector<std::pair<Query, std::uint32_t>> under_way;
  Instant now{};
  for (std::uint32_t index = 0;;) {
    const auto due = fast.next();
    const auto wanted = slow.next();
    ASSERT_EQ(due.has_value(), wanted.has_value());
    ASSERT_EQ(fast.finished(), slow.finished());
    ASSERT_EQ(fast.thinning(), slow.thinning());
    if (due) {
      ASSERT_EQ(due->slot, wanted->slot);
      ASSERT_EQ(due->sample, wanted->sample);
      ASSERT_EQ(due->at, wanted->at);
    }
    if (due && (under_way.empty() || rng.below(2) == 0)) {
      const Query query{.index = index++, .sample = due->sample};
      fast.sent(*due, query);
      slow.sent(due->slot);
      under_way.emplace_back(query, due->slot);
      continue;
    }
    if (under_way.empty()) break;
    now = now + 1_ms * static_cast<std::int64_t>(rng.below(3));
    std::swap(under_way[rng.below(under_way.size())], under_way.back());
    const auto [query, slot] = under_way.back();
    under_way.pop_back();
    const bool ok = rng.below(5) != 0;
    ASSERT_EQ(fast.ended(query, now, ok), slow.ended(slot, now, ok));
  }
  EXPECT_TRUE(fast.finished());
}

TEST(Conversations, the_next_turn_is_the_one_that_a_look_at_every_slot_finds) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    expect_as_scanned(rng);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Conversations, of_turns_due_at_one_instant_the_first_conversations_goes_first) {
  const std::vector<Conversation> all = {turns(0, 1), turns(1, 1), turns(2, 1)};
  const Conversations replay(all, 3, Instant{});
  EXPECT_EQ(replay.next()->sample, 0U);
  EXPECT_FALSE(replay.thinning());
  EXPECT_FALSE(replay.finished());
  const std::vector<Conversation> none;
  EXPECT_TRUE(Conversations(none, 3, Instant{}).thinning());
  EXPECT_TRUE(Conversations(none, 3, Instant{}).finished());
}

TEST(Conversations, of_a_trajectorys_turns_due_at_one_instant_the_first_goes_first) {
  const std::vector<Conversation> all = {
      {.turns = {{5, {}}, {6, {}}, {7, {}}}, .after = {{}, {}, {}}}};
  Conversations replay(all, 1, Instant{});
  for (std::uint32_t turn = 0; turn < 3; ++turn) {
    ASSERT_TRUE(replay.next());
    EXPECT_EQ(replay.next()->turn, turn);
    EXPECT_EQ(replay.next()->sample, 5 + turn);
    replay.sent(*replay.next(), Query{.index = turn});
  }
  EXPECT_FALSE(replay.next());
}

TEST(Conversations, shards_share_them_whole_and_one_without_a_slot_has_none) {
  for (const std::uint32_t at_once : {1U, 3U}) {
    const Plan plan =
        replay_of({turns(0, 2), turns(1, 2), turns(2, 2), turns(3, 2)}, at_once, true);
    std::vector<std::uint32_t> all;
    for (std::uint32_t i = 0; i < 2; ++i) {
      SimClock clock;
      TurnTarget target(clock);
      TurnSink sink;
      run(shard(plan, i, 2), clock, target, sink, Control{});
      for (const TurnTarget::Sent& one : target.sent) {
        all.push_back(one.query.sample);
        EXPECT_EQ(one.query.index % 2, i);
      }
    }
    std::ranges::sort(all);
    EXPECT_THAT(all, ElementsAre(0, 1, 10, 11, 20, 21, 30, 31));
  }
}

}  // namespace
}  // namespace assay::run
