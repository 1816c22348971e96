// Checks pairs on many synthetic runs: two servers on one machine whose speed wanders and drifts,
// asked in turns by a closed loop of 16 streams. No clock is read; seeds are fixed, so a count is
// the same on every machine.
#include "compare/paired.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "compare/compare.h"
#include "metrics/point_fold.h"
#include "metrics/testing_hand_made.h"

namespace assay::compare {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr int kStreams = 16;

struct Machine {
  double wander = 0.03;  // deviation of the speed's logarithm, with a memory of half a second
  double drift = 0;      // slowdown from the first block to the last
  double b_tpot = 10;    // ms; A's is 10
  int pairs = 20;
  int block = 40;  // queries
};

struct PairedRun {
  metrics::Point point{};
  QueryRows rows;
  ComparedRun as(const std::string& name) const {
    return {.name = name, .point = &point, .rows = &rows, .client = audit::ClientLimited::no};
  }
};

struct Turns {
  std::unique_ptr<PairedRun> a{};
  std::unique_ptr<PairedRun> b{};
};

RunInfo paired_info(int pairs, const char* side) {
  RunInfo info;
  for (int i = 0; i < 2 * pairs; ++i) {
    info.phases.push_back({PhaseKind::performance, i % 2 == 0 ? "a" : "b", false});
  }
  info.facts = Json().set("model", "m").set("api", "openai_chat").set("streaming", true);
  if (side[0] != '\0') info.facts.set("interleaved", Json().set("id", "x").set("side", side));
  return info;
}

// The speed in each tenth of a second: an autoregression with a memory of five of them.
class Wandering {
 public:
  Wandering(double deviation, Rng& rng) {
    const double memory = 0.8;
    double state = rng.normal();
    for (double& value : speed_) {
      value = std::exp(deviation * state);
      state = memory * state + std::sqrt(1 - memory * memory) * rng.normal();
    }
  }
  double at(double ms) const { return speed_[static_cast<std::size_t>(ms / 100) % speed_.size()]; }

 private:
  std::vector<double> speed_ = std::vector<double>(4000);
};

Turns record_turns(const Machine& machine, std::uint64_t seed, bool told = true) {
  Rng rng(seed);
  const Wandering wandering(machine.wander, rng);
  const auto at = [](double ms) { return Instant{static_cast<std::int64_t>(ms * 1e6)}; };
  std::vector<metrics::HandMadeQuery> queries[2];
  double now = 0;
  for (int i = 0; i < 2 * machine.pairs; ++i) {
    const int side = i % 4 == 0 || i % 4 == 3 ? 0 : 1;  // A B B A …
    const double slower = 1 + machine.drift * i / (2.0 * machine.pairs - 1);
    std::vector<double> free_at(kStreams, now);
    for (int k = 0; k < machine.block; ++k) {
      const auto slot = std::min_element(free_at.begin(), free_at.end());
      const double sent = *slot;
      const double slow = wandering.at(sent) * slower;
      const double ttft = 50 * slow * std::exp(0.2 * rng.normal());
      const double tpot = (side == 0 ? 10 : machine.b_tpot) * slow * std::exp(0.04 * rng.normal());
      metrics::HandMadeQuery q{};
      q.query.phase = static_cast<std::uint16_t>(i);
      q.query.index = static_cast<std::uint32_t>(k);
      q.due = q.sent = at(sent);
      const double end = sent + ttft + tpot * 49;
      q.events = {{at(sent + ttft), "a"}, {at(end), "b"}};
      q.done = at(end);
      q.usage = {.prompt_tokens = 100, .completion_tokens = 50};
      queries[side].push_back(q);
      *slot = end;
    }
    now = *std::max_element(free_at.begin(), free_at.end());
  }
  const auto fold = [&](int side) {
    const RunInfo info = paired_info(machine.pairs, !told ? "" : side == 0 ? "a" : "b");
    auto out = std::make_unique<PairedRun>(PairedRun{{}, QueryRows(info)});
    metrics::PointFold point(info, {.early_stopping = false});
    for (const metrics::HandMadeQuery& q : queries[side]) {
      metrics::tell(q, point);
      metrics::tell(q, out->rows);
    }
    out->point = point.finish({RunState::complete, ""});
    out->rows.sort();
    return out;
  };
  return {fold(0), fold(1)};
}

Comparison compare(const Turns& turns, const CompareOptions& options) {
  return compare_runs(turns.a->as("A"), turns.b->as("B"), options);
}

bool tpot_worse(const Comparison& c) {
  for (const MetricComparison& m : c.metrics) {
    const bool tpot = m.metric == ComparedMetric::kTpotP50 || m.metric == ComparedMetric::kTpotP90;
    if (tpot && m.verdict == MetricVerdict::worse) return true;
  }
  return false;
}

TEST(Paired, one_server_asked_in_turns_raises_a_false_alarm_in_at_most_one_of_twenty) {
  int alarms = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Turns turns = record_turns({.drift = 0.2}, seed + 1);
    // Without a margin every true difference would count, and there is none.
    const Comparison c = compare(turns, {.regression_margin = 0, .replicates = 100, .seed = seed});
    ASSERT_TRUE(c.comparable()) << c.refusals[0];
    ASSERT_EQ(c.pairs, 20U);
    if (c.worse()) ++alarms;
  }
  RecordProperty("false_alarms_of_200", alarms);
  EXPECT_LE(alarms, 10);
}

