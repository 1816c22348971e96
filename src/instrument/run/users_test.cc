// Users in closed loops, beside a schedule, on simulated time.
#include "run/users.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "base/rng.h"
#include "run/run.h"
#include "run/testing_late_target.h"
#include "run/testing_scripted_target.h"

namespace assay::run {
namespace {

using testing::ElementsAre;

TEST(Users, each_thinks_after_its_reply_and_they_begin_apart) {
  SimClock clock;
  ScriptedTarget target(clock, in_10_ms);
  const Plan plan{
      .phases = {with_users({{.users = 2, .think = 40_ms, .rows = {7, 8, 9}}}, 100_ms)}};
  const Ran ran = run_scripted(plan, clock, target);
  EXPECT_THAT(sent_at(target, 7, 9), ElementsAre(0, 20, 50, 70));
  std::vector<std::uint32_t> rows;
  for (const ScriptedTarget::Sent& one : target.sent) rows.push_back(one.query.sample);
  EXPECT_THAT(rows, ElementsAre(7, 8, 9, 7));
  EXPECT_EQ(target.sent.back().due, Instant{} + 70_ms);
  EXPECT_EQ(ran.result.phases[0].issue_ended, Instant{} + 100_ms);
}

TEST(Users, of_loops_whose_users_are_due_at_one_instant_the_first_goes_first) {
  const std::vector<UserLoop> loops = {
      {.users = 1, .rows = {1}}, {.users = 1, .rows = {2}}, {.users = 1, .rows = {3}}};
  Users users(loops, Instant{} + 5_ms);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(users.next(), Instant{} + 5_ms);
    EXPECT_EQ(users.take(Query{.index = i}), i + 1);
  }
  EXPECT_EQ(users.next(), Instant::max()) << "all wait for their replies";
}

TEST(Users, a_reply_moves_its_user_once_and_what_no_user_asked_moves_none) {
  const std::vector<UserLoop> loops = {{.users = 1, .think = 3_ms, .rows = {1}}};
  Users users(loops, Instant{});
  users.ended(Query{.index = 7}, Instant{} + 1_ms);
  EXPECT_EQ(users.next(), Instant{});
  users.take(Query{.index = 0});
  users.ended(Query{.index = 0}, Instant{} + 10_ms);
  EXPECT_EQ(users.next(), Instant{} + 13_ms);
  users.ended(Query{.index = 0}, Instant{} + 10_ms);
  users.take(Query{.index = 1});
  EXPECT_EQ(users.next(), Instant::max()) << "there is one user";
}

TEST(Users, a_failed_reply_ends_no_user) {
  SimClock clock;
  ScriptedTarget target(
      clock, [](const Query&) -> std::vector<Said> { return {end_at(10_ms, Outcome::reset)}; });
  const Plan plan{.phases = {with_users({{.users = 1, .rows = {1}}}, 45_ms)}};
  run_scripted(plan, clock, target);
  EXPECT_THAT(sent_at(target, 1, 1), ElementsAre(0, 10, 20, 30, 40));
}

TEST(Users, a_schedule_beside_them_goes_out_at_its_instants) {
  PhasePlan phase = with_users({{.users = 3, .rows = {50, 51}}}, 100_ms);
  phase.arrivals = {5_ms, 5_ms, 33_ms, 99_ms};
  phase.order = SampleOrder::listed({1, 2, 3, 4});
  SimClock clock;
  ScriptedTarget target(clock, in_10_ms);
  run_scripted(Plan{.phases = {phase}}, clock, target);
  EXPECT_THAT(sent_at(target, 1, 4), ElementsAre(5, 5, 33, 99));
  EXPECT_EQ(sent_at(target, 50, 51).size(), 30U);
  std::vector<std::uint32_t> numbers;
  std::vector<std::uint32_t> scheduled;
  for (const ScriptedTarget::Sent& one : target.sent) {
    numbers.push_back(one.query.index);
    if (one.query.sample < 50) scheduled.push_back(one.query.sample);
  }
  EXPECT_THAT(scheduled, ElementsAre(1, 2, 3, 4)) << "in their order, whatever the users ask";
  for (std::uint32_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(numbers[i], i);
}

TEST(Users, a_count_ends_them_and_the_schedule_together) {
  PhasePlan phase = with_users({{.users = 2, .rows = {9}}}, {});
  phase.arrivals = {1_ms, 2_ms, 3_ms, 500_ms};
  phase.order = SampleOrder::listed({1, 1, 1, 1});
  phase.stop.queries_min = phase.stop.queries_max = 9;
  SimClock clock;
  ScriptedTarget target(clock, in_10_ms);
  const Ran ran = run_scripted(Plan{.phases = {phase}}, clock, target);
  EXPECT_EQ(ran.result.phases[0].issued, 9U);
  EXPECT_EQ(ran.result.phases[0].stopped, StopReason::count);
  EXPECT_THAT(sent_at(target, 1, 1), ElementsAre(1, 2, 3));
}

// A slow twin: by hand, each user of each loop is followed on its own.
TEST(Users, property_no_loop_has_more_under_way_than_users_and_each_asks_when_it_is_due) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    std::vector<UserLoop> loops;
    std::map<std::uint32_t, std::size_t> loop_of;
    for (std::size_t i = 0; i < 1 + rng.next() % 3; ++i) {
      UserLoop loop;
      loop.users = static_cast<std::uint32_t>(1 + rng.next() % 5);
      loop.think = Duration{static_cast<std::int64_t>(rng.next() % 30) * 1'000'000};
      for (std::uint32_t row = 0; row < 4; ++row) {
        loop.rows.push_back(static_cast<std::uint32_t>(100 * i) + row);
        loop_of[loop.rows.back()] = i;
      }
      loops.push_back(loop);
    }
    SimClock clock;
    const auto takes = [](const Query& query) {
      return Duration{static_cast<std::int64_t>(1 + (query.index * 7919) % 23) * 1'000'000};
    };
    ScriptedTarget target(clock, [&](const Query& query) -> std::vector<Said> {
      return {end_at(takes(query), query.index % 5 == 0 ? Outcome::reset : Outcome::ok)};
    });
    run_scripted(Plan{.phases = {with_users(loops, 300_ms)}}, clock, target);
    // The instants at which a user of each loop may ask.
    std::vector<std::multiset<std::int64_t>> due(loops.size());
    for (std::size_t i = 0; i < loops.size(); ++i) {
      for (std::uint32_t user = 0; user < loops[i].users; ++user) {
        const double apart =
            static_cast<double>(loops[i].think.ns) / static_cast<double>(loops[i].users);
        due[i].insert(static_cast<std::int64_t>(apart * user));
      }
    }
    std::vector<std::uint64_t> asked(loops.size());
    for (const ScriptedTarget::Sent& one : target.sent) {
      const std::size_t i = loop_of.at(one.query.sample);
      ASSERT_FALSE(due[i].empty());
      EXPECT_EQ(one.at.ns, *due[i].begin()) << "the first that is due, at its instant";
      EXPECT_EQ(one.due, one.at);
      EXPECT_EQ(one.query.sample, loops[i].rows[asked[i]++ % 4]);
      due[i].erase(due[i].begin());
      due[i].insert((one.at + takes(one.query) + loops[i].think).ns);
    }
    for (std::size_t i = 0; i < loops.size(); ++i) {
      EXPECT_GE(*due[i].begin(), Duration{300_ms}.ns) << "all that was due was sent";
    }
  }
}

