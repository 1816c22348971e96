#include "endpoint/described_ask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/check.h"
#include "base/yaml.h"

namespace assay::endpoint {
namespace {

DescribedKind teller() {
  auto kind = parse_described_kind(
      yaml::parse("kind: tell\nroute: /tell/{model}/now\nreply: {text: say}\nrequest: {words: "
                  "'Tell: {prompt}', how: {live: '{stream}', most: '{output_tokens_max}'}, "
                  "list: [1, '{seed}']}\n")
          ->to_json());
  CHECK(kind);
  return *std::move(kind);
}

TEST(DescribedAsk, values_stand_where_the_template_has_its_slots) {
  Ask ask;
  const auto read = read_described_ask(
      teller(), R"({"words":"Tell: 12345678","how":{"live":false,"most":7},"list":[1,9],"x":2})",
      ask);
  ASSERT_EQ(std::get_if<ApiError>(&read), nullptr);
  EXPECT_EQ(ask.route, Route::described);
  EXPECT_EQ(ask.prompt_tokens, 2u);
  EXPECT_FALSE(ask.stream);
  EXPECT_EQ(ask.tokens_max, 7);
  EXPECT_TRUE(ask.has_seed && ask.seed == 9);
  Ask unsaid;
  ASSERT_EQ(read_described_ask(teller(), R"({"words":"Tell: a"})", unsaid).index(), 0u);
  EXPECT_TRUE(unsaid.stream && unsaid.tokens_max == -1);
}

TEST(DescribedAsk, a_field_that_is_wrong_is_named) {
  const std::pair<std::string, std::string> cases[] = {
      {R"({"how":{}})", "the prompt: is required"},
      {R"({"words":1})", "words: must be a string"},
      {R"({"words":"Tell: a","how":[]})", "how: must be an object"},
      {R"({"words":"Tell: a","how":{"most":0}})", "how.most: must be at least 1"},
      {R"({"words":"Tell: a","list":[1,"x"]})", "list.1: must be an integer"},
      {"[]", "must be a JSON object"},
      {"{", "not valid JSON"}};
  for (const auto& [body, words] : cases) {
    Ask ask;
    const auto read = read_described_ask(teller(), body, ask);
    const auto* const error = std::get_if<ApiError>(&read);
    ASSERT_NE(error, nullptr) << body;
    EXPECT_THAT(error->message, testing::HasSubstr(words)) << body;
  }
}

TEST(DescribedAsk, a_route_may_name_a_model_below_any_prefix) {
  std::string_view model;
  EXPECT_TRUE(is_route_of(teller(), "/base/tell/m-1/now", model));
  EXPECT_EQ(model, "m-1");
  for (const std::string_view path : {"/tell//now", "/tell/a/b/now", "/tell/a", "/now", "/"}) {
    EXPECT_FALSE(is_route_of(teller(), path, model)) << path;
  }
}

}  // namespace
}  // namespace assay::endpoint
