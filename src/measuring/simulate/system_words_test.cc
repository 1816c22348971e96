#include "simulate/system_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::simulate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(SystemWords, levels_are_a_list_or_powers_of_two) {
  const auto list = concurrency_levels("4, 16,64");
  ASSERT_TRUE(list);
  EXPECT_THAT(*list, ElementsAre(4, 16, 64));
  const auto sweep = concurrency_levels(std::string(kSweep));
  ASSERT_TRUE(sweep);
  EXPECT_EQ(sweep->front(), 1U);
  for (std::size_t i = 1; i < sweep->size(); ++i) EXPECT_EQ((*sweep)[i], 2 * (*sweep)[i - 1]);
  EXPECT_FALSE(concurrency_levels("4,0"));
  EXPECT_FALSE(concurrency_levels("4;8"));
}

TEST(SystemWords, what_is_missing_or_does_not_go_together_is_named) {
  SystemWords words;
  EXPECT_THAT(words.resolve().error().message, HasSubstr("--model"));
  words.scenario.model = "llama3.1-8b";
  EXPECT_THAT(words.resolve().error().message, HasSubstr("--hardware"));
  words.scenario.hardware = "h100-sxm";
  ASSERT_TRUE(words.resolve());
  words.decode_batch = 8;
  EXPECT_THAT(words.resolve().error().message, HasSubstr("--disagg"));
  words.scenario.disagg = "1P+1D";
  words.mtp = 9;
  EXPECT_THAT(words.resolve().error().message, HasSubstr("--mtp"));
}

TEST(SystemWords, lengths_that_were_not_given_have_their_words) {
  const sim::Catalogue catalogue = sim::Catalogue::builtin();
  SystemWords words;
  EXPECT_EQ(words.lengths_text(catalogue), "1024 tokens in, 1024 out");
  words.osl = "uniform:1-9";
  words.prefixes = "100x2";
  EXPECT_EQ(words.lengths_text(catalogue),
            "1024 tokens in, uniform:1-9 out, the first shared: 100x2");
}

}  // namespace
}  // namespace assay::simulate
