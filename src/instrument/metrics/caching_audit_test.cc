#include "metrics/caching_audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::metrics {
namespace {

using testing::HasSubstr;

CachingPhase phase_of(double qps, double tps, std::uint64_t completed = 100) {
  CachingPhase out{.requested = 100, .completed = completed, .qps = qps, .tps = tps};
  out.ttft_p50_ms = 20;
  return out;
}

CachingAudit judged(const CachingPhase& reference, const CachingPhase& repeated) {
  const auto audit = judge_caching(reference, repeated, 3, 16, kCachingThreshold);
  EXPECT_TRUE(audit);
  return audit ? *audit : CachingAudit();
}

TEST(CachingAudit, TheSameSpeedPasses) {
  const CachingAudit audit = judged(phase_of(50, 3200), phase_of(51, 3264));
  EXPECT_TRUE(audit.passed);
  EXPECT_THAT(audit.reason, HasSubstr("+2.0 %"));
}

TEST(CachingAudit, AtTheThresholdItFails) {
  EXPECT_FALSE(judged(phase_of(100, 6400), phase_of(110.00000001, 7040)).passed);
  EXPECT_TRUE(judged(phase_of(100, 6400), phase_of(109.99, 7039)).passed);
}

TEST(CachingAudit, AFastCacheFailsWithItsNumbers) {
  const CachingAudit audit = judged(phase_of(50, 3200), phase_of(900, 57600));
  EXPECT_FALSE(audit.passed);
  EXPECT_THAT(audit.reason, HasSubstr("900 q/s with one row repeated, 50.0 q/s"));
  EXPECT_THAT(caching_text(audit), HasSubstr("FAILED"));
}

TEST(CachingAudit, ShorterRepliesExplainAndDoNotExcuse) {
  const CachingAudit audit = judged(phase_of(50, 3200), phase_of(100, 3250));
  EXPECT_FALSE(audit.passed);
  EXPECT_THAT(audit.reason, HasSubstr("shorter"));
}

TEST(CachingAudit, FastErrorsAreNoThroughput) {
  const CachingAudit audit = judged(phase_of(50, 3200), phase_of(10, 640, 20));
  EXPECT_FALSE(audit.passed);
  EXPECT_THAT(audit.reason, HasSubstr("20 of 100"));
  EXPECT_FALSE(judge_caching(phase_of(0, 0, 0), phase_of(1, 1), 0, 1, 0.1));
}

TEST(CachingAudit, ItsFileIsReadAgain) {
  const CachingAudit audit = judged(phase_of(50, 3200), phase_of(900, 57600));
  const auto again = caching_from_json(*Json::parse(caching_json(audit).dump()));
  ASSERT_TRUE(again);
  EXPECT_EQ(caching_json(*again).dump(), caching_json(audit).dump());
  EXPECT_FALSE(caching_from_json(Json::object()));
}

}  // namespace
}  // namespace assay::metrics
