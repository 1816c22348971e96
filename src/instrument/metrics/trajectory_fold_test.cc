// Figures of trajectories, from events made by hand and from random ones beside a slow twin.
#include "metrics/trajectory_fold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <tuple>

#include "base/rng.h"
#include "base/text.h"

namespace assay::metrics {
namespace {

using testing::ElementsAre;

RunInfo replayed() {
  RunInfo info;
  info.phases = {{PhaseKind::performance, "performance", false}, {PhaseKind::tail, "tail", false}};
  return info;
}

// 0 spawns 1 and 2; 3 joins them. Agents: main asks 0 and 3, search the others.
Trajectories diamond(std::uint64_t planned = 1) {
  Traced one{.id = "t"};
  one.nodes = {{.agent = 0, .asked = 1},
               {.agent = 1, .delay = 5_ms, .after = {0}, .asked = 2},
               {.agent = 1, .after = {0}, .asked = 3},
               {.agent = 0, .delay = 10_ms, .after = {1, 2}, .asked = 4}};
  return {.agents = {"main", "search"}, .all = {one}, .planned = planned};
}

Event ended(std::uint32_t sample, Duration due, Duration done, std::uint16_t phase = 0) {
  Event event{.query = {.index = sample, .phase = phase, .sample = sample}};
  event.due = Instant{} + due;
  event.sent = event.due;
  event.done = Instant{} + done;
  event.usage.completion_tokens = 10;
  return event;
}

void whole_diamond(TrajectoryFold& fold, std::uint32_t first = 0, std::uint16_t phase = 0) {
  fold.on_done(ended(first + 0, 0_ms, 20_ms, phase), "");
  fold.on_done(ended(first + 2, 20_ms, 40_ms, phase), "");
  fold.on_done(ended(first + 1, 25_ms, 60_ms, phase), "");
  fold.on_done(ended(first + 3, 72_ms, 100_ms, phase), "");  // 2 ms of the client's
}

TEST(TrajectoryFold, the_critical_path_goes_back_over_what_ended_last) {
  TrajectoryFold fold(replayed(), diamond());
  whole_diamond(fold);
  fold.on_phase({0, PhaseStep::issue_ended, Instant{} + 100_ms});
  const TrajectoryReport report = fold.finish();
  EXPECT_EQ(std::make_tuple(report.planned, report.begun, report.succeeded, report.failed),
            std::make_tuple(1U, 1U, 1U, 0U));
  EXPECT_EQ(std::make_tuple(report.loaded, report.loaded_good), std::make_tuple(1U, 1U));
  EXPECT_EQ(report.wall.max, 100e6);
  // 28 + 35 + 20 ms of replies, 10 + 5 of tools.
  EXPECT_NEAR(report.replies_share, 0.83, 1e-12);
  EXPECT_NEAR(report.tools_share, 0.15, 1e-12);
  EXPECT_NEAR(report.other_share, 0.02, 1e-12);
  EXPECT_NEAR(report.agents[0].critical_share, 0.48, 1e-12);
  EXPECT_NEAR(report.agents[1].critical_share, 0.35, 1e-12);
  EXPECT_NEAR(report.parallel.max, 103.0 / 83, 1e-12);
  EXPECT_NEAR(report.interactivity.max, 40 / 0.085, 1e-9);
  EXPECT_EQ(report.agents[1].nodes.output_tokens, 20);
  EXPECT_NEAR(report.agents[1].interactivity, 20 / 0.055, 1e-9);
}

TEST(TrajectoryFold, what_failed_took_with_it_what_waited_for_it) {
  TrajectoryFold fold(replayed(), diamond());
  fold.on_done(ended(0, 0_ms, 20_ms), "");
  Event bad = ended(1, 25_ms, 30_ms);
  bad.outcome = Outcome::http_error;
  fold.on_done(bad, "");
  Event lost = ended(3, 30_ms, 30_ms, 1);
  lost.outcome = Outcome::cancelled;
  lost.sent = Instant::none();
  fold.on_done(lost, "");
  const TrajectoryReport report = fold.finish();
  const NodeFigures& nodes = report.nodes;
  EXPECT_EQ(std::make_tuple(nodes.planned, nodes.sent, nodes.succeeded, nodes.failed),
            std::make_tuple(4U, 2U, 1U, 1U));
  EXPECT_EQ(nodes.given_up, 1U);
  EXPECT_EQ(nodes.never_due(), 1U) << "the other branch had not ended when the log did";
  EXPECT_EQ(report.failed, 1U);
  EXPECT_EQ(report.loaded, 0U);
  EXPECT_TRUE(report.wall.empty());
}

TEST(TrajectoryFold, the_tail_is_counted_and_is_not_under_load) {
  TrajectoryFold fold(replayed(), diamond(3));
  whole_diamond(fold);
  fold.on_phase({0, PhaseStep::issue_ended, Instant{} + 99_ms});
  whole_diamond(fold, 4, 1);
  const TrajectoryReport report = fold.finish();
  EXPECT_EQ(std::make_tuple(report.begun, report.succeeded, report.loaded),
            std::make_tuple(2U, 2U, 0U));
  EXPECT_EQ(report.nodes.planned, 12U);
  const auto lines = trajectory_lines(report);
  EXPECT_THAT(lines[0].second, testing::HasSubstr("2 of 3 succeeded, 1 never begun"));
}

TEST(TrajectoryFold, the_digest_is_of_what_was_sent_whatever_the_order) {
  const auto digest = [](const std::vector<std::uint32_t>& samples, bool salted,
                         std::uint64_t change = 0) {
    Trajectories of = diamond(2);
    of.salted = salted;
    of.all[0].nodes[3].asked += change;
    TrajectoryFold fold(replayed(), of);
    for (const std::uint32_t sample : samples) fold.on_done(ended(sample, 0_ms, 1_ms), "");
    return fold.finish().sent_digest;
  };
  EXPECT_EQ(digest({0, 1, 2, 3}, false), digest({2, 3, 0, 1}, false));
  EXPECT_NE(digest({0, 1, 2, 3}, false), digest({0, 1, 2}, false));
  EXPECT_NE(digest({0, 1, 2, 3}, false), digest({0, 1, 2, 3}, false, 1));
  EXPECT_EQ(digest({0, 4}, false), digest({4, 0}, false)) << "a repeat asks the same";
  EXPECT_NE(digest({0, 4}, true), digest({0, 0}, true)) << "unless it is salted";
}

// The longest way through the graph by trying every one.
TEST(TrajectoryFold, without_gaps_the_critical_path_is_the_longest_way) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    Traced one{.id = "t"};
    std::vector<std::int64_t> took;
    std::vector<std::int64_t> done;
    for (std::uint32_t i = 0; i < 8; ++i) {
      TracedNode node{.delay = Duration{static_cast<std::int64_t>(rng.below(1000))}};
      for (std::uint32_t k = 0; k < i; ++k) {
        if (rng.below(3) == 0) node.after.push_back(k);
      }
      one.nodes.push_back(std::move(node));
      took.push_back(static_cast<std::int64_t>(1 + rng.below(5000)));
    }
    TrajectoryFold fold(replayed(), {.agents = {"main"}, .all = {one}, .planned = 1});
    const std::function<std::int64_t(std::uint32_t)> longest = [&](std::uint32_t at) {
      std::int64_t before = 0;
      for (const std::uint32_t k : one.nodes[at].after) before = std::max(before, longest(k));
      return before + one.nodes[at].delay.ns + took[at];
    };
    std::int64_t wall = 0;
    for (std::uint32_t i = 0; i < 8; ++i) {
      const std::int64_t end = longest(i);
      wall = std::max(wall, end);
      fold.on_done(ended(i, Duration{end - took[i]}, Duration{end}), "");
    }
    const TrajectoryReport report = fold.finish();
    ASSERT_EQ(report.succeeded, 1U);
    EXPECT_EQ(report.wall.max, static_cast<double>(wall));
    EXPECT_NEAR(report.other_share, 0, 1e-12);
    EXPECT_NEAR(report.replies_share + report.tools_share, 1, 1e-12);
  }
}

}  // namespace
}  // namespace assay::metrics
