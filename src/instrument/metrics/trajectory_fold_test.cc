// Figures of trajectories, from events made by hand and from random ones beside a slow twin.
#include "metrics/trajectory_fold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <tuple>

#include "base/hash.h"
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
  for (const NodeFigures& nodes : {report.nodes, report.agents[0].nodes, report.agents[1].nodes}) {
    EXPECT_FALSE(nodes.ttft.estimated || nodes.latency.estimated);
  }
  EXPECT_FALSE(report.wall.estimated || report.interactivity.estimated ||
               report.parallel.estimated);
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

TEST(TrajectoryFold, the_digest_is_of_what_was_asked_whatever_the_trajectories_order) {
  const auto digest = [](std::uint64_t first, std::uint64_t second) {
    Trajectories of{.agents = {"main"}, .planned = 2};
    for (const std::uint64_t asked : {first, second}) {
      of.all.push_back({.id = "t", .nodes = {{.agent = 0, .asked = asked}}});
    }
    TrajectoryFold fold(replayed(), of);
    for (const std::uint32_t sample : {0U, 1U}) fold.on_done(ended(sample, 0_ms, 1_ms), "");
    return fold.finish().sent_digest;
  };
  EXPECT_EQ(digest(7, 9), digest(9, 7));
  EXPECT_NE(digest(7, 9), digest(7, 7));
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

TEST(TrajectoryFold, its_json_has_every_figure) {
  Trajectories of = diamond();
  of.dropped = {{"too long", 3}, {"empty", 1}};
  TrajectoryFold fold(replayed(), of);
  whole_diamond(fold);
  fold.on_phase({0, PhaseStep::issue_ended, Instant{} + 100_ms});
  const Json json = to_json(fold.finish());
  EXPECT_EQ(json["planned"].as_int(), 1);
  EXPECT_EQ(json["begun"].as_int(), 1);
  EXPECT_EQ(json["succeeded"].as_int(), 1);
  EXPECT_EQ(json["failed"].as_int(-1), 0);
  EXPECT_EQ(json["unfinished"].as_int(-1), 0);
  EXPECT_EQ(json["under_load"].dump(), R"({"ended":1,"succeeded":1})");
  EXPECT_EQ(json["nodes"].dump(),
            R"({"planned":4,"sent":4,"succeeded":4,"failed":0,"given_up":0,"never_due":0,)"
            R"("output_tokens":40,"ttft":{"count":0},"latency":{"count":4,"mean":25750000.0,)"
            R"("p50":20000000.0,"p90":28000000.0,"p99":28000000.0,"max":35000000.0}})");
  ASSERT_EQ(json["agents"].size(), 2U);
  EXPECT_EQ(json["agents"][1]["name"].as_string(), "search");
  EXPECT_EQ(json["agents"][1]["nodes"]["planned"].as_int(), 2);
  EXPECT_DOUBLE_EQ(json["agents"][1]["critical_share"].as_double(), 0.35);
  EXPECT_DOUBLE_EQ(json["agents"][1]["interactivity"].as_double(), 20 / 0.055);
  EXPECT_EQ(json["wall"]["p50"].as_double(), 100e6);
  EXPECT_EQ(json["interactivity"]["count"].as_int(), 1);
  EXPECT_DOUBLE_EQ(json["parallel"]["mean"].as_double(), 103.0 / 83);
  EXPECT_NEAR(json["critical_path"]["replies_share"].as_double(), 0.83, 1e-12);
  EXPECT_NEAR(json["critical_path"]["tools_share"].as_double(), 0.15, 1e-12);
  EXPECT_NEAR(json["critical_path"]["other_share"].as_double(), 0.02, 1e-12);
  EXPECT_EQ(json["dropped"].dump(), R"({"too long":3,"empty":1})");
  EXPECT_EQ(json["sent_digest"].as_string().size(), 64U);
}

TEST(TrajectoryFold, its_lines_say_what_came_of_each_agent) {
  Trajectories of = diamond(2);
  of.dropped = {{"too long", 3}, {"empty", 1}};
  TrajectoryFold fold(replayed(), of);
  whole_diamond(fold);
  // The other one loses a branch, and with it the join.
  fold.on_done(ended(4, 0_ms, 20_ms), "");
  Event bad = ended(5, 25_ms, 30_ms);
  bad.outcome = Outcome::reset;
  fold.on_done(bad, "");
  Event lost = ended(7, 30_ms, 30_ms);
  lost.outcome = Outcome::cancelled;
  lost.sent = Instant::none();
  fold.on_done(lost, "");
  fold.on_phase({0, PhaseStep::issue_ended, Instant{} + 99_ms});
  const TrajectoryReport report = fold.finish();
  EXPECT_EQ(report.unfinished(), 0U);
  const auto lines = trajectory_lines(report);
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[0].first, "trajectories");
  EXPECT_EQ(lines[0].second,
            "1 of 2 succeeded, 1 failed; under load 0 of 0; wall P50 100 ms, P99 100 ms; P50 471 "
            "tok/s");
  EXPECT_EQ(lines[1].first, "critical path");
  EXPECT_EQ(lines[1].second, "83.0 % replies, 15.0 % tools, 2.0 % other; P50 1.24 at once");
  EXPECT_EQ(lines[2].first, "agent");
  EXPECT_EQ(lines[2].second,
            "main: 3 of 4 queries, 1 given up; latency P50 20.0 ms, P99 20.0 ms; 441 tok/s; 48.0 % "
            "of the critical path");
  EXPECT_EQ(lines[3].second,
            "search: 2 of 4 queries, 1 failed; latency P50 20.0 ms, P99 20.0 ms; 364 tok/s; 35.0 % "
            "of the critical path");
  EXPECT_EQ(lines[4].first, "left out");
  EXPECT_EQ(lines[4].second, "3 too long; 1 empty");
  EXPECT_EQ(lines[5].first, "sent");
  EXPECT_EQ(lines[5].second.substr(0, 25),
            "6 of 8 queries, digest " + report.sent_digest.substr(0, 2));
  EXPECT_EQ(lines[5].second.size(), std::string_view("6 of 8 queries, digest ").size() + 16);
}

