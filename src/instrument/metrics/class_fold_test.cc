#include "metrics/class_fold.h"

#include <gtest/gtest.h>

namespace assay::metrics {
namespace {

// A run of one measured phase, in which row i's reply takes (i + 1) ms to its first token and 10 ms
// more to its end; every tenth fails.
ClassReport class_report(const TrafficMix& mix, std::uint32_t rows) {
  RunInfo info;
  info.phases.push_back({PhaseKind::performance, "performance", false});
  ClassFold fold(info, mix);
  fold.on_phase({.phase = 0, .step = PhaseStep::started, .at = {}});
  for (std::uint32_t row = 0; row < rows; ++row) {
    Event event;
    event.query.index = row;
    event.query.sample = row;
    event.streamed = true;
    event.due = event.sent = {};
    event.first_byte = event.first_event = event.first_token = event.sent + 1_ms * (row + 1);
    event.last_token = event.done = event.first_token + 10_ms;
    event.fragments = 11;
    event.output_bytes = 44;
    event.first_fragment_bytes = 4;
    event.usage = {.prompt_tokens = 100, .completion_tokens = 11};
    if (row % 10 == 9) event.outcome = Outcome::reset;
    fold.on_sent(event.query, event.due, event.sent);
    fold.on_done(event, "");
  }
  return fold.finish();
}

TEST(ClassFold, each_class_has_its_own_figures_and_a_failed_query_has_missed) {
  const TrafficMix mix = {
      {.name = "a", .share = 3, .slo = "ttft<=50ms", .limits = {{"ttft", 50_ms}}},
      {.name = "b", .share = 1}};
  const ClassReport report = class_report(mix, 100);
  // The same by hand.
  std::array<std::uint64_t, 2> ended{};
  std::array<std::uint64_t, 2> good{};
  std::array<std::uint64_t, 2> succeeded{};
  std::array<double, 2> ttft_max{};
  for (std::uint32_t row = 0; row < 100; ++row) {
    const std::size_t of = class_of(mix, row);
    ++ended[of];
    if (row % 10 == 9) continue;
    ++succeeded[of];
    ttft_max[of] = std::max(ttft_max[of], (row + 1) * 1e6);
    if (of == 1 || row + 1 <= 50) ++good[of];
  }
  ASSERT_EQ(report.classes.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const ClassFigures& one = report.classes[i];
    EXPECT_EQ(one.ended, ended[i]);
    EXPECT_EQ(one.succeeded, succeeded[i]);
    EXPECT_EQ(one.good, good[i]);
    EXPECT_EQ(one.ttft.count, succeeded[i]);
    EXPECT_EQ(one.ttft.max, ttft_max[i]);
    EXPECT_EQ(one.output_tokens, static_cast<std::int64_t>(11 * succeeded[i]));
    EXPECT_EQ(one.prompt_tokens, static_cast<std::int64_t>(100 * succeeded[i]));
  }
  const double a = static_cast<double>(good[0]) / static_cast<double>(ended[0]);
  const double b = static_cast<double>(good[1]) / static_cast<double>(ended[1]);
  ASSERT_TRUE(report.fairness);
  EXPECT_DOUBLE_EQ(*report.fairness, (a + b) * (a + b) / (2 * (a * a + b * b)));
  EXPECT_EQ(report.window, 110_ms);  // the last to end failed, and ended all the same
  EXPECT_EQ(to_json(report)["classes"][0]["good"].as_uint(), good[0]);
  EXPECT_EQ(class_lines(report).size(), 3U);
}

TEST(ClassFold, one_class_alone_is_neither_fair_nor_unfair) {
  EXPECT_FALSE(class_report({{.name = "a"}}, 20).fairness);
}

}  // namespace
}  // namespace assay::metrics
