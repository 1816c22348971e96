#include "metrics/slo.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "metrics/point_fold.h"
#include "metrics/testing_hand_made.h"

namespace assay::metrics {
namespace {

TEST(Slo, ReadsLimits) {
  const auto slo = parse_slo("ttft_p99<=2s, tpot_p90<=50ms");
  ASSERT_TRUE(slo) << slo.error().message;
  ASSERT_EQ(slo->size(), 2U);
  EXPECT_EQ((*slo)[0].series, "ttft");
  EXPECT_EQ((*slo)[0].percentile, 99.0);
  EXPECT_EQ((*slo)[0].most, 2_s);
  EXPECT_EQ((*slo)[1].most, 50_ms);
  for (const char* bad :
       {"", "ttft<=2s", "x_p99<=2s", "ttft_p98<=2s", "ttft_p99<2s", "ttft_p99<="}) {
    EXPECT_FALSE(parse_slo(bad)) << bad;
  }
}

TEST(Slo, IsKeptOrNot) {
  PointFold fold(RunInfo{.phases = {{PhaseKind::performance, "performance", false}}});
  for (std::uint32_t i = 0; i < 10; ++i) tell(steady_query(0, i, i * 100, 50, 10, 5), fold);
  const Point point = fold.finish({RunState::complete, ""});
  EXPECT_TRUE(keeps(*parse_slo("ttft_p99<=50ms,tpot_p90<=10ms"), point));
  EXPECT_FALSE(keeps(*parse_slo("ttft_p99<=49ms"), point));
  EXPECT_EQ(figure_of((*parse_slo("ttft_p50<=1s"))[0], point), 50_ms);
  EXPECT_FALSE(keeps(*parse_slo("ttft_p50<=1s"), Point{}));
}

Distribution every_percentile(double ms) {
  Distribution out{.count = 1};
  out.percentiles.fill(ms * 1e6);
  return out;
}

// Each series has a figure of its own.
Point point_of_four_series() {
  Point point;
  point.counts.completed = 1;
  point.arrival.ttft = every_percentile(1);
  point.arrival.tpot = every_percentile(2);
  point.arrival.itl = every_percentile(3);
  point.arrival.latency = every_percentile(4);
  return point;
}

TEST(Slo, EachSeriesIsLimitedByItsName) {
  const Point point = point_of_four_series();
  int ms = 0;
  for (const char* const series : {"ttft", "tpot", "itl", "latency"}) {
    ++ms;
    const auto limit = [&](int most) {
      return parse_slo(format("{}_p90<={}ms", series, most)).value();
    };
    EXPECT_TRUE(keeps(limit(ms), point)) << series;
    EXPECT_FALSE(keeps(limit(ms - 1), point)) << series;
    EXPECT_EQ(figure_of(limit(1)[0], point), 1_ms * ms);
  }
}

TEST(Slo, APercentileIsTheOneThatIsNamed) {
  Point point = point_of_four_series();
  for (std::size_t i = 0; i < kPercentiles.size(); ++i) {
    point.arrival.ttft.percentiles[i] = 1e6 * static_cast<double>(i) + 0.6;
  }
  for (std::size_t i = 0; i < kPercentiles.size(); ++i) {
    const auto slo = parse_slo(format("ttft_p{:g}<=1s", kPercentiles[i]));
    ASSERT_TRUE(slo) << kPercentiles[i];
    EXPECT_EQ(figure_of((*slo)[0], point), 1_ms * static_cast<std::int64_t>(i) + 1_ns)
        << "to the nearest nanosecond";
  }
}

TEST(Slo, AllLimitsAreToBeKeptByARunInWhichSomethingSucceededAndNothingFailed) {
  Point point = point_of_four_series();
  const auto both = parse_slo("ttft_p50<=1ms,itl_p50<=3ms").value();
  EXPECT_TRUE(keeps(both, point));
  EXPECT_FALSE(keeps(parse_slo("ttft_p50<=1ms,itl_p50<=2ms").value(), point));
  EXPECT_FALSE(keeps(parse_slo("ttft_p50<=0ms,itl_p50<=3ms").value(), point));
  EXPECT_TRUE(keeps({}, point)) << "of no limits";
  point.counts.failed = 1;
  EXPECT_FALSE(keeps(both, point));
  EXPECT_FALSE(keeps({}, point));
  point.counts = {};
  EXPECT_FALSE(keeps(both, point));
  point.counts.completed = 1;
  point.arrival.itl = {};
  EXPECT_FALSE(keeps(both, point)) << "a series without values keeps no limit";
  EXPECT_EQ(figure_of(both[1], point), Duration{});
  EXPECT_EQ(figure_of(SloLimit{.series = "none", .percentile = 50}, point), Duration{});
  EXPECT_FALSE(keeps({SloLimit{.series = "none", .percentile = 50, .most = 1_s}}, point));
}

TEST(Slo, WhatIsWrongIsSaidWithWhatMayBeWritten) {
  const auto why = [](const char* text) {
    const auto slo = parse_slo(text);
    EXPECT_FALSE(slo) << text;
    return slo ? std::string() : slo.error().message;
  };
  for (const char* const text :
       {"", "ttft_p99", "ttft<=1s", "ttft_pX<=1s", "ttft_p99<=x", "none_p99<=1s", "<=1s",
        "_p99<=1s", "ttft_p99<=1s,", "ttft_p<=1s"}) {
    EXPECT_NE(why(text).find("written as ttft_p99<=2s or tpot_p90<=50ms"), std::string::npos)
        << text;
  }
  EXPECT_NE(why("ttft_p98<=1s").find("percentiles are 50, 75"), std::string::npos);
  const auto spaced = parse_slo("  ttft _p 99 <= 250ms ,itl_p99.9<=2");
  ASSERT_TRUE(spaced) << spaced.error().message;
  EXPECT_EQ((*spaced)[0].series, "ttft");
  EXPECT_EQ((*spaced)[0].percentile, 99);
  EXPECT_EQ((*spaced)[0].most, 250_ms);
  EXPECT_EQ((*spaced)[0].text, "ttft _p 99 <= 250ms");
  EXPECT_EQ((*spaced)[1].percentile, 99.9);
  EXPECT_EQ((*spaced)[1].most, 2_s) << "seconds, where it names no unit";
}

}  // namespace
}  // namespace assay::metrics