TEST(TrajectoryFold, a_run_without_an_end_has_no_lines_of_time) {
  TrajectoryFold fold(replayed(), diamond());
  const auto lines = trajectory_lines(fold.finish());
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0].second, "0 of 1 succeeded, 1 never begun; under load 0 of 0");
  EXPECT_EQ(lines[1].second, "main: 0 of 2 queries; 0.00 tok/s; 0.0 % of the critical path");
  EXPECT_EQ(
      trajectory_lines({.planned = 9, .begun = 9, .succeeded = 6, .loaded = 5, .loaded_good = 4})[0]
          .second,
      "6 of 9 succeeded; under load 4 of 5");
}

TEST(TrajectoryFold, under_load_are_those_that_ended_before_the_first_slot_had_none_left) {
  const auto loaded = [](std::vector<PhaseMark> marks) {
    TrajectoryFold fold(replayed(), diamond());
    for (const PhaseMark& mark : marks) fold.on_phase(mark);
    whole_diamond(fold);
    return fold.finish().loaded;
  };
  const auto at = [](std::uint16_t phase, PhaseStep step, Duration when) {
    return PhaseMark{phase, step, Instant{} + when};
  };
  using enum PhaseStep;
  EXPECT_EQ(loaded({at(0, issue_ended, 100_ms)}), 1U);
  EXPECT_EQ(loaded({at(0, issue_ended, 99_ms)}), 0U);
  EXPECT_EQ(loaded({at(0, issue_ended, 99_ms), at(0, issue_ended, 200_ms)}), 0U);
  EXPECT_EQ(loaded({at(0, issue_ended, 200_ms), at(0, issue_ended, 99_ms)}), 0U);
  EXPECT_EQ(loaded({at(1, issue_ended, 200_ms)}), 0U) << "of the tail";
  EXPECT_EQ(loaded({at(0, drained, 200_ms)}), 0U);
  EXPECT_EQ(loaded({at(2, issue_ended, 200_ms)}), 0U) << "a phase that is not of the run";
}

