// What a user is promised, read and held against runs and curve points.
#include "decide/limit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/format.h"
#include "metrics/distribution.h"

namespace assay::decide {
namespace {

metrics::Distribution every_percentile(double ms) {
  metrics::Distribution out{.count = 1};
  out.percentiles.fill(ms * 1e6);
  return out;
}

// Each series has a figure of its own.
metrics::Point point_of_four_series() {
  metrics::Point point;
  point.arrival.ttft = every_percentile(1);
  point.arrival.tpot = every_percentile(2);
  point.arrival.itl = every_percentile(3);
  point.arrival.latency = every_percentile(4);
  point.rates.tps_per_user = 500;
  return point;
}

Limit one_limit(std::string_view text) {
  const auto limits = parse_limits(text);
  EXPECT_TRUE(limits) << text << ": " << (limits ? "" : limits.error().message);
  return limits ? limits->front() : Limit{};
}

TEST(Limit, reads_a_percentile_and_a_time_or_a_speed_for_each_user) {
  const auto limits = parse_limits("  ttft _p 99 <= 250ms ,itl_p99.9<=2, tps_per_user >= 30");
  ASSERT_TRUE(limits) << limits.error().message;
  ASSERT_EQ(limits->size(), 3U);
  EXPECT_EQ((*limits)[0].figure, "ttft_p99");
  EXPECT_EQ((*limits)[0].value, 250);
  EXPECT_EQ((*limits)[0].text, "ttft _p 99 <= 250ms");
  EXPECT_EQ((*limits)[1].figure, "itl_p99.9");
  EXPECT_EQ((*limits)[1].value, 2000) << "seconds, where it names no unit";
  EXPECT_TRUE((*limits)[2].at_least);
  EXPECT_EQ((*limits)[2].value, 30);
  EXPECT_EQ(limits_text(*limits), "ttft _p 99 <= 250ms,itl_p99.9<=2,tps_per_user >= 30");
}

TEST(Limit, what_is_wrong_is_said_with_what_may_be_written) {
  const auto why = [](const char* text) {
    const auto limits = parse_limits(text);
    EXPECT_FALSE(limits) << text;
    return limits ? std::string() : limits.error().message;
  };
  for (const char* const text :
       {"", "ttft_p99", "ttft<=1s", "ttft_pX<=1s", "ttft_p99<=x", "none_p99<=1s", "<=1s",
        "_p99<=1s", "ttft_p99<=1s,", "ttft_p<=1s", "ttft_p99<2s", "tps_per_user>=x",
        "system_tps>=30", "tps_per_user<=30"}) {
    EXPECT_NE(why(text).find("written as ttft_p99<=2s, tpot_p90<=50ms or tps_per_user>=30"),
              std::string::npos)
        << text;
  }
  EXPECT_NE(why("ttft_p98<=1s").find("percentiles are 50, 75"), std::string::npos);
  for (const char* const text : {"tps_per_user>=0", "tps_per_user>=-1"}) {
    EXPECT_NE(why(text).find("above 0"), std::string::npos) << text;
  }
}

TEST(Limit, each_series_and_percentile_of_a_run_is_the_one_that_is_named) {
  metrics::Point point = point_of_four_series();
  double ms = 0;
  for (const char* const series : {"ttft", "tpot", "itl", "latency"}) {
    EXPECT_EQ(figure_of(one_limit(format("{}_p90<=1s", series)), point), ++ms) << series;
  }
  EXPECT_EQ(figure_of(one_limit("tps_per_user>=1"), point), 500);
  EXPECT_EQ(one_limit("tps_per_user>=1").figure, "tps_per_user");
  for (std::size_t i = 0; i < metrics::kPercentiles.size(); ++i) {
    point.arrival.ttft.percentiles[i] = 1e6 * static_cast<double>(i) + 0.6;
  }
  for (std::size_t i = 0; i < metrics::kPercentiles.size(); ++i) {
    const Limit limit = one_limit(format("ttft_p{:g}<=1s", metrics::kPercentiles[i]));
    EXPECT_DOUBLE_EQ(*figure_of(limit, point), static_cast<double>(i) + 1e-6)
        << "to the nearest nanosecond";
  }
  point.arrival.itl = {};
  EXPECT_FALSE(figure_of(one_limit("itl_p90<=1s"), point)) << "a series without values";
  EXPECT_FALSE(figure_of(one_limit("tps_per_user>=1"), metrics::Point{}));
  EXPECT_FALSE(figure_of(Limit{.series = "none", .percentile = 90}, point)) << "no such series";
}

TEST(Limit, a_curves_point_has_nine_times_and_a_speed) {
  metrics::PointFigures figures{.tps_per_user = 10};
  double* const times[] = {
      &figures.ttft_p50_ms,    &figures.ttft_p90_ms,    &figures.ttft_p99_ms,
      &figures.tpot_p50_ms,    &figures.tpot_p90_ms,    &figures.tpot_p99_ms,
      &figures.latency_p50_ms, &figures.latency_p90_ms, &figures.latency_p99_ms};
  double ms = 0;
  for (double* const time : times) *time = ++ms;
  ms = 0;
  for (const char* const series : {"ttft", "tpot", "latency"}) {
    for (const int percentile : {50, 90, 99}) {
      const Limit limit = one_limit(format("{}_p{}<=1s", series, percentile));
      EXPECT_EQ(figure_of(limit, figures), ++ms) << limit.text;
    }
  }
  EXPECT_EQ(figure_of(one_limit("tps_per_user>=1"), figures), 10);
  figures.ttft_p50_ms = 0;
  EXPECT_FALSE(figure_of(one_limit("ttft_p50<=1s"), figures)) << "0 is unknown";
  EXPECT_FALSE(figure_of(one_limit("itl_p90<=1s"), figures)) << "a point keeps none of it";
  EXPECT_TRUE(check_curve_limits(*parse_limits("ttft_p99<=2s,latency_p50<=1s,tps_per_user>=9")));
  for (const char* const text : {"itl_p99<=2s", "ttft_p95<=2s", "ttft_p99<=2s,tpot_p75<=1s"}) {
    const auto checked = check_curve_limits(*parse_limits(text));
    ASSERT_FALSE(checked) << text;
    EXPECT_EQ(checked.error().message,
              "--slo: '" + limits_text({parse_limits(text)->back()}) +
                  "': a curve's points have ttft, tpot and latency at p50, p90 and p99, and "
                  "tps_per_user");
  }
}

TEST(Limit, is_kept_up_to_its_very_value_and_by_nothing_unknown) {
  const Limit most = one_limit("ttft_p90<=100ms");
  EXPECT_TRUE(keeps(most, 100));
  EXPECT_FALSE(keeps(most, std::nextafter(100.0, 200.0)));
  EXPECT_FALSE(keeps(most, std::nullopt));
  const Limit least = one_limit("tps_per_user>=30");
  EXPECT_TRUE(keeps(least, 30));
  EXPECT_FALSE(keeps(least, std::nextafter(30.0, 0.0)));
  EXPECT_FALSE(keeps(least, std::nullopt));
  EXPECT_EQ(share_of(most, 50), 0.5);
  EXPECT_EQ(share_of(least, 60), 0.5);
  for (const auto& [limit, figure] : {std::pair{most, std::optional<double>()},
                                      {least, std::optional(0.0)},
                                      {one_limit("ttft_p90<=0ms"), std::optional(1.0)}}) {
    EXPECT_TRUE(std::isinf(share_of(limit, figure))) << limit.text;
  }
  EXPECT_EQ(share_of(one_limit("ttft_p90<=0ms"), 0), 1);
}

TEST(Limit, its_words_have_units) {
  EXPECT_EQ(figure_name(one_limit("ttft_p90<=1s")), "TTFT P90");
  EXPECT_EQ(figure_name(one_limit("latency_p99<=1s")), "latency P99");
  EXPECT_EQ(figure_name(one_limit("tps_per_user>=30")), "tok/s per user");
  EXPECT_EQ(value_text(one_limit("ttft_p90<=1s"), 2310), "2.31 s");
  EXPECT_EQ(value_text(one_limit("tps_per_user>=30"), 28.44), "28.4");
  EXPECT_EQ(value_text(one_limit("ttft_p90<=1s"), std::nullopt), "unknown");
}

TEST(Limit, the_share_of_a_small_limit_is_a_share_too) {
  EXPECT_EQ(share_of(one_limit("ttft_p90<=1ms"), 0.5), 0.5);
  EXPECT_EQ(share_of(one_limit("tps_per_user>=30"), 0.5), 60);
  EXPECT_TRUE(std::isinf(share_of(one_limit("ttft_p90<=0ms"), 0.5)));
}

TEST(Limit, a_curves_figure_of_less_than_a_millisecond_is_known) {
  EXPECT_EQ(figure_of(one_limit("tpot_p90<=1s"), metrics::PointFigures{.tpot_p90_ms = 0.5}), 0.5);
}

}  // namespace
}  // namespace assay::decide
