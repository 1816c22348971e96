// What the endpoint understands of requests beyond chat: texts, limits, wishes and tools of each
// kind, and the form of a refusal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "endpoint/ask.h"

namespace assay::endpoint {
namespace {

using testing::HasSubstr;

std::variant<std::monostate, ApiError> read_kind(Route route, std::string body, Ask& ask) {
  AskReader reader;
  body.reserve(body.size() + kAskPadding);
  return reader.read(route, body, ask);
}

Ask kind_ask(Route route, const std::string& body) {
  Ask ask;
  const auto read = read_kind(route, body, ask);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(read)) << std::get<ApiError>(read).message;
  return ask;
}

std::string kind_trouble(Route route, const std::string& body) {
  Ask ask;
  const auto read = read_kind(route, body, ask);
  EXPECT_TRUE(std::holds_alternative<ApiError>(read)) << body;
  return std::holds_alternative<ApiError>(read) ? std::get<ApiError>(read).message : "";
}

TEST(KindAsks, responses_hold_a_text_or_items) {
  const Ask text = kind_ask(Route::responses, R"({"input":"12345678","instructions":"1234",
    "max_output_tokens":7,"stream":true,"reasoning":{"effort":"high"}})");
  EXPECT_EQ(text.prompt_tokens, 3U);
  EXPECT_EQ(text.tokens_max, 7);
  EXPECT_TRUE(text.stream);
  EXPECT_EQ(text.reasoning, Wish::yes);
  const std::string tool =
      R"("tools":[{"type":"function","name":"f","parameters":{"type":"object"}}])";
  const Ask first =
      kind_ask(Route::responses, R"({"input":[{"role":"user","content":"1234"}],)" + tool + "}");
  EXPECT_TRUE(first.wants_tool);
  EXPECT_EQ(first.tool_name, "f");
  const Ask answered = kind_ask(
      Route::responses,
      R"({"input":[{"role":"user","content":"1234"},{"type":"function_call","call_id":"c",)"
      R"("name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"x"}],)" +
          tool + "}");
  EXPECT_FALSE(answered.wants_tool);
  EXPECT_THAT(kind_trouble(Route::responses, "{}"), HasSubstr("input: is required"));
  EXPECT_THAT(kind_trouble(Route::responses, R"({"input":[{"content":"x"}]})"),
              HasSubstr("must have a role"));
}

TEST(KindAsks, messages_need_a_limit_and_count_the_system_prompt) {
  const Ask ask = kind_ask(Route::messages, R"({"max_tokens":5,"system":"12345678",
    "messages":[{"role":"user","content":"1234"}],"thinking":{"type":"disabled"},
    "tools":[{"name":"f","input_schema":{"type":"object","properties":{"a":{"type":"boolean"}}}}],
    "tool_choice":{"type":"any"}})");
  EXPECT_EQ(ask.prompt_tokens, 1U + 4 + 3 + 2);
  EXPECT_EQ(ask.reasoning, Wish::no);
  EXPECT_TRUE(ask.wants_tool);
  EXPECT_EQ(ask.tool_arguments, R"({"a":true})");
  EXPECT_THAT(kind_trouble(Route::messages, R"({"messages":[{"role":"user","content":"x"}]})"),
              HasSubstr("max_tokens: is required"));
  const Ask answered = kind_ask(Route::messages, R"({"max_tokens":5,
    "messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}],
    "tools":[{"name":"f","input_schema":{}}]})");
  EXPECT_FALSE(answered.wants_tool);
}

TEST(KindAsks, ollama_streams_unless_asked_not_to) {
  const Ask ask = kind_ask(Route::ollama_chat, R"({"messages":[{"role":"user","content":"x"}],
    "options":{"num_predict":4,"seed":3},"think":"high"})");
  EXPECT_TRUE(ask.stream);
  EXPECT_EQ(ask.tokens_max, 4);
  EXPECT_TRUE(ask.has_seed);
  EXPECT_EQ(ask.reasoning, Wish::yes);
  const Ask whole =
      kind_ask(Route::ollama_generate, R"({"prompt":"x","stream":false,"think":false})");
  EXPECT_FALSE(whole.stream);
  EXPECT_EQ(whole.reasoning, Wish::no);
  EXPECT_THAT(kind_trouble(Route::ollama_generate, R"({"prompt":"x","n":2})"),
              HasSubstr("this API gives one choice"));
}

TEST(KindAsks, vectors_are_asked_by_texts_lists_and_token_ids) {
  EXPECT_EQ(kind_ask(Route::embeddings, R"({"input":"a"})").vectors.inputs.size(), 1U);
  EXPECT_EQ(kind_ask(Route::embeddings, R"({"input":[1,2,3]})").vectors.inputs.size(), 1U);
  const Ask two = kind_ask(Route::embeddings, R"({"input":["a","b"],"dimensions":3,)"
                                              R"("encoding_format":"base64"})");
  EXPECT_EQ(two.vectors.inputs.size(), 2U);
  EXPECT_NE(two.vectors.inputs[0], two.vectors.inputs[1]);
  EXPECT_EQ(two.vectors.dimensions, 3U);
  EXPECT_TRUE(two.vectors.base64);
  EXPECT_EQ(kind_ask(Route::classify, R"({"input":["b"]})").vectors.inputs[0],
            two.vectors.inputs[1]);
  EXPECT_THAT(kind_trouble(Route::embeddings, "{}"), HasSubstr("input"));
  EXPECT_THAT(kind_trouble(Route::embeddings, R"({"input":"a","dimensions":0})"),
              HasSubstr("dimensions"));
  EXPECT_THAT(kind_trouble(Route::embeddings, R"({"input":"a","encoding_format":"int8"})"),
              HasSubstr("float or base64"));
}

TEST(KindAsks, pairs_are_one_text_against_all_or_text_by_text) {
  const Ask ask =
      kind_ask(Route::rerank, R"({"query":"q","documents":["a",{"text":"b"}],"top_n":1})");
  EXPECT_EQ(ask.vectors.documents, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(ask.vectors.top_n, 1U);
  const Ask pairs = kind_ask(Route::score, R"({"text_1":["q","q"],"text_2":["a","b"]})");
  EXPECT_EQ(pairs.vectors.inputs, ask.vectors.inputs);
  EXPECT_THAT(kind_trouble(Route::score, R"({"text_1":["a","b"],"text_2":["c"]})"),
              HasSubstr("as many as the others"));
  EXPECT_THAT(kind_trouble(Route::rerank, R"({"query":"q"})"), HasSubstr("documents"));
}

TEST(KindAsks, a_refusal_has_the_form_of_its_api) {
  const ApiError error{.status = 429, .message = "wait"};
  const auto said = [&](Route route) { return Json::parse(error_body(route, error)); };
  EXPECT_EQ((*said(Route::messages))["error"]["type"].as_string(), "rate_limit_error");
  EXPECT_EQ((*said(Route::ollama_chat))["error"].as_string(), "wait");
  EXPECT_EQ((*said(Route::responses))["error"]["message"].as_string(), "wait");
}

}  // namespace
}  // namespace assay::endpoint