TEST(Paired, a_tpot_three_percent_worse_is_found_nine_times_in_ten) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Turns turns = record_turns({.wander = 0.01, .drift = 0.2, .b_tpot = 10.3}, seed + 1001);
    const Comparison c = compare(turns, {.replicates = 100, .seed = seed});
    ASSERT_TRUE(c.comparable());
    if (tpot_worse(c)) ++found;
  }
  RecordProperty("found_of_200", found);
  EXPECT_GE(found, 180);
}

// The purpose of pairs: a cause that slows both sides does not widen the interval.
TEST(Paired, drift_widens_the_interval_of_two_runs_and_not_of_pairs) {
  const auto width = [](bool told) {
    const Turns turns = record_turns({.wander = 0.01, .drift = 0.5}, 7, told);
    const Comparison c = compare(turns, {.metrics = {ComparedMetric::kLatencyP50}});
    return c.metrics.at(0).high - c.metrics.at(0).low;
  };
  EXPECT_LT(width(true) * 3, width(false));
}

TEST(Paired, rates_are_over_the_blocks_of_their_own_side) {
  const Turns turns = record_turns({.wander = 0, .b_tpot = 12, .block = 64}, 3);
  const Comparison c = compare(turns, {.metrics = {ComparedMetric::kSystemTps}});
  const MetricComparison& tps = c.metrics.at(0);
  EXPECT_EQ(tps.verdict, MetricVerdict::worse);
  // 16 streams of 50 tokens in 540 ms, minus the time to fill and drain.
  EXPECT_NEAR(tps.a, 16 * 50 / 0.54, 250);
  EXPECT_NEAR(tps.effect, 540.0 / 638 - 1, 0.03);
}

TEST(Paired, few_pairs_are_refused_and_other_runs_are_no_pairs) {
  const Turns few = record_turns({.pairs = 5}, 1);
  EXPECT_THAT(compare(few, {}).refusals, Contains(HasSubstr("5 pairs of blocks are too few")));
  const Turns one = record_turns({.pairs = 8}, 1);
  EXPECT_TRUE(interleaved(one.a->point, one.b->point));
  EXPECT_FALSE(interleaved(one.a->point, one.a->point));
  EXPECT_EQ(compare_runs(one.a->as("A"), one.a->as("B"), {}).pairs, 0U);
  Turns other = record_turns({.pairs = 8}, 1);
  other.b->point.run.facts.set("interleaved", Json().set("id", "y").set("side", "b"));
  EXPECT_FALSE(interleaved(one.a->point, other.b->point));
}

TEST(Paired, a_side_whose_block_never_ran_has_no_pair_of_it) {
  const Turns turns = record_turns({.pairs = 24, .block = 16}, 1);
  QueryRows rows(paired_info(24, "b"));
  for (const metrics::HandMadeQuery& q :
       {metrics::steady_query(1, 0, 0, 5, 5, 3), metrics::steady_query(5, 0, 99, 5, 5, 3)}) {
    metrics::tell(q, rows);
  }
  rows.sort();
  const PairedBlocks blocks = paired_blocks(turns.a->point.run, turns.a->rows, rows);
  EXPECT_EQ(blocks.a.front().begins, (std::vector<std::size_t>{0, 32, 48}));
  EXPECT_EQ(blocks.b.front().begins, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(paired_blocks(turns.a->point.run, turns.a->rows, turns.b->rows).a.size(), 2U);
}

}  // namespace
}  // namespace assay::compare