TEST(TrajectoryFold, planned_repeats_are_shared_from_the_first_on) {
  Trajectories of = diamond(5);
  Traced other{.id = "u"};
  other.nodes = {{.agent = 1, .asked = 9}};
  of.all.push_back(other);
  TrajectoryFold fold(replayed(), of);
  // Row 4 is the other trajectory's only node; row 9 is it again.
  fold.on_done(ended(4, 5_ms, 15_ms), "");
  fold.on_done(ended(9, 5_ms, 25_ms), "");
  // The sixth is one more than was planned: it belongs to no run of this plan.
  fold.on_done(ended(14, 5_ms, 45_ms), "");
  const TrajectoryReport report = fold.finish();
  EXPECT_EQ(report.nodes.planned, 3U * 4 + 2);
  EXPECT_EQ(report.agents[0].nodes.planned, 6U);
  EXPECT_EQ(report.agents[1].nodes.planned, 8U);
  EXPECT_EQ(report.begun, 2U);
  EXPECT_EQ(report.succeeded, 2U);
  EXPECT_EQ(report.wall.max, 20e6);
  EXPECT_EQ(report.wall.min, 10e6);
}

TEST(TrajectoryFold, a_node_that_was_cancelled_on_its_way_has_failed) {
  TrajectoryFold fold(replayed(), diamond());
  Event cut = ended(0, 0_ms, 20_ms);
  cut.outcome = Outcome::cancelled;
  fold.on_done(cut, "");
  const TrajectoryReport report = fold.finish();
  EXPECT_EQ(report.nodes.failed, 1U);
  EXPECT_EQ(report.nodes.given_up, 0U);
  EXPECT_EQ(report.nodes.sent, 1U);
  // One that waited for none and never left has failed too: nothing before it did.
  TrajectoryFold second(replayed(), diamond());
  Event never = ended(0, 0_ms, 20_ms);
  never.outcome = Outcome::cancelled;
  never.sent = Instant::none();
  second.on_done(never, "");
  const TrajectoryReport other = second.finish();
  EXPECT_EQ(other.nodes.failed, 1U);
  EXPECT_EQ(other.nodes.given_up, 0U);
  EXPECT_EQ(other.nodes.sent, 0U);
  EXPECT_EQ(other.failed, 1U);
  EXPECT_EQ(other.begun, 1U);
}

TEST(TrajectoryFold, streamed_replies_have_their_first_token_and_uncounted_ones_no_tokens) {
  TrajectoryFold fold(replayed(), diamond());
  Event event = ended(0, 0_ms, 20_ms);
  event.streamed = true;
  event.first_token = event.last_token = Instant{} + 8_ms;
  event.fragments = 1;
  event.usage = Usage{};
  fold.on_done(event, "");
  const TrajectoryReport report = fold.finish();
  EXPECT_EQ(report.nodes.ttft.max, 8e6);
  EXPECT_EQ(report.agents[0].nodes.ttft.count, 1U);
  EXPECT_EQ(report.agents[0].nodes.ttft.max, 8e6);
  EXPECT_EQ(report.agents[0].nodes.latency.max, 20e6);
  EXPECT_EQ(report.agents[1].nodes.ttft.count, 0U);
  EXPECT_EQ(report.nodes.output_tokens, 0);
  EXPECT_EQ(report.agents[0].interactivity, 0);
  EXPECT_EQ(report.replies_share, 0) << "none succeeded as a whole";
  EXPECT_EQ(report.unfinished(), 1U);
}

