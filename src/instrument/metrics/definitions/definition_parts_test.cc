// What tools' definitions share, piece by piece: a request's begin, a time each token, a window.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "metrics/definitions/definition_fold.h"
#include "metrics/testing_hand_made.h"

namespace assay::metrics {
namespace {

TEST(DefinitionParts, a_request_that_was_never_sent_began_when_it_was_due) {
  Event event;
  event.due = at_ms(5);
  EXPECT_EQ(request_start(event), at_ms(5));
  event.connected = true;
  event.connect_time = 2_ms;
  EXPECT_EQ(request_start(event), at_ms(5));
  event.sent = at_ms(9);
  EXPECT_EQ(request_start(event), at_ms(7)) << "with its connection";
  event.connected = false;
  EXPECT_EQ(request_start(event), at_ms(9)) << "over one that was there";
}

// The log has an order: of two equal instants its later query is the last one.
TEST(DefinitionParts,
     of_two_that_were_sent_last_at_once_the_later_in_the_log_ends_loadgens_window) {
  const auto window = [](const std::vector<std::int64_t>& sent) {
    RunInfo info;
    info.phases = {{PhaseKind::performance, "performance", true}};
    info.facts = *Json::parse(R"({"run_config": {"load_pattern": {"type": "poisson"}}})");
    DefinitionFold fold(info, {&kEndpointsDefinition});
    fold.on_phase({0, PhaseStep::started, at_ms(0)});
    for (std::size_t i = 0; i < sent.size(); ++i) {
      // Each takes 20 ms and 3 more of each before it.
      tell(steady_query(0, static_cast<std::uint32_t>(i), sent[i],
                        20 + 3 * static_cast<std::int64_t>(i), 0, 2),
           fold);
    }
    const DefinedPoint point = fold.finish()[0];
    EXPECT_TRUE(point.loadgen_window);
    return point.window;
  };
  EXPECT_EQ(window({10, 40, 40}), 26_ms + 30_ms);
  EXPECT_EQ(window({10, 40, 39}), 23_ms + 30_ms);
  EXPECT_EQ(window({40, 10, 20}), 20_ms + 30_ms);
}

RunInfo warm_run() {
  RunInfo info;
  info.phases = {{PhaseKind::warmup, "warmup", false},
                 {PhaseKind::performance, "performance", false}};
  return info;
}

TEST(DefinitionParts, a_run_without_a_window_has_no_rates) {
  DefinitionFold fold(warm_run(), {&kAssayDefinition, &kOtelDefinition});
  fold.on_phase({1, PhaseStep::started, at_ms(10)});
  HandMadeQuery q = steady_query(1, 0, 10, 0, 0, 1);
  tell(q, fold);
  for (const DefinedPoint& point : fold.finish()) {
    EXPECT_EQ(point.succeeded, 1U) << point.definition->name;
    EXPECT_EQ(point.window, Duration{}) << point.definition->name;
    EXPECT_EQ(point.qps, 0) << point.definition->name;
    EXPECT_EQ(point.tps, 0) << point.definition->name;
  }
}

TEST(DefinitionParts, a_time_each_token_takes_tokens_and_both_instants) {
  EXPECT_EQ(span(at_ms(1), at_ms(3)), 2 * 1e6);
  EXPECT_EQ(span(Instant::none(), at_ms(3)), std::nullopt);
  EXPECT_EQ(span(at_ms(1), Instant::none()), std::nullopt);
  EXPECT_EQ(per_token(at_ms(1), at_ms(3), 1), 2 * 1e6);
  EXPECT_EQ(per_token(at_ms(1), at_ms(3), 4), 0.5 * 1e6);
  EXPECT_EQ(per_token(at_ms(1), at_ms(3), 0), std::nullopt);
  EXPECT_EQ(per_token(at_ms(1), at_ms(3), std::nullopt), std::nullopt);
  EXPECT_EQ(per_token(Instant::none(), at_ms(3), 4), std::nullopt);
  EXPECT_EQ(per_later_token(at_ms(1), at_ms(3), 5), 0.5 * 1e6);
  EXPECT_EQ(per_later_token(at_ms(1), at_ms(3), 2), 2 * 1e6);
  EXPECT_EQ(per_later_token(at_ms(1), at_ms(3), 1), std::nullopt);
  EXPECT_EQ(per_later_token(at_ms(1), at_ms(3), std::nullopt), std::nullopt);
}

TEST(DefinitionParts, buckets_end_where_opentelemetrys_do) {
  const auto median = [](std::vector<double> values) {
    WeightedSeries series(100);
    for (const double value : values) series.add(value, 1);
    return series.finish(PercentileRule::buckets)
        .percentiles[static_cast<std::size_t>(std::ranges::find(kDefinitionPercentiles, 50.0) -
                                              kDefinitionPercentiles.begin())];
  };
  EXPECT_DOUBLE_EQ(median({1e7}), 5e6) << "the middle of the first bucket, up to its end";
  EXPECT_DOUBLE_EQ(median({1e7 + 1}), 1.5e7) << "of the second";
  EXPECT_DOUBLE_EQ(median({1e7, 1e7, 3e7, 3e7}), 1e7);
  EXPECT_DOUBLE_EQ(median({1e15}), 81.92e9) << "the last boundary: 10 ms doubled 13 times";
}

}  // namespace
}  // namespace assay::metrics
