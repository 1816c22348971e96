// Trajectories of agents through the loop, on simulated time: order under every delay.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "domain/quiet_sink.h"
#include "run/conversations.h"
#include "run/run.h"
#include "run/testing_scripted_target.h"

namespace assay::run {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

// Keeps when each sample was due, ended, or was given up.
class NodeSink final : public QuietSink {
 public:
  struct Node {
    Instant due{};
    Instant done{};
    bool ok = false;
  };
  void on_sent(const Query& query, Instant due, Instant) override { sent.push_back({query, due}); }
  void on_done(const Event& event, std::string_view detail) override {
    const bool added =
        ended
            .emplace(event.query.sample,
                     Node{.due = event.due, .done = event.done, .ok = event.outcome == Outcome::ok})
            .second;
    EXPECT_TRUE(added) << "sample " << event.query.sample << " ended twice";
    if (detail.starts_with("TurnAbortedByPriorFailure")) given_up.push_back(event.query.sample);
  }
  std::vector<std::pair<Query, Instant>> sent{};
  std::map<std::uint32_t, Node> ended{};
  std::vector<std::uint32_t> given_up{};
};

Plan plan_of(std::vector<Conversation> all, std::uint32_t at_once) {
  PhasePlan phase{.name = "performance"};
  phase.replay = true;
  phase.conversations = std::move(all);
  phase.limits = {{{}, at_once}};
  phase.drain = false;
  Plan plan{.phases = {phase}};
  plan.phases.push_back({.kind = PhaseKind::tail, .name = "tail", .limits = phase.limits});
  return plan;
}

// A node of samples from `first` on, with what it waits for.
Conversation graph(std::uint32_t first, std::vector<std::vector<std::uint32_t>> after,
                   Duration delay = {}) {
  Conversation out{.after = std::move(after)};
  for (std::uint32_t i = 0; i < out.after.size(); ++i) {
    out.turns.push_back({first + i, out.after[i].empty() ? Duration{} : delay});
  }
  return out;
}

TEST(Trajectories, a_join_waits_for_the_last_of_its_branches_and_for_its_tools) {
  SimClock clock;
  // 0 spawns 1 and 2, which run side by side; 3 joins them.
  ScriptedTarget target(clock, [](const Query& query) {
    return std::vector<Said>{end_at(query.sample == 2 ? 30_ms : 10_ms)};
  });
  NodeSink sink;
  const Plan plan = plan_of({graph(0, {{}, {0}, {0}, {1, 2}}, 5_ms)}, 1);
  const RunResult result = run(plan, clock, target, sink, Control{});
  EXPECT_EQ(sink.ended.at(1).due, Instant{} + 15_ms);
  EXPECT_EQ(sink.ended.at(2).due, Instant{} + 15_ms);
  EXPECT_EQ(sink.ended.at(3).due, Instant{} + 50_ms);
  EXPECT_EQ(result.phases[0].issued + result.phases[1].issued, 4U);
}

TEST(Trajectories, what_waits_for_a_failed_node_is_given_up_and_other_branches_go_on) {
  SimClock clock;
  // 1 fails: 3 and 5 wait for it, 5 through 3. 2 and 4 do not.
  ScriptedTarget target(clock, [](const Query& query) {
    return std::vector<Said>{end_at(query.sample == 2 ? 40_ms : 10_ms,
                                    query.sample == 1 ? Outcome::http_error : Outcome::ok)};
  });
  NodeSink sink;
  const Plan plan =
      plan_of({graph(0, {{}, {0}, {0}, {1, 2}, {2}, {3, 4}}), graph(10, {{}, {0}})}, 1);
  const RunResult result = run(plan, clock, target, sink, Control{});
  EXPECT_THAT(sink.given_up, UnorderedElementsAre(3, 5));
  EXPECT_TRUE(sink.ended.at(4).ok);
  EXPECT_EQ(sink.ended.at(10).due, Instant{} + 60_ms) << "the next begins when all have ended";
  EXPECT_EQ(result.phases[0].issued + result.phases[1].issued, 8U);
  EXPECT_EQ(result.phases[0].failed + result.phases[1].failed, 3U);
}

TEST(Trajectories, one_slot_of_a_shard_keeps_whole_trajectories) {
  const Plan plan = plan_of({graph(0, {{}, {0}}), graph(10, {{}, {}}), graph(20, {{}})}, 2);
  const Plan second = shard(plan, 1, 2);
  ASSERT_EQ(second.phases[0].conversations.size(), 1U);
  EXPECT_EQ(second.phases[0].conversations[0].after.size(), 2U);
}

// When each node would be due and would end, found by looking at all of them again and again.
struct Slow {
  std::map<std::uint32_t, NodeSink::Node> ended{};
  std::vector<std::uint32_t> given_up{};
};

Slow slow_twin(const std::vector<Conversation>& all, std::uint32_t at_once,
               const std::vector<Duration>& service, const std::vector<bool>& fails) {
  Slow out;
  std::vector<Instant> slots(std::min<std::size_t>(at_once, all.size()));
  for (const Conversation& one : all) {
    // The slot that is free first takes the next one, of several any.
    Instant& slot = *std::ranges::min_element(slots);
    std::map<std::uint32_t, NodeSink::Node> nodes;
    std::vector<bool> lost(one.turns.size());
    Instant end = slot;
    for (bool moved = true; moved;) {
      moved = false;
      for (std::uint32_t i = 0; i < one.turns.size(); ++i) {
        if (nodes.contains(i) || lost[i]) continue;
        Instant ready = slot;
        bool all_ended = true;
        for (const std::uint32_t before : one.after[i]) {
          const bool failed = nodes.contains(before) && !nodes.at(before).ok;
          if (failed || lost[before]) lost[i] = true;
          if (!nodes.contains(before)) {
            all_ended = false;
          } else {
            ready = std::max(ready, nodes.at(before).done);
          }
        }
        if (lost[i]) {
          out.given_up.push_back(one.turns[i].sample);
          moved = true;
        } else if (all_ended) {
          const std::uint32_t sample = one.turns[i].sample;
          const Instant due = ready + one.turns[i].delay;
          nodes[i] = {.due = due, .done = due + service[sample], .ok = !fails[sample]};
          out.ended[sample] = nodes[i];
          end = std::max(end, nodes[i].done);
          moved = true;
        }
      }
    }
    slot = end;
  }
  return out;
}

void expect_as_the_slow_twin(std::uint64_t seed) {
  SCOPED_TRACE(seed);
  Rng rng(seed);
  std::vector<Conversation> all(1 + rng.below(8));
  std::vector<Duration> service;
  std::vector<bool> fails;
  for (Conversation& one : all) {
    const auto nodes = static_cast<std::uint32_t>(1 + rng.below(12));
    // A random order, so that a node may wait for ones behind it in the list.
    std::vector<std::uint32_t> order(nodes);
    for (std::uint32_t i = 0; i < nodes; ++i) order[i] = i;
    for (std::uint32_t i = nodes; i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
    one.after.resize(nodes);
    for (std::uint32_t i = 0; i < nodes; ++i) {
      for (std::uint32_t k = 0; k < i; ++k) {
        if (rng.below(3) == 0) one.after[order[i]].push_back(order[k]);
      }
      one.turns.push_back({static_cast<std::uint32_t>(service.size()),
                           1_ms * static_cast<std::int64_t>(rng.below(20))});
      // Whole and odd: instants coincide now and then, ends of trajectories do not.
      service.push_back(Duration{static_cast<std::int64_t>(1 + rng.below(30'000'000))});
      fails.push_back(rng.below(12) == 0);
    }
  }
  const auto at_once = static_cast<std::uint32_t>(1 + rng.below(4));
  const Slow slow = slow_twin(all, at_once, service, fails);
  SimClock clock;
  ScriptedTarget target(clock, [&](const Query& query) {
    return std::vector<Said>{
        end_at(service[query.sample], fails[query.sample] ? Outcome::http_error : Outcome::ok)};
  });
  NodeSink sink;
  run(plan_of(all, at_once), clock, target, sink, Control{});
  ASSERT_EQ(sink.ended.size(), service.size()) << "everything ends once";
  EXPECT_THAT(sink.given_up, testing::UnorderedElementsAreArray(slow.given_up));
  EXPECT_EQ(sink.sent.size(), slow.ended.size()) << "what is given up is not sent";
  for (const auto& [sample, node] : slow.ended) {
    EXPECT_EQ(sink.ended.at(sample).due, node.due) << "sample " << sample;
    EXPECT_EQ(sink.ended.at(sample).done, node.done) << "sample " << sample;
  }
}

TEST(Trajectories, no_node_starts_before_all_that_it_waits_for_whatever_the_delays) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) expect_as_the_slow_twin(seed);
}

// The loop may learn of an end later than of one that came after it.
TEST(Trajectories, a_node_is_due_behind_the_last_of_its_replies_in_whatever_order_they_are_told) {
  for (const bool last_is_told_first : {true, false}) {
    const std::vector<Conversation> all = {graph(0, {{}, {}, {0, 1}}, 5_ms)};
    Conversations replay(all, 1, Instant{});
    for (std::uint32_t i = 0; i < 2; ++i) replay.sent(*replay.next(), Query{.index = i});
    const Instant early = Instant{} + 10_ms;
    const Instant late = Instant{} + 20_ms;
    replay.ended(Query{.index = 0}, last_is_told_first ? late : early, true);
    replay.ended(Query{.index = 1}, last_is_told_first ? early : late, true);
    ASSERT_TRUE(replay.next());
    EXPECT_EQ(replay.next()->sample, 2U);
    EXPECT_EQ(replay.next()->at, late + 5_ms);
  }
}

}  // namespace
}  // namespace assay::run
