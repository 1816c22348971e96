#include "host/self_audit.h"

#include <gtest/gtest.h>

namespace assay::host {
namespace {

TEST(LagRecorder, one_stall_that_makes_many_late_is_counted_once) {
  LagRecorder lag;
  const Instant start{1'000'000'000};
  for (int i = 0; i < 64; ++i) lag.record(start, start + 20_ms);
  lag.record(start + 30_ms, start + 30_ms);
  lag.record(start + 40_ms, start + 60_ms);
  const LagFigures figures = lag.figures();
  EXPECT_EQ(figures.count, 66U);
  EXPECT_EQ(figures.stalls, 2U);
  EXPECT_EQ(figures.stalled, 40_ms);
  EXPECT_EQ(figures.holdups, 2);
  EXPECT_EQ(figures.max, 20_ms);
}

TEST(LagRecorder, a_hold_up_shorter_than_a_stall_is_counted_once_too) {
  LagRecorder lag;
  const Instant start{1'000'000'000};
  for (int i = 0; i < 200; ++i) lag.record(start + 1_us * i, start + 6_ms + 4_us * i);
  lag.record(start + 20_ms, start + 24_ms);  // late, but below kLate
  EXPECT_EQ(lag.figures().holdups, 1);
  EXPECT_EQ(lag.figures().stalls, 0U);
  lag.record(start + 30_ms, start + 35_ms);
  EXPECT_EQ(lag.figures().holdups, 2);
}

TEST(LagRecorder, what_is_done_before_its_time_is_not_late) {
  LagRecorder lag;
  lag.record(Instant{2'000'000'000}, Instant{1'000'000'000});
  EXPECT_EQ(lag.figures().max, Duration{});
  EXPECT_EQ(lag.figures().stalls, 0U);
}

TEST(SelfAudit, without_a_canary_nothing_is_watched) {
  SelfAudit audit(SelfAudit::Canary::no);
  ClientAudit figures;
  audit.stop(figures);
  EXPECT_EQ(figures.canary.watched, Duration{});
  EXPECT_GT(figures.cores, 0);
}

}  // namespace
}  // namespace assay::host
