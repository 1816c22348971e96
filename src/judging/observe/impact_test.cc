#include "observe/impact.h"

#include <gtest/gtest.h>

#include <functional>

#include "metrics/testing_hand_made.h"

namespace assay::observe {
namespace {

using metrics::at_ms;
using metrics::HandMadeQuery;
using metrics::steady_query;

constexpr std::int64_t kPhaseMs = 10'000;
constexpr std::int64_t kEveryMs = 20;

// A query each 20 ms: first token after 40 ms, then 9 more at 10 ms; for ten seconds.
struct Scene {
  std::function<void(HandMadeQuery&)> change = [](HandMadeQuery&) {};
  std::int64_t first_ms = 0;
  std::int64_t end_ms = kPhaseMs;
};

Impact impact_of(const Scene& scene, const ChaosLog& log) {
  RunInfo info;
  info.phases.push_back({PhaseKind::warmup, "warmup", true});
  info.phases.push_back({PhaseKind::performance, "performance", true});
  ImpactFold fold(info);
  fold.on_phase({.phase = 1, .step = PhaseStep::started, .at = at_ms(0)});
  std::uint32_t index = 0;
  for (std::int64_t ms = scene.first_ms; ms < scene.end_ms; ms += kEveryMs) {
    HandMadeQuery query = steady_query(1, index++, ms, 40, 10, 10);
    scene.change(query);
    metrics::tell(query, fold);
  }
  fold.on_phase({.phase = 1, .step = PhaseStep::issue_ended, .at = at_ms(scene.end_ms)});
  return fold.finish(log);
}

ChaosLog one_act(std::int64_t from_ms, std::int64_t to_ms) {
  ChaosLog log;
  log.acts.push_back({.name = "freeze", .what = "pause of process 9", .at = {from_ms * 1'000'000}});
  log.steps.push_back({.act = 0, .part = ChaosPart::begin, .at = at_ms(from_ms)});
  log.steps.push_back({.act = 0, .part = ChaosPart::end, .at = at_ms(from_ms)});
  log.steps.push_back({.act = 0, .part = ChaosPart::undo, .at = at_ms(to_ms)});
  log.steps.push_back({.act = 0, .part = ChaosPart::undone, .at = at_ms(to_ms)});
  return log;
}

// Nothing comes between the two: what would have, comes at the end.
void hold(HandMadeQuery& query, std::int64_t from_ms, std::int64_t to_ms) {
  const auto held = [&](Instant at) {
    return at >= at_ms(from_ms) && at < at_ms(to_ms) ? at_ms(to_ms) : at;
  };
  for (metrics::HandMadeFragment& one : query.events) one.arrival = held(one.arrival);
  query.done = held(query.done);
}

TEST(Impact, a_freeze_of_a_second_is_recovered_from_when_it_ends) {
  const Scene scene{.change = [](HandMadeQuery& q) { hold(q, 4000, 5000); }};
  const Impact impact = impact_of(scene, one_act(4000, 5000));
  ASSERT_EQ(impact.acts.size(), 1U);
  const ActImpact& act = impact.acts[0];
  ASSERT_TRUE(act.baseline);
  EXPECT_EQ(act.baseline->bin, 100_ms);
  EXPECT_NEAR(act.baseline->output_per_s, 500, 5);  // 50 queries a second, 10 fragments each
  EXPECT_EQ(act.baseline->latency, 40_ms);
  EXPECT_EQ(act.recovery, Recovery::recovered);
  // The bin in which all that was held comes has a late median; the next one is whole.
  EXPECT_GE(act.recovered_after, 1000_ms);
  EXPECT_LE(act.recovered_after, 1200_ms);
  EXPECT_EQ(act.failed, 0U);
  // Those sent in the frozen second, and those under way as it began, or most of them.
  EXPECT_GE(act.slowed, 50U);
  EXPECT_LE(act.slowed, 57U);
  EXPECT_EQ(act.output_lowest, 0);
  EXPECT_NEAR(act.output_lost, 500, 30);
  EXPECT_GT(act.latency_highest, 400_ms);
}

TEST(Impact, an_act_that_changes_nothing_has_no_effect) {
  const Impact impact = impact_of({}, one_act(4000, 5000));
  const ActImpact& act = impact.acts[0];
  EXPECT_EQ(act.recovery, Recovery::no_effect);
  EXPECT_EQ(act.failed, 0U);
  EXPECT_EQ(act.slowed, 0U);
  EXPECT_GT(act.output_lowest, 0.95);
  EXPECT_NEAR(static_cast<double>(act.queries), 1000.0 / kEveryMs, 8);
}

TEST(Impact, failures_alone_are_an_effect_and_are_counted) {
  const Scene scene{.change = [](HandMadeQuery& q) {
    if (q.sent < at_ms(6000) || q.sent >= at_ms(6300)) return;
    q.outcome = Outcome::http_error;
    q.events.clear();
    q.done = q.sent + 1_ms;
  }};
  const Impact impact = impact_of(scene, one_act(6000, 6100));
  const ActImpact& act = impact.acts[0];
  EXPECT_EQ(act.recovery, Recovery::recovered);
  EXPECT_EQ(act.failed, 15U);
  EXPECT_GE(act.recovered_after, 300_ms);
  EXPECT_LE(act.recovered_after, 500_ms);
}

TEST(Impact, what_stays_slow_did_not_recover_in_the_run) {
  const Scene scene{.change = [](HandMadeQuery& q) {
    if (q.sent < at_ms(5000)) return;
    for (auto& one : q.events) one.arrival = one.arrival + 30_ms;  // of 40 ms
    q.done = q.done + 30_ms;
  }};
  const Impact impact = impact_of(scene, one_act(5000, 5100));
  const ActImpact& act = impact.acts[0];
  EXPECT_EQ(act.recovery, Recovery::not_in_run);
  EXPECT_EQ(act.latency_highest, 70_ms);
  EXPECT_EQ(act.failed, 0U);
  EXPECT_GE(act.slowed, 249U);
}

TEST(Impact, an_effect_of_four_percent_is_inside_the_margin_and_one_of_ten_is_not) {
  for (const std::int64_t more : {1'600'000, 4'000'000}) {
    const Scene scene{.change = [more](HandMadeQuery& q) {
      if (q.sent < at_ms(5000)) return;
      for (auto& one : q.events) one.arrival = one.arrival + Duration{more};
    }};
    const Impact impact = impact_of(scene, one_act(5000, 5100));
    EXPECT_EQ(impact.acts[0].recovery,
              more < 2'000'000 ? Recovery::no_effect : Recovery::not_in_run);
  }
}

TEST(Impact, before_a_baseline_there_is_nothing_to_compare_with) {
  const Impact early = impact_of({}, one_act(200, 400));
  EXPECT_EQ(early.acts[0].recovery, Recovery::no_baseline);
  EXPECT_FALSE(early.acts[0].baseline);
  EXPECT_TRUE(to_json(early)["acts"][0]["failed"].is_null());
  EXPECT_NE(impact_lines(early)[0].second.find("no baseline"), std::string::npos);
  const Impact beyond = impact_of({}, one_act(20'000, 21'000));
  EXPECT_EQ(beyond.acts[0].recovery, Recovery::no_baseline);
}

TEST(Impact, an_act_that_was_not_done_says_why) {
  ChaosLog log;
  log.acts.push_back({.name = "late", .what = "x"});
  log.steps.push_back({.act = 0, .part = ChaosPart::skipped, .at = at_ms(1), .error = "too late"});
  const Impact impact = impact_of({}, log);
  EXPECT_EQ(impact.acts[0].recovery, Recovery::not_done);
  EXPECT_EQ(impact_lines(impact)[0].second, "x: not done: too late");
}

TEST(Impact, an_act_before_the_one_before_was_recovered_from_borrows_its_baseline) {
  const Scene scene{.change = [](HandMadeQuery& q) {
    hold(q, 4000, 5000);
    hold(q, 8000, 8500);
  }};
  ChaosLog log = one_act(4000, 5000);
  log.acts.push_back({.name = "again", .what = "y", .at = 4'500_ms});
  log.acts.push_back({.name = "third", .what = "z", .at = 8_s});
  for (const std::uint32_t act : {1U, 2U}) {
    const Instant at = at_ms(act == 1 ? 4500 : 8000);
    log.steps.push_back({.act = act, .part = ChaosPart::begin, .at = at});
    log.steps.push_back({.act = act, .part = ChaosPart::end, .at = at + 1_ms, .exit_code = 0});
  }
  const Impact impact = impact_of(scene, log);
  EXPECT_EQ(impact.acts[0].recovery, Recovery::not_before_next);
  EXPECT_TRUE(impact.acts[1].borrowed);
  EXPECT_EQ(impact.acts[1].recovery, Recovery::recovered);
  EXPECT_GE(impact.acts[1].recovered_after, 500_ms);
  EXPECT_LE(impact.acts[1].recovered_after, 700_ms);
  EXPECT_FALSE(impact.acts[2].borrowed);
  ASSERT_TRUE(impact.acts[2].baseline);
  EXPECT_GE(impact.acts[2].baseline->from, at_ms(5000));
  EXPECT_EQ(impact.acts[2].recovery, Recovery::recovered);
  EXPECT_EQ(to_json(impact)["acts"][1]["baseline"]["of"].as_string(), "the act before");
}

TEST(ChaosLog, what_is_written_is_read_again_and_a_cut_line_ends_it) {
  const Json acts = *Json::parse(
      R"([{"name":"a","at_ns":5,"signal":{"name":"KILL","pid":7}},
          {"name":"b","at_ns":6,"http":{"url":"http://x/y","body":"z"}},
          {"name":"c","at_ns":7,"pause":{"pid_file":"s.pid"}}])");
  const ChaosStep step{.act = 1,
                       .part = ChaosPart::undone,
                       .at = {42},
                       .exit_code = 3,
                       .status = 404,
                       .output = "out",
                       .error = "why"};
  const std::string text = chaos_head("run", acts) + chaos_line(step);
  const auto log = parse_chaos_log(text + "{\"act\":0,\"st");
  ASSERT_TRUE(log);
  EXPECT_EQ(log->trouble, "");
  ASSERT_EQ(log->acts.size(), 3U);
  EXPECT_EQ(log->acts[0].what, "KILL to process 7");
  EXPECT_EQ(log->acts[1].what, "POST http://x/y");
  EXPECT_EQ(log->acts[2].what, "pause of the process of s.pid");
  ASSERT_EQ(log->steps.size(), 1U);
  EXPECT_EQ(chaos_line(log->steps[0]), chaos_line(step));
}

TEST(ChaosLog, damage_is_named_and_a_later_version_is_refused) {
  const std::string head = chaos_head("run", Json::array());
  const auto damaged = parse_chaos_log(head + "{\"act\":9,\"step\":\"begin\",\"at_ns\":1}\n");
  ASSERT_TRUE(damaged);
  EXPECT_EQ(damaged->trouble, "line 2: a step of no act");
  EXPECT_FALSE(parse_chaos_log("{\"chaos\":2}\n"));
}

}  // namespace
}  // namespace assay::observe