TEST(Users, property_shards_have_the_users_and_rows_of_the_whole) {
  for (std::uint32_t count = 1; count <= 7; ++count) {
    PhasePlan whole = with_users({{.users = 5, .think = 50_ms, .rows = {1, 2, 3, 4, 5, 6}}}, 20_ms);
    std::multiset<std::int64_t> instants;
    std::multiset<std::uint32_t> rows;
    for (std::uint32_t i = 0; i < count; ++i) {
      PhasePlan phase = whole;
      phase.stop.duration_min = 50_ms;
      SimClock clock;
      ScriptedTarget target(clock, in_10_ms);
      run_scripted(shard(Plan{.phases = {phase}}, i, count), clock, target);
      for (const ScriptedTarget::Sent& one : target.sent) {
        instants.insert(one.at.ns / 1'000'000);
        rows.insert(one.query.sample);
      }
    }
    EXPECT_THAT(instants, ElementsAre(0, 10, 20, 30, 40)) << count;
    EXPECT_THAT(rows, ElementsAre(1, 2, 3, 4, 5)) << count;
  }
}

TEST(Users, between_their_sends_the_loop_receives_after_each_32) {
  SimClock clock;
  ScriptedTarget target(clock, in_10_ms);
  std::vector<std::size_t> sent_before;
  target.at_poll = [&](Instant) { sent_before.push_back(target.sent.size()); };
  run_scripted(Plan{.phases = {with_users({{.users = 70, .rows = {1}}}, 5_ms)}}, clock, target);
  ASSERT_GE(sent_before.size(), 3U);
  EXPECT_EQ(sent_before[0], 32U);
  EXPECT_EQ(sent_before[1], 64U);
  EXPECT_EQ(sent_before[2], 70U);
  EXPECT_EQ(target.polls[0].until, Instant{}) << "without a wait";
  EXPECT_EQ(target.polls[2].until, Instant{} + 5_ms);
}

TEST(Users, only_before_a_send_the_loop_spins) {
  PhasePlan phase = with_users({{.users = 1, .rows = {9}}}, 30_ms);
  phase.arrivals = {20_ms};
  phase.order = SampleOrder::listed({1});
  SpinningClock clock(3_ms);
  ScriptedTarget target(clock, [](const Query&) -> std::vector<Said> { return {end_at(100_ms)}; });
  target.oversleep = 1_ms;  // time passes while the loop spins
  HeardSink sink;
  run(Plan{.phases = {phase}}, clock, target, sink, Control{});
  ASSERT_GE(target.polls.size(), 3U);
  EXPECT_EQ(target.polls[0].until, Instant{} + 17_ms);
  const auto after = std::ranges::find_if(
      target.polls, [](const auto& poll) { return poll.at >= Instant{} + 20_ms; });
  ASSERT_NE(after, target.polls.end());
  EXPECT_EQ(after->until, Instant{} + 30_ms) << "all wait: there is nothing to send";
}

}  // namespace
}  // namespace assay::run
