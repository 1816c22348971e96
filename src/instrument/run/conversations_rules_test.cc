// The rules of a replay against a slow twin: random conversations whose turns have different think
// times, on a target that answers in any order, fails some turns and returns late. The twin reads
// the recorded calls and computes when each turn must have been due.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "run/run.h"
#include "run/testing_late_target.h"

namespace assay::run {
namespace {

constexpr std::uint32_t kTurnsMax = 100;  // turn t of conversation c asks sample c * kTurnsMax + t

struct ReplayTwin {
  const std::vector<Conversation>& all;
  Instant started;
  std::map<std::uint64_t, Instant> due{};          // by sample, of turns that may be sent
  std::map<std::uint64_t, std::uint64_t> asked{};  // query_key → sample
  std::size_t begun = 0;
  std::uint64_t issued = 0;  // with those that were given up
  std::uint64_t given_up = 0;
  Instant back = Instant::none();  // the endpoint asked the client to wait until then
  int in_a_row = 0;                // turns since the loop last called poll()

  void begin_next(Instant at) {
    if (begun == all.size()) return;
    due[all[begun].turns[0].sample] = at;
    ++begun;
  }
  void ended(const Ended& end) {
    const std::uint64_t sample = asked.at(query_key(end.query));
    const Conversation& of = all[sample / kTurnsMax];
    const std::size_t next = sample % kTurnsMax + 1;
    if (end.ok && next < of.turns.size()) {
      due[of.turns[next].sample] = end.released + of.turns[next].delay;
      return;
    }
    given_up += of.turns.size() - next;
    issued += of.turns.size() - next;
    begin_next(end.released);
  }
};

std::vector<Conversation> random_conversations(Rng& rng) {
  std::vector<Conversation> out(1 + rng.below(12));
  for (std::uint32_t c = 0; c < out.size(); ++c) {
    for (std::uint32_t t = 0; t <= rng.below(6); ++t) {
      const Duration think = 1_us * static_cast<std::int64_t>(rng.below(20'000));
      out[c].turns.push_back({c * kTurnsMax + t, rng.below(3) == 0 ? Duration{} : think});
    }
  }
  return out;
}

void check_turn(ReplayTwin& twin, const Submitted& turn) {
  const auto found = twin.due.find(turn.query.sample);
  ASSERT_NE(found, twin.due.end()) << "a turn was sent before the reply to the one before";
  EXPECT_EQ(turn.due, found->second);
  EXPECT_GE(turn.at, std::max(turn.due, twin.back));
  EXPECT_LE(++twin.in_a_row, 32) << "sending kept receiving from its share";
  for (const auto& [sample, due] : twin.due) EXPECT_GE(due, found->second) << "sent out of turn";
  twin.asked[query_key(turn.query)] = turn.query.sample;
  twin.due.erase(found);
  ++twin.issued;
}

// While a turn may go, the loop does not sleep; else until just before the next, or for 50 ms.
void check_sleep(const ReplayTwin& twin, const Polled& poll, Duration spin) {
  if (poll.between_sends && poll.until <= poll.at) return;
  Instant next = Instant::max();
  for (const auto& [sample, due] : twin.due) next = std::min(next, due);
  // Only a due turn checks for a Retry-After.
  if (next <= poll.at) next = twin.back;
  EXPECT_GT(next, poll.at) << "it slept while a turn was due";
  const Instant wake = std::min(poll.at + 50_ms, twin.due.empty() ? next : next - spin);
  EXPECT_EQ(poll.until, std::max(poll.at, wake));
}

void compare_replay(std::uint64_t seed) {
  SCOPED_TRACE(seed);
  Rng rng(seed);
  PhasePlan phase{.name = "performance"};
  phase.replay = true;
  phase.conversations = random_conversations(rng);
  const auto at_once = static_cast<std::uint32_t>(1 + rng.below(5));
  phase.limits = {{{}, at_once}};
  phase.drain = false;
  const PhasePlan tail{.kind = PhaseKind::tail, .name = "tail", .limits = phase.limits};
  const Duration window = std::array{Duration{}, 150_us, 2_ms, Duration::max()}[rng.below(4)];
  SpinningClock clock(window);
  const bool late = rng.below(3) != 0;
  LateTarget target(clock, seed, late ? 3_ms : Duration{}, late ? 20_us : Duration{},
                    window == Duration{} ? Duration{} : 10_us, 1_ns,
                    rng.below(2) == 0 ? Duration{} : 20_ms);
  NoSink sink;
  const GuardRule guard{.honour_retry_after = rng.below(2) == 0};
  const Plan plan{.phases = {phase, tail}, .guard = guard};
  const RunResult result = run(plan, clock, target, sink, Control{});
  ReplayTwin twin{.all = phase.conversations, .started = result.phases[0].started};
  for (std::uint32_t i = 0; i < at_once; ++i) twin.begin_next(twin.started);
  Duration lag_max{};
  std::uint64_t sent = 0;
  for (const Step& step : target.steps) {
    if (step.submitted) {
      const Instant ready = std::max(step.submitted->due, twin.back);
      lag_max = std::max(lag_max, step.submitted->at - ready);
      ++sent;
      check_turn(twin, *step.submitted);
    } else if (step.ended) {
      twin.ended(*step.ended);
      if (guard.honour_retry_after) twin.back = std::max(twin.back, step.ended->back);
    } else {
      twin.in_a_row = 0;
      check_sleep(twin, *step.polled, clock.spin_window());
    }
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_TRUE(twin.due.empty());
  EXPECT_EQ(twin.begun, phase.conversations.size());
  EXPECT_EQ(result.phases[0].issued + result.phases[1].issued, twin.issued);
  EXPECT_EQ(result.send_lag.max, lag_max);
  EXPECT_EQ(result.send_lag.count, sent);
}

TEST(ConversationsRules, each_turn_is_due_its_own_delay_after_the_reply_before_it) {
  for (std::uint64_t seed = 0; seed < 1000 && !HasFailure(); ++seed) compare_replay(seed);
}

}  // namespace
}  // namespace assay::run
