#include "domain/traffic_class.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(TrafficClasses, each_has_its_share_of_any_stretch_of_rows) {
  const TrafficMix mix = {
      {.name = "a", .share = 7}, {.name = "b", .share = 2}, {.name = "c", .share = 1}};
  for (const std::uint32_t from : {0U, 1000U, 4'000'000'000U}) {
    std::array<int, 3> seen{};
    for (std::uint32_t row = from; row < from + 1000; ++row) ++seen[class_of(mix, row)];
    EXPECT_NEAR(seen[0], 700, 5) << from;
    EXPECT_NEAR(seen[1], 200, 5) << from;
    EXPECT_NEAR(seen[2], 100, 5) << from;
  }
  EXPECT_EQ(class_of({{.name = "alone"}}, 17), 0U);
}

TEST(TrafficClasses, a_mix_is_read_back_from_a_runs_facts) {
  TrafficMix mix = {{.name = "a", .share = 0.25, .slo = "ttft<=500ms&tpot<=20ms"}, {.name = "b"}};
  const auto read = mix_from_facts(Json().set(kClassesFact, to_json(mix)));
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ((*read)[0].share, 0.25);
  ASSERT_EQ((*read)[0].limits.size(), 2U);
  EXPECT_EQ((*read)[0].limits[1].series, "tpot");
  EXPECT_EQ((*read)[0].limits[1].most, 20_ms);
  EXPECT_TRUE(mix_from_facts(Json::object())->empty());
  EXPECT_FALSE(mix_from_facts(
      Json().set(kClassesFact, Json::array().push_back(Json().set("name", "x").set("share", 0)))));
}

TEST(TrafficClasses, a_limit_is_a_known_series_and_a_time) {
  for (const char* wrong :
       {"ttft", "ttft<500ms", "itl<=5ms", "ttft<=0ms", "ttft<=fast", "ttft<=1s&&tpot<=1s"}) {
    EXPECT_FALSE(parse_class_limits(wrong)) << wrong;
  }
  EXPECT_TRUE(parse_class_limits("")->empty());
  EXPECT_EQ((*parse_class_limits("latency<=2"))[0].most, 2_s);
}

}  // namespace
}  // namespace assay
