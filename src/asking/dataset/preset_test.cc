#include "dataset/preset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "dataset/python_text.h"

namespace assay::dataset {
namespace {

using testing::HasSubstr;

Json parsed(std::string_view text) {
  auto json = Json::parse(text);
  EXPECT_TRUE(json);
  return json ? *json : Json();
}

Json applied(Preset& preset, std::string_view text) {
  Json row = parsed(text);
  const auto done = preset.apply(row);
  EXPECT_TRUE(done) << done.error().message;
  return row;
}

TEST(Preset, system_texts_are_the_published_ones) {
  EXPECT_EQ(shopify_system(true).size(), 1656U);
  EXPECT_EQ(sha256_hex(shopify_system(true)),
            "0d1878a7ddab0ca73999e3b7db2e0b8aaa74069f1bcc4c4f8a49201b82151c48");
  EXPECT_EQ(shopify_system(false).size(), 1462U);
  EXPECT_EQ(sha256_hex(shopify_system(false)),
            "2ff8c5d5405714082f8082a3322f6faeddf49149498bd41e692ccc29725722b3");
}

// Five results of random.Random(0).sample(range(4), 4).
TEST(Preset, choices_are_shuffled_as_by_cpython) {
  auto preset = Preset::of("gpqa::gptoss");
  ASSERT_TRUE(preset && *preset);
  constexpr std::string_view kRow =
      R"({"Question":"Q?","Correct Answer":"c","Incorrect Answer 1":"x",)"
      R"("Incorrect Answer 2":"y","Incorrect Answer 3":"z"})";
  const std::vector<std::string> truths = {"choice3", "choice4", "choice3", "choice2", "choice3"};
  const std::vector<std::string> orders = {"zxcy", "zxyc", "yzcx", "yczx", "xzcy"};
  for (std::size_t i = 0; i < truths.size(); ++i) {
    const Json row = applied(**preset, kRow);
    std::string order;
    for (const char* choice : {"choice1", "choice2", "choice3", "choice4"}) {
      order += row[choice].as_string();
    }
    EXPECT_EQ(order, orders[i]);
    EXPECT_EQ(row["ground_truth"].as_string(), truths[i]);
    EXPECT_THAT(row["prompt"].as_string(), testing::StartsWith("Q?\n\n(A) "));
    EXPECT_THAT(row["prompt"].as_string(), testing::EndsWith("option 'A', 'B', 'C', or 'D'."));
  }
}

TEST(Preset, a_prompt_is_put_together_from_columns) {
  auto aime = Preset::of("aime25::gptoss");
  ASSERT_TRUE(aime && *aime);
  EXPECT_EQ(applied(**aime, R"({"question":"1+1?","answer":2})")["prompt"].as_string(),
            "1+1?\nPlease reason step by step, and put your final answer within \\boxed{}.");
  auto cnn = Preset::of("cnn_dailymail::llama3_8b");
  ASSERT_TRUE(cnn && *cnn);
  EXPECT_EQ(applied(**cnn, R"({"article":"News."})")["prompt"].as_string(),
            "Summarize the following news article in 128 tokens. Please output the summary only, "
            "without any other text.\n\nArticle:\nNews.\n\nSummary:");
  Preset own = Preset::of_format("{a} and {b}, {{c}}");
  EXPECT_EQ(applied(own, R"({"a":"x","b":[1,"it's"]})")["prompt"].as_string(),
            "x and [1, \"it's\"], {c}");
}

TEST(Preset, says_what_is_missing) {
  Preset own = Preset::of_format("{a}");
  Json row = parsed(R"({"b":1})");
  EXPECT_THAT(own.apply(row).error().message, HasSubstr("no column 'a'"));
  EXPECT_THAT(Preset::of("gpqa::gptos").error().message, HasSubstr("it has: gptoss"));
  const auto plain = Preset::of("mine::x");
  EXPECT_TRUE(plain && !*plain);
}

TEST(Preset, a_picture_becomes_a_content_part) {
  auto preset = Preset::of("shopify_product_catalogue::q3vl");
  ASSERT_TRUE(preset && *preset);
  const Json row = applied(
      **preset,
      R"({"product_title":"T","product_description":"D","potential_product_categories":["A > B","é"],)"
      R"("product_image":{"bytes":"data:;base64,/9j/4AAQ","path":null},"ground_truth_category":"A > B"})");
  const Json& parts = row["prompt"];
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_THAT(parts[0]["text"].as_string(), HasSubstr("```json\n[\"A > B\", \"\\u00e9\"]\n```"));
  EXPECT_EQ(parts[1]["image_url"]["url"].as_string(), "data:image/JPEG;base64,/9j/4AAQ");
  EXPECT_EQ(row.find("product_image"), nullptr);
  const Json typed = applied(
      **preset,
      R"({"product_title":"T","product_description":"D","potential_product_categories":["A > B"],)"
      R"("product_image":{"bytes":"data:image/jpeg;base64,/9j/4AAQ","path":null},)"
      R"("ground_truth_category":"A > B"})");
  EXPECT_EQ(typed["prompt"][1]["image_url"]["url"].as_string(), "data:image/JPEG;base64,/9j/4AAQ");
}

TEST(PythonText, is_written_as_python_writes_it) {
  const Json value = parsed(R"([null,true,1.5,"a'b\"\n😀",{"k":[]}])");
  EXPECT_EQ(python_json(value), R"([null, true, 1.5, "a'b\"\n\ud83d\ude00", {"k": []}])");
  EXPECT_EQ(python_repr(value), "[None, True, 1.5, 'a\\'b\"\\n😀', {'k': []}]");
}

}  // namespace
}  // namespace assay::dataset
