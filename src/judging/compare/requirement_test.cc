#include "compare/requirement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::compare {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

metrics::Point gated_point() {
  metrics::Point point;
  point.counts = {.issued = 1000, .completed = 998, .failed = 2};
  point.rates.duration = 10_s;
  point.rates.qps = 99.8;
  point.rates.tps = 5'000.0;
  metrics::Distribution& ttft = point.arrival.ttft;
  ttft.count = 998;
  ttft.mean = 150e6;
  ttft.min = 90e6;
  ttft.max = 400e6;
  for (std::size_t i = 0; i < metrics::kPercentiles.size(); ++i) {
    ttft.percentiles[i] = 2e6 * metrics::kPercentiles[i];  // P95 is 190 ms
  }
  point.osl.count = 998;
  point.osl.mean = 128;
  return point;
}

bool met(const std::string& text) {
  const auto parsed = parse_requirements({text});
  EXPECT_TRUE(parsed) << parsed.error().message;
  return parsed && judge(*parsed, gated_point()).front().met;
}

TEST(Requirement, each_kind_of_figure_is_held_against_its_value) {
  EXPECT_TRUE(met("ttft_p95<=190ms"));
  EXPECT_FALSE(met("ttft_p95<190ms"));
  EXPECT_FALSE(met("ttft_p95 <= 0.1s"));
  EXPECT_TRUE(met("ttft_p99.9<=200ms"));
  EXPECT_TRUE(met("ttft_mean<=150ms"));
  EXPECT_FALSE(met("ttft_max<=399ms"));
  EXPECT_TRUE(met("ttft_min>=90ms"));
  EXPECT_FALSE(met("ttft_min>90ms"));
  EXPECT_TRUE(met("osl_mean>=128"));
  EXPECT_TRUE(met("system_tps>=5000"));
  EXPECT_FALSE(met("system_tps>5000"));
  EXPECT_TRUE(met("qps>99"));
  EXPECT_TRUE(met("completed>=998"));
}

TEST(Requirement, failures_are_a_count_or_a_share_of_the_issued) {
  EXPECT_TRUE(met("failed<=2"));
  EXPECT_FALSE(met("failed<=1"));
  EXPECT_TRUE(met("failed<=0.2%"));
  EXPECT_FALSE(met("failed<=0.1%"));
  EXPECT_TRUE(met("completed>=99.8%"));
}

TEST(Requirement, a_figure_that_the_run_does_not_have_is_not_met) {
  EXPECT_FALSE(met("tpot_p99<=1h"));
  EXPECT_FALSE(met("tps_per_user>=0"));
  const auto parsed = parse_requirements({"tpot_p99<=1h"});
  EXPECT_EQ(to_string(judge(*parsed, gated_point()).front()),
            "tpot_p99<=1h: the run has no such figure, not met");
  EXPECT_FALSE(judge(*parse_requirements({"failed<=1%"}), metrics::Point{}).front().met);
}

TEST(Requirement, several_stand_in_one_text_or_in_many) {
  const auto parsed = parse_requirements({"ttft_p95<=200ms,failed<=1%", "qps>1"});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->size(), 3U);
}

TEST(Requirement, what_cannot_be_read_is_refused_with_what_is_allowed) {
  for (const char* text :
       {"", "ttft", "ttft<=1s", "ttft_p96<=1s", "ttft_p95=1s", "ttft_p95<=", "ttft_p95<=1x",
        "ttft_p95<=200", "ttft_p95<=-1s", "speed>=1", "qps>=fast", "qps>=10%", "failed<=-1",
        "_p95<=1s", "ttft_p95<=200ms,", "qps>=nan"}) {
    const auto parsed = parse_requirements({text});
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().message, HasSubstr("--require")) << text;
  }
}

TEST(Requirement, junit_has_a_case_for_each_requirement_of_each_run) {
  const auto parsed = *parse_requirements({"failed<=1", "qps>1"});
  const std::vector<Judged> judged{{"c<1>", judge(parsed, gated_point())}};
  const std::string xml = requirements_junit("assay run", judged);
  EXPECT_THAT(xml, HasSubstr("tests=\"2\" failures=\"1\""));
  EXPECT_THAT(xml, HasSubstr("classname=\"c&lt;1&gt;\" name=\"failed&lt;=1\""));
  EXPECT_THAT(xml, HasSubstr("<failure message=\"failed&lt;=1: 2, not met\"/>"));
}

TEST(Requirement, json_has_the_figure_in_its_unit) {
  const Json json =
      to_json(judge(*parse_requirements({"ttft_p95<=200ms", "tpot_p99<=1s"}), gated_point()));
  EXPECT_EQ(json[0]["figure"].as_double(), 190e6);
  EXPECT_EQ(json[0]["unit"].as_string(), "ns");
  EXPECT_TRUE(json[1]["figure"].is_null());
}

}  // namespace
}  // namespace assay::compare
