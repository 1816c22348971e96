#include "dataset/mix.h"

#include <gtest/gtest.h>

namespace assay::dataset {
namespace {

TEST(TrafficMix, a_class_is_its_name_and_what_differs) {
  const auto one = parse_class(
      "batch, share=0.3, isl=lognormal:512/0.5, osl=64, prefix=1000x4, model=m-lora, priority=-1,"
      "slo=ttft<=2s&latency<=9s, body.user=u1, body.n=2");
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_EQ(one->name, "batch");
  EXPECT_EQ(one->share, 0.3);
  EXPECT_EQ(to_string(*one->isl), "lognormal:512,0.5");
  EXPECT_EQ(one->prefixes.front().branches, 4U);
  EXPECT_EQ(one->overrides.dump(), R"({"model":"m-lora","priority":-1,"user":"u1","n":2})");
  EXPECT_EQ(one->slo, "ttft<=2s&latency<=9s");
  for (const char* wrong : {"", "share=1", "a,share=0", "a,share", "a,speed=1", "a,slo=p99<=1s",
                            "a,isl=0x", "a b", "a,body.=1"}) {
    EXPECT_FALSE(parse_class(wrong)) << wrong;
  }
}

TEST(TrafficMix, each_row_is_of_its_class_whatever_the_other_classes_are) {
  SyntheticSpec spec{.count = 400, .isl = LengthSpec::fixed(30), .token_ids = true};
  spec.classes = {*parse_class("short,share=3,isl=10,osl=5"),
                  *parse_class("long,isl=500,priority=2")};
  const auto mix = make_mix(spec, "");
  ASSERT_TRUE(mix);
  ASSERT_EQ(mix->rows(), 400U);
  ASSERT_EQ(mix->mix.size(), 2U);
  int shorts = 0;
  for (std::uint32_t row = 0; row < 400; ++row) {
    const Sample sample = mix->make_row(row);
    const bool is_short = class_of(mix->mix, row) == 0;
    shorts += is_short ? 1 : 0;
    EXPECT_EQ(sample.input_tokens.size(), is_short ? 10U : 500U);
    EXPECT_EQ(sample.output_tokens_max, is_short ? 5 : 0);
    EXPECT_EQ(sample.overrides.is_null(), is_short);
    EXPECT_EQ(sample.overrides["priority"].as_int(), is_short ? 0 : 2);
  }
  EXPECT_NEAR(shorts, 300, 3);
  // A row's prompt follows from its class and number, so a class alone asks the same.
  SyntheticSpec alone = spec;
  alone.classes = {spec.classes[1]};
  const auto same = make_mix(alone, "");
  for (std::uint32_t row = 0; row < 50; ++row) {
    if (class_of(mix->mix, row) != 1) continue;
    EXPECT_EQ(mix->make_row(row).input_tokens, same->make_row(row).input_tokens);
  }
  EXPECT_NE(mix->recipe.find("class short share 3"), std::string::npos);
}

}  // namespace
}  // namespace assay::dataset
