#include "metrics/slo.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace assay::metrics
