#include "domain/messages.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

Json said(std::string_view text) { return Json().set("role", "user").set("content", text); }

TEST(Messages, read_as_the_json_they_stand_for) {
  for (const char* const text :
       {R"([{"role":"user","content":"a"},{"b":[1]}])", "[]", "null", "7"}) {
    const Json json = *Json::parse(text);
    const Messages messages = json;
    EXPECT_EQ(messages.json(), json);
    EXPECT_EQ(messages.dump(), text);
    EXPECT_EQ(messages.is_array(), json.is_array());
    EXPECT_EQ(messages.is_null(), json.is_null());
    EXPECT_EQ(messages, Messages(json));
  }
  EXPECT_TRUE(Messages()[3].is_null());
}

TEST(Messages, what_is_said_again_is_the_same_object) {
  Messages first;
  first.push_back(said("a"));
  Messages second = first;
  second.push_back(said("b"));
  EXPECT_EQ(first.size(), 1U);
  EXPECT_EQ(second.size(), 2U);
  EXPECT_EQ(first.shared(0), second.shared(0));
  second.replace(0, std::make_shared<const Json>(said("c")));
  EXPECT_EQ(first[0]["content"].as_string(), "a");
  EXPECT_EQ(second[0]["content"].as_string(), "c");
  EXPECT_FALSE(first == second);
}

}  // namespace
}  // namespace assay
