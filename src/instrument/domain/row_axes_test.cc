#include "domain/row_axes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"

namespace assay {
namespace {

using ::testing::ElementsAre;

Sample row(const std::string& prompt, const std::string& locale = "") {
  Sample out;
  out.prompt = prompt;
  if (!locale.empty()) out.columns = Json().set("locale", locale);
  return out;
}

Dataset rows(std::vector<Sample> samples) {
  Dataset out;
  out.samples = std::move(samples);
  return out;
}

TEST(RowAxes, rows_of_one_kind_have_none) {
  EXPECT_TRUE(axes_of(rows({row("a"), row("b")})).axes.empty());
  EXPECT_TRUE(axes_of({}).axes.empty());
}

TEST(RowAxes, languages_and_what_prompts_are_made_of_come_back_from_the_facts) {
  Sample picture;
  picture.content_parts =
      Json::parse(R"([{"type":"text","text":"né"},{"type":"image_url"}])").value();
  Sample chat;
  chat.messages =
      Json::parse(R"([{"role":"system","content":"ab"},{"role":"user","content":"你好"}])").value();
  chat.columns = Json().set("locale", "zh_cn");
  const RowAxes made = axes_of(rows({row("four", "en_us"), picture, chat, row("x", "en_us")}));
  const auto read = axes_from_facts(Json().set(kAxesFact, to_json(made)));
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->axes.size(), 2U);
  EXPECT_EQ(read->axes[0].name, "locale");
  EXPECT_THAT(read->axes[0].values, ElementsAre("en_us", "not stated", "zh_cn"));
  EXPECT_THAT(read->axes[0].rows, ElementsAre(0, 1, 2, 0));
  EXPECT_EQ(read->axes[1].name, "modality");
  EXPECT_THAT(read->axes[1].values, ElementsAre("text", "text+picture"));
  EXPECT_THAT(read->axes[1].rows, ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(read->characters, ElementsAre(4, 2, 4, 1));
}

TEST(RowAxes, a_column_with_a_value_a_row_is_no_axis) {
  std::vector<Sample> many;
  for (std::size_t i = 0; i <= kAxisValuesMax; ++i) many.push_back(row("a", format("l{}", i)));
  EXPECT_TRUE(axes_of(rows(std::move(many))).axes.empty());
}

TEST(RowAxes, broken_facts_are_refused) {
  for (const char* const broken :
       {R"({"axes":[{"axis":"","values":["a"],"rows":[]}],"characters":[]})",
        R"({"axes":[{"axis":"x","values":[],"rows":[]}],"characters":[]})",
        R"({"axes":[{"axis":"x","values":["a"],"rows":[1]}],"characters":[1]})",
        R"({"axes":[{"axis":"x","values":["a"],"rows":[null]}],"characters":[1]})",
        R"({"axes":[{"axis":"x","values":["a"],"rows":[0]}],"characters":[]})"}) {
    EXPECT_FALSE(axes_from_facts(Json().set(kAxesFact, Json::parse(broken).value()))) << broken;
  }
}

}  // namespace
}  // namespace assay
