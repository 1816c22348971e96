#include "dataset/length.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace assay::dataset {
namespace {

TEST(Length, reads_every_form_and_writes_it_back) {
  for (const char* text : {"512", "uniform:100-200", "normal:512,64", "lognormal:512,0.5"}) {
    const auto spec = parse_length(text);
    ASSERT_TRUE(spec) << text;
    EXPECT_EQ(to_string(*spec), text);
  }
  EXPECT_EQ(*parse_length("fixed:7"), LengthSpec::fixed(7));
  EXPECT_EQ(*parse_length(" Uniform: 3 , 9 "), *parse_length("uniform:3-9"));
}

TEST(Length, says_what_is_wrong_and_what_to_write) {
  for (const char* text :
       {"", "0", "-5", "1.5", "uniform:9-3", "uniform:5", "normal:5", "normal:0,1", "normal:5,-1",
        "zipf:3", "fixed:1,2", "1e99", "nan", "uniform:1-2-3"}) {
    const auto spec = parse_length(text);
    ASSERT_FALSE(spec) << text;
    EXPECT_NE(spec.error().message.find("uniform:100-200"), std::string::npos) << text;
  }
}

TEST(Length, draws_have_the_distribution_and_stay_in_range) {
  struct Case {
    const char* text;
    double middle;
    double low;
    double high;
  };
  for (const Case& c : {Case{"fixed:40", 40, 40, 40}, Case{"uniform:10-20", 15, 10, 20},
                        Case{"normal:500,20", 500, 1, 1e7},
                        Case{"lognormal:100,0.5", 100 * std::exp(0.125), 1, 1e7}}) {
    const LengthSpec spec = *parse_length(c.text);
    Rng rng(7);
    constexpr int kDraws = 20'000;
    double sum = 0;
    for (int i = 0; i < kDraws; ++i) {
      const auto length = static_cast<double>(draw_length(spec, rng));
      EXPECT_GE(length, c.low);
      EXPECT_LE(length, c.high);
      sum += length;
    }
    EXPECT_NEAR(sum / kDraws, c.middle, c.middle * 0.02) << c.text;
    EXPECT_NEAR(mean(spec), c.middle, 1e-9) << c.text;
  }
}

TEST(Length, the_ends_of_uniform_are_drawn_too) {
  const LengthSpec spec = *parse_length("uniform:1-3");
  Rng rng(1);
  bool seen[4] = {};
  for (int i = 0; i < 200; ++i) seen[draw_length(spec, rng)] = true;
  EXPECT_TRUE(seen[1] && seen[2] && seen[3]);
}

TEST(Length, a_wide_normal_never_asks_for_less_than_one_token) {
  const LengthSpec spec = *parse_length("normal:2,50");
  Rng rng(3);
  for (int i = 0; i < 1000; ++i) EXPECT_GE(draw_length(spec, rng), 1);
}

}  // namespace
}  // namespace assay::dataset