TEST(TrajectoryFold, a_run_of_no_trajectories_has_none) {
  TrajectoryFold fold(replayed(), {});
  fold.on_done(ended(3, 0_ms, 20_ms), "");
  const TrajectoryReport report = fold.finish();
  EXPECT_EQ(report.planned + report.begun + report.nodes.sent, 0U);
}

TEST(TrajectoryFold, without_tokens_or_without_time_there_is_no_interactivity) {
  const auto rates = [](std::int32_t tokens, Duration last) {
    TrajectoryFold fold(replayed(), diamond());
    const auto tell = [&](std::uint32_t sample, Duration due, Duration done) {
      Event event = ended(sample, due, done);
      event.usage.completion_tokens = tokens;
      fold.on_done(event, "");
    };
    tell(0, 0_ms, 0_ms);
    tell(2, 0_ms, 0_ms);
    tell(1, 5_ms, 5_ms);
    tell(3, 15_ms, last);
    return fold.finish();
  };
  EXPECT_EQ(rates(3, 16_ms).interactivity.max, 12 / 1e-3);
  EXPECT_TRUE(rates(0, 16_ms).interactivity.empty()) << "no reply had a token";
  const TrajectoryReport tools = rates(3, 15_ms);
  EXPECT_EQ(tools.succeeded, 1U);
  EXPECT_TRUE(tools.interactivity.empty()) << "all of its time was its tools'";
  EXPECT_TRUE(tools.parallel.empty());
  EXPECT_EQ(tools.wall.max, 15e6);
  EXPECT_EQ(tools.tools_share, 1);
  EXPECT_EQ(tools.agents[0].interactivity, 0);
}

// One node of a nanosecond and of one token.
TEST(TrajectoryFold, the_least_time_and_a_single_token_give_figures) {
  Trajectories of{.agents = {"main"}, .planned = 1};
  of.all.push_back({.id = "t", .nodes = {{.agent = 0, .asked = 1}}});
  TrajectoryFold fold(replayed(), of);
  Event event = ended(0, 0_ms, 1_ns);
  event.usage.completion_tokens = 1;
  fold.on_done(event, "");
  const TrajectoryReport report = fold.finish();
  EXPECT_EQ(report.replies_share, 1);
  EXPECT_EQ(report.parallel.max, 1);
  EXPECT_DOUBLE_EQ(report.interactivity.max, 1e9);
  EXPECT_DOUBLE_EQ(report.agents[0].interactivity, 1e9);
  EXPECT_EQ(report.agents[0].critical_share, 1);
}

TEST(TrajectoryFold, a_node_has_nothing_of_the_reply_before_it) {
  TrajectoryFold fold(replayed(), diamond());
  Event event = ended(0, 0_ms, 20_ms);
  event.streamed = true;
  event.first_token = event.last_token = Instant{} + 8_ms;
  event.fragments = 1;
  fold.on_done(event, "");
  Event whole = ended(1, 25_ms, 60_ms);
  whole.usage = Usage{};
  fold.on_done(whole, "");
  const TrajectoryReport report = fold.finish();
  EXPECT_EQ(report.nodes.ttft.count, 1U);
  EXPECT_EQ(report.agents[1].nodes.ttft.count, 0U);
  EXPECT_EQ(report.agents[1].nodes.output_tokens, 0);
  EXPECT_EQ(report.agents[1].nodes.latency.max, 35e6);
}

// Two milliseconds late: the client's delay is in the node's time and not in its latency.
TEST(TrajectoryFold, a_nodes_time_on_the_path_begins_when_it_was_due) {
  Trajectories of{.agents = {"main"}, .planned = 1};
  of.all.push_back({.id = "t", .nodes = {{.agent = 0, .delay = 3_ms, .asked = 1}}});
  TrajectoryFold fold(replayed(), of);
  Event event = ended(0, 3_ms, 13_ms);
  event.sent = Instant{} + 5_ms;
  fold.on_done(event, "");
  const TrajectoryReport report = fold.finish();
  EXPECT_EQ(report.wall.max, 13e6) << "from its begin, before its delay";
  EXPECT_DOUBLE_EQ(report.replies_share, 10.0 / 13);
  EXPECT_DOUBLE_EQ(report.tools_share, 3.0 / 13);
  EXPECT_EQ(report.nodes.latency.max, 8e6);
}

