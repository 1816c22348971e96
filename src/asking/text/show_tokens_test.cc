#include "text/show_tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"
#include "base/scratch_folder.h"
#include "base/testing_talk.h"

namespace assay::text {
namespace {

using testing::HasSubstr;

// Five tokens, cut at spaces.
constexpr std::string_view kTokenizer = R"({"version":"1.0","added_tokens":[],"normalizer":null,
  "pre_tokenizer":{"type":"Whitespace"},"post_processor":null,"decoder":null,
  "model":{"type":"WordLevel","vocab":{"[UNK]":0,"a":1,"b":2,"c":3,"d":4},"unk_token":"[UNK]"}})";

class ShowTokens : public testing::Test {
 protected:
  void SetUp() override {
    auto made = ScratchFolder::make("tokens");
    ASSERT_TRUE(made);
    scratch_.emplace(*std::move(made));
    ASSERT_TRUE(write_file_atomic(scratch_->path() / "tokenizer.json", kTokenizer));
    options_.tokenizer = scratch_->path().string();
  }
  std::optional<ScratchFolder> scratch_{};
  ShownTokens options_{};
  Heard heard_{};
};

TEST_F(ShowTokens, each_value_of_a_member_has_its_own_count) {
  options_.by = "locale";
  options_.json = true;
  const auto code = show_tokens(options_,
                                "{\"text\":\"a b\",\"locale\":\"x\"}\n"
                                "{\"text\":\"c\",\"locale\":\"y\"}\n"
                                "{\"prompt\":\"d d d\",\"locale\":\"x\"}\n",
                                heard_.talk());
  ASSERT_TRUE(code) << code.error().message;
  const auto json = Json::parse(heard_.printed);
  ASSERT_TRUE(json) << heard_.printed;
  ASSERT_EQ((*json)["rows"].size(), 2U);
  EXPECT_EQ((*json)["rows"][0]["locale"].as_string(), "x");
  EXPECT_EQ((*json)["rows"][0]["tokens"].as_uint(), 5U);
  EXPECT_EQ((*json)["rows"][1]["tokens"].as_uint(), 1U);
}

TEST_F(ShowTokens, a_line_without_its_member_is_named) {
  options_.by = "locale";
  const auto code =
      show_tokens(options_, "{\"text\":\"a\",\"locale\":\"x\"}\n{\"text\":\"b\"}\n", heard_.talk());
  ASSERT_FALSE(code);
  EXPECT_THAT(code.error().message, HasSubstr("line 2: --by: there is no text \"locale\""));
}

TEST_F(ShowTokens, ids_come_back_as_text) {
  options_.ids = true;
  options_.jsonl = true;
  ASSERT_TRUE(show_tokens(options_, "\"a d\"\n", heard_.talk()));
  EXPECT_EQ(heard_.printed, "[1,4]\n");
}

}  // namespace
}  // namespace assay::text
