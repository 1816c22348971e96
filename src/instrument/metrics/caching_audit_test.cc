#include "metrics/caching_audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "metrics/series.h"

namespace assay::metrics {
namespace {

using testing::HasSubstr;

CachingPhase phase_of(double qps, double tps, std::uint64_t completed = 100) {
  CachingPhase out{.requested = 100, .completed = completed, .qps = qps, .tps = tps};
  out.ttft_p50_ms = 20;
  return out;
}

CachingAudit judged_caching(const CachingPhase& reference, const CachingPhase& repeated) {
  const auto audit = judge_caching(reference, repeated, 3, 16, kCachingThreshold);
  EXPECT_TRUE(audit);
  return audit ? *audit : CachingAudit();
}

TEST(CachingAudit, TheSameSpeedPasses) {
  const CachingAudit audit = judged_caching(phase_of(50, 3200), phase_of(51, 3264));
  EXPECT_TRUE(audit.passed);
  EXPECT_THAT(audit.reason, HasSubstr("+2.0 %"));
}

TEST(CachingAudit, AtTheThresholdItFails) {
  EXPECT_FALSE(judged_caching(phase_of(100, 6400), phase_of(110.00000001, 7040)).passed);
  EXPECT_TRUE(judged_caching(phase_of(100, 6400), phase_of(109.99, 7039)).passed);
}

TEST(CachingAudit, AFastCacheFailsWithItsNumbers) {
  const CachingAudit audit = judged_caching(phase_of(50, 3200), phase_of(900, 57600));
  EXPECT_FALSE(audit.passed);
  EXPECT_EQ(audit.reason,
            "900 q/s with one row repeated, 50.0 q/s with distinct rows (+1700.0 %, less than 10 % "
            "is allowed)");
  EXPECT_THAT(caching_text(audit), HasSubstr("FAILED"));
}

TEST(CachingAudit, ShorterRepliesExplainAndDoNotExcuse) {
  const CachingAudit audit = judged_caching(phase_of(50, 3200), phase_of(100, 3250));
  EXPECT_FALSE(audit.passed);
  EXPECT_THAT(audit.reason, HasSubstr("shorter"));
}

TEST(CachingAudit, FastErrorsAreNoThroughput) {
  const CachingAudit audit = judged_caching(phase_of(50, 3200), phase_of(10, 640, 20));
  EXPECT_FALSE(audit.passed);
  EXPECT_THAT(audit.reason, HasSubstr("20 of 100"));
  EXPECT_FALSE(judge_caching(phase_of(0, 0, 0), phase_of(1, 1), 0, 1, 0.1));
}

TEST(CachingAudit, ItsFileIsReadAgain) {
  const CachingAudit audit = judged_caching(phase_of(50, 3200), phase_of(900, 57600));
  const auto again = caching_from_json(*Json::parse(caching_json(audit).dump()));
  ASSERT_TRUE(again);
  EXPECT_EQ(caching_json(*again).dump(), caching_json(audit).dump());
  EXPECT_FALSE(caching_from_json(Json::object()));
}

TEST(CachingAudit, AShareOfFailuresBelowTheThresholdIsNoReason) {
  EXPECT_TRUE(judged_caching(phase_of(50, 3200, 90), phase_of(50, 3200, 90)).passed);
  const CachingAudit reference = judged_caching(phase_of(50, 3200, 89), phase_of(50, 3200));
  EXPECT_FALSE(reference.passed);
  EXPECT_EQ(reference.reason, "89 of 100 queries got a reply with distinct rows");
  const CachingAudit repeated = judged_caching(phase_of(50, 3200), phase_of(50, 3200, 89));
  EXPECT_FALSE(repeated.passed);
  EXPECT_EQ(repeated.reason, "89 of 100 queries got a reply with one row repeated");
  CachingPhase none = phase_of(50, 3200);
  none.requested = none.completed = 0;
  EXPECT_FALSE(judged_caching(none, phase_of(50, 3200)).passed);
}

TEST(CachingAudit, TokensExplainOnlyWhereTheyAreKnownAndNearlyTheSame) {
  const auto reason = [](std::optional<double> before, std::optional<double> after, double qps) {
    CachingPhase reference = phase_of(50, 0);
    CachingPhase repeated = phase_of(qps, 0);
    reference.tps = before;
    repeated.tps = after;
    return judged_caching(reference, repeated).reason;
  };
  EXPECT_THAT(reason(100, 109, 90), HasSubstr("differ by +9.0 % only"));
  EXPECT_THAT(reason(100, 50, 90), HasSubstr("differ by -50.0 % only"));
  const auto says_nothing = testing::Not(HasSubstr("only"));
  EXPECT_THAT(reason(100, 111, 90), says_nothing);
  EXPECT_THAT(reason(std::nullopt, 100, 90), says_nothing);
  EXPECT_THAT(reason(100, std::nullopt, 90), says_nothing);
  EXPECT_THAT(reason(0, 0, 90), says_nothing);
  EXPECT_THAT(reason(100, 101, 51), says_nothing) << "it passed";
}

TEST(CachingAudit, APhaseHasItsPointsFigures) {
  Point point;
  point.counts.completed = 7;
  point.rates.qps = 2.5;
  point.rates.tps = 80;
  EXPECT_EQ(caching_phase(point, 9).ttft_p50_ms, 0) << "no reply";
  Series series;
  for (const std::int64_t ns : {1'000'000, 3'000'000, 9'000'000}) series.add(ns);
  point.arrival.ttft = series.finish(false);
  Series slower;
  for (const std::int64_t ns : {2'000'000, 7'000'000, 9'000'000}) slower.add(ns);
  point.arrival.latency = slower.finish(false);
  const CachingPhase phase = caching_phase(point, 9);
  EXPECT_EQ(phase.requested, 9U);
  EXPECT_EQ(phase.completed, 7U);
  EXPECT_EQ(phase.qps, 2.5);
  EXPECT_EQ(phase.tps, 80);
  EXPECT_EQ(phase.ttft_p50_ms, 3);
  EXPECT_EQ(phase.latency_p50_ms, 7);
}

TEST(CachingAudit, ItsJsonHasTheChecksKeysAndBothPhases) {
  CachingAudit audit = judged_caching(phase_of(50, 3200), phase_of(51, 3264, 99));
  audit.reason = "r";
  audit.repeated.tps.reset();
  audit.repeated.latency_p50_ms = 4;
  EXPECT_EQ(caching_json(audit).dump(),
            R"({"test":"output_caching_test","passed":true,"ref_qps":50.0,"audit_qps":51.0,)"
            R"("threshold":0.1,"ref_completed":100,"ref_requested":100,"audit_completed":99,)"
            R"("audit_requested":100,"reason":"r","sample_index":3,"concurrency":16,)"
            R"("reference":{"requested":100,"completed":100,"qps":50.0,"tps":3200.0,)"
            R"("ttft_ms_p50":20.0,"latency_ms_p50":0.0},"repeated":{"requested":100,)"
            R"("completed":99,"qps":51.0,"tps":null,"ttft_ms_p50":20.0,"latency_ms_p50":4.0}})");
  EXPECT_EQ(caching_text(audit), "output caching audit passed: r");
  audit.concurrency = 0;
  EXPECT_TRUE(caching_json(audit)["concurrency"].is_null());
  EXPECT_EQ(caching_json(*caching_from_json(caching_json(audit))).dump(),
            caching_json(audit).dump());
  EXPECT_FALSE(caching_from_json(caching_json(audit).set("test", "other")));
  EXPECT_FALSE(caching_from_json(caching_json(audit).set("passed", "yes")));
}

TEST(CachingAudit, ItIsJudgedByTheThresholdThatIsGivenAndFailsAtIt) {
  const auto audit = [](double qps) {
    return *judge_caching(phase_of(100, 6400), phase_of(qps, 6400), 3, 1, 0.5);
  };
  EXPECT_TRUE(audit(149.9).passed);
  EXPECT_FALSE(audit(150).passed) << "150 is 1.5 times 100";
  EXPECT_EQ(audit(120).threshold, 0.5);
  EXPECT_THAT(audit(120).reason, HasSubstr("less than 50 % is allowed"));
  EXPECT_EQ(caching_json(audit(120))["concurrency"].as_int(), 1);
  const CachingAudit again = *caching_from_json(caching_json(audit(120)));
  EXPECT_EQ(again.threshold, 0.5);
  EXPECT_EQ(again.concurrency, 1);
}

TEST(CachingAudit, OneQueryIsEnoughAndSoIsLessThanOneASecond) {
  CachingPhase one = phase_of(0.5, 0.5, 1);
  one.requested = 1;
  EXPECT_TRUE(judged_caching(one, one).passed);
  CachingPhase faster = one;
  faster.qps = 0.9;
  EXPECT_THAT(judged_caching(one, faster).reason, HasSubstr("differ by +0.0 % only"));
  faster.tps = 0.5 * 1.1;
  EXPECT_THAT(judged_caching(one, faster).reason, testing::Not(HasSubstr("only")))
      << "at the threshold they are more tokens";
}

}  // namespace
}  // namespace assay::metrics