Trajectories chain_of_three() {
  Traced one{.id = "t"};
  one.nodes = {{.agent = 0, .asked = 1},
               {.agent = 0, .after = {0}, .asked = 2},
               {.agent = 0, .after = {1}, .asked = 3}};
  return {.agents = {"main"}, .all = {one}, .planned = 1};
}

TEST(TrajectoryFold, given_up_is_what_was_never_sent_behind_one_that_failed_or_was_given_up) {
  const auto counts = [](const std::vector<std::pair<Outcome, bool>>& nodes) {
    TrajectoryFold fold(replayed(), chain_of_three());
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      Event event = ended(i, 10_ms * i, 10_ms * i + 5_ms);
      event.outcome = nodes[i].first;
      if (!nodes[i].second) event.sent = Instant::none();
      fold.on_done(event, "");
    }
    const NodeFigures found = fold.finish().nodes;
    return std::make_tuple(found.succeeded, found.failed, found.given_up);
  };
  using enum Outcome;
  EXPECT_EQ(counts({{reset, true}, {cancelled, false}, {cancelled, false}}),
            std::make_tuple(0U, 1U, 2U));
  EXPECT_EQ(counts({{ok, true}, {cancelled, false}}), std::make_tuple(1U, 1U, 0U))
      << "nothing before it failed";
  EXPECT_EQ(counts({{reset, true}, {connect_failed, false}}), std::make_tuple(0U, 2U, 0U))
      << "it was tried";
  EXPECT_EQ(counts({{reset, true}, {cancelled, true}}), std::make_tuple(0U, 2U, 0U))
      << "it was on its way";
}

TEST(TrajectoryFold, of_nodes_that_end_last_together_the_first_ends_the_path) {
  Traced one{.id = "t"};
  one.nodes = {{.agent = 0, .asked = 1}, {.agent = 1, .asked = 2}};
  TrajectoryFold fold(replayed(), {.agents = {"a", "b"}, .all = {one}, .planned = 1});
  fold.on_done(ended(0, 0_ms, 10_ms), "");
  fold.on_done(ended(1, 5_ms, 10_ms), "");
  const TrajectoryReport report = fold.finish();
  EXPECT_EQ(report.agents[0].critical_share, 1);
  EXPECT_EQ(report.agents[1].critical_share, 0);
  EXPECT_EQ(report.parallel.max, 1.5);
}

TEST(TrajectoryFold, the_digest_is_a_hash_over_what_each_node_asked_and_its_repeat) {
  const auto digest = [](bool salted) {
    Trajectories of{.agents = {"main"}, .planned = 4, .salted = salted};
    for (const std::uint64_t asked : {0x1aU, 0x2bU}) {
      of.all.push_back({.id = "t", .nodes = {{.agent = 0, .asked = asked}}});
    }
    TrajectoryFold fold(replayed(), of);
    for (const std::uint32_t sample : {0U, 1U, 2U, 3U}) {
      Event event = ended(sample, 0_ms, 1_ms);
      if (sample == 1) event.sent = Instant::none();
      fold.on_done(event, "");
    }
    return fold.finish().sent_digest;
  };
  const auto hash = [](std::string_view text) {
    Sha256 out;
    out.add(text);
    return out.finish();
  };
  EXPECT_EQ(digest(true), hash("000000000000001a 0\n000000000000001a 1\n000000000000002b 1\n"));
  EXPECT_EQ(digest(false), hash("000000000000001a 0\n000000000000001a 0\n000000000000002b 0\n"));
}

}  // namespace
}  // namespace assay::metrics
