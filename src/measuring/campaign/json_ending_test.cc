#include "campaign/json_ending.h"

#include <gtest/gtest.h>

#include <string>

#include "base/json.h"

namespace assay::campaign {
namespace {

struct EndingHeard {
  std::string printed{};
  std::string said{};
  Talk talk() {
    return {.print = [this](std::string_view text) { printed += text; },
            .say = [this](std::string_view line) { said += line; }};
  }
};

TEST(JsonEnding, a_course_that_fails_before_its_result_prints_the_ending_alone) {
  EndingHeard heard;
  const auto result = end_in_json(heard.talk(), [](const Talk& talk) -> Result<int> {
    talk.say("begun");
    return Error{Code::refused, "the test query: no connection\n  another --endpoint"};
  });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "the test query: no connection\n  another --endpoint");
  EXPECT_EQ(heard.said, "begun");
  const auto json = Json::parse(heard.printed);
  ASSERT_TRUE(json) << heard.printed;
  EXPECT_EQ(json->dump(), R"({"exit":{"code":3,"causes":[{"code":3,)"
                          R"("why":"the test query: no connection; another --endpoint"}]}})");
  EXPECT_TRUE(heard.printed.ends_with("}\n"));
}

TEST(JsonEnding, a_result_that_was_printed_stays_the_only_document) {
  EndingHeard heard;
  const auto result = end_in_json(heard.talk(), [](const Talk& talk) -> Result<int> {
    talk.print("{}\n");
    return Error{Code::io, "the store took no run"};
  });
  EXPECT_FALSE(result);
  EXPECT_EQ(heard.printed, "{}\n");
}

TEST(JsonEnding, a_course_that_succeeds_prints_its_own_words_only) {
  EndingHeard heard;
  const auto result = end_in_json(heard.talk(), [](const Talk&) -> Result<int> { return 4; });
  ASSERT_TRUE(result);
  EXPECT_EQ(*result, 4);
  EXPECT_EQ(heard.printed, "");
}

}  // namespace
}  // namespace assay::campaign
