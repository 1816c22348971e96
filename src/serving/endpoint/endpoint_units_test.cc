// The endpoint's pure parts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/format.h"
#include "base/json.h"
#include "base/text.h"
#include "endpoint/ask.h"
#include "endpoint/byte_buffer.h"
#include "endpoint/fault.h"
#include "endpoint/options.h"
#include "endpoint/quirk.h"
#include "endpoint/script.h"
#include "endpoint/sse_frame.h"
#include "endpoint/stats.h"
#include "endpoint/tool_call.h"
#include "endpoint/words.h"

namespace assay::endpoint {
namespace {

using testing::HasSubstr;

TEST(Quirk, every_one_has_a_row_and_is_found_by_its_name) {
  std::set<std::string_view> names;
  for (const QuirkRow& row : quirk_table()) {
    EXPECT_EQ(to_string(row.quirk), row.name);
    EXPECT_EQ(*parse_quirk(row.name), row.quirk);
    EXPECT_TRUE(names.insert(row.name).second);
    EXPECT_FALSE(row.what.empty() || row.who.empty());
    EXPECT_THAT(quirk_help(), HasSubstr(std::string(row.what)));
  }
  EXPECT_EQ(*parse_quirk("role_first"), Quirk::role_first);
  EXPECT_THAT(parse_quirk("role-frist").error().message, HasSubstr("did you mean 'role-first'"));
}

TEST(Fault, plans_are_read_and_bounded) {
  FaultPlan plan;
  ASSERT_TRUE(plan.add("reset=0.05,http429=0.5"));
  ASSERT_TRUE(plan.add("stall=0.25"));
  ASSERT_EQ(plan.rates().size(), 3u);
  EXPECT_EQ(to_string(plan.rates()[1].fault), "http429");
  EXPECT_FALSE(FaultPlan(plan).add("garbage=0.3"));  // together above 1
  for (const std::string_view text : {"", "reset", "reset=", "reset=2", "reset=-1", "resett=0.1",
                                      "http200=0.1", "http=0.1", "none=0.1", "reset=nan"}) {
    EXPECT_FALSE(FaultPlan().add(text)) << text;
  }
}

TEST(Fault, draws_come_as_often_as_was_asked) {
  FaultPlan plan;
  ASSERT_TRUE(plan.add("reset=0.05,http500=0.1"));
  int resets = 0;
  int errors = 0;
  constexpr int kDraws = 100'000;
  Rng rng(5);
  for (int i = 0; i < kDraws; ++i) {
    const Fault fault = plan.draw(rng);
    resets += fault.kind == FaultKind::reset ? 1 : 0;
    errors += fault == Fault{FaultKind::http, 500} ? 1 : 0;
  }
  EXPECT_NEAR(resets, kDraws * 0.05, 300);
  EXPECT_NEAR(errors, kDraws * 0.1, 400);
}

TEST(ByteBuffer, puts_numbers_and_chunks) {
  ByteBuffer buffer(4);
  buffer.put("ab");
  buffer.put_hex16(0x123456789abcdef0);
  buffer.put(',');
  buffer.put_decimal(0);
  buffer.put(',');
  buffer.put_decimal(18'446'744'073'709'551'615u);
  EXPECT_EQ(buffer.view(), "ab123456789abcdef0,0,18446744073709551615");
  for (const std::size_t size : {1u, 15u, 16u, 255u, 256u, 70'000u}) {
    buffer.clear();
    buffer.put_chunk(std::string(size, 'x'));
    EXPECT_EQ(buffer.view(), format("{:x}\r\n{}\r\n", size, std::string(size, 'x')));
  }
}

TEST(Words, say_the_same_as_json_and_as_text) {
  for (const Vocabulary vocabulary : {Vocabulary::common, Vocabulary::wide}) {
    std::set<std::string_view> seen;
    for (std::uint32_t i = 0; i < kWords; ++i) {
      const Word& entry = word(vocabulary, i);
      EXPECT_EQ(json_quote(entry.text), format("\"{}\"", entry.json));
      EXPECT_TRUE(valid_utf8(entry.text));
      seen.insert(entry.text);
    }
    EXPECT_EQ(seen.size(), vocabulary == Vocabulary::common ? kWords : 8u);
  }
}

Ask read_ask(Route route, std::string body) {
  AskReader reader;
  Ask ask;
  body.reserve(body.size() + kAskPadding);
  const auto result = reader.read(route, body, ask);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(result))
      << body << ": " << std::get<ApiError>(result).message;
  return ask;
}

ApiError read_error(Route route, std::string body) {
  AskReader reader;
  Ask ask;
  body.reserve(body.size() + kAskPadding);
  auto result = reader.read(route, body, ask);
  EXPECT_TRUE(std::holds_alternative<ApiError>(result)) << body;
  return std::holds_alternative<ApiError>(result) ? std::get<ApiError>(result) : ApiError{};
}

TEST(Ask, a_chat_is_understood) {
  const Ask ask = read_ask(Route::chat, R"({
    "model": "m\u0031", "stream": true, "stream_options": {"include_usage": true},
    "messages": [{"role": "system", "content": "12345678"},
                 {"role": "user", "content": [{"type": "text", "text": "1234"},
                                              {"type": "image_url", "image_url": {"url": "x"}}]}],
    "max_completion_tokens": 7, "seed": 5, "temperature": 0.5, "unknown": [1, {"a": null}],
    "chat_template_kwargs": {"enable_thinking": true}, "stop": null})");
  EXPECT_EQ(ask.model, "m1");
  EXPECT_TRUE(ask.stream && ask.include_usage && ask.has_seed);
  EXPECT_EQ(ask.tokens_max, 7);
  EXPECT_EQ(ask.seed, 5u);
  EXPECT_EQ(ask.prompt_tokens, 12 / 4 + 2 * 4 + 3u);
  EXPECT_EQ(ask.reasoning, Wish::yes);
  EXPECT_FALSE(ask.wants_tool);
}

TEST(Ask, prompts_come_in_all_their_forms) {
  EXPECT_EQ(read_ask(Route::completions, R"({"prompt":"12345"})").prompt_tokens, 2u);
  EXPECT_EQ(read_ask(Route::completions, R"({"prompt":["12345"]})").prompt_tokens, 2u);
  EXPECT_EQ(read_ask(Route::completions, R"({"prompt":[1,2,3]})").prompt_tokens, 3u);
  EXPECT_EQ(read_ask(Route::completions, R"({"prompt":[[1,2,3,4]]})").prompt_tokens, 4u);
  const Ask ask = read_ask(
      Route::generate, R"({"input_ids":[9,8],"sampling_params":{"max_new_tokens":3,"top_k":-1}})");
  EXPECT_EQ(ask.prompt_tokens, 2u);
  EXPECT_EQ(ask.tokens_max, 3);
  EXPECT_EQ(read_ask(Route::generate, R"({"text":"12345678"})").prompt_tokens, 2u);
}

TEST(Ask, what_is_wrong_is_named) {
  const std::vector<std::tuple<Route, std::string, std::string>> cases = {
      {Route::chat, R"({})", "messages"},
      {Route::chat, R"({"messages":[]})", "messages"},
      {Route::chat, R"({"messages":"hi"})", "messages"},
      {Route::chat, R"({"messages":[{"content":"x"}]})", "messages"},
      {Route::chat, R"({"messages":[{"role":"user","content":"x"}],"stream":"yes"})", "stream"},
      {Route::chat, R"({"messages":[{"role":"user","content":"x"}],"max_tokens":0})", "max_tokens"},
      {Route::chat, R"({"messages":[{"role":"user","content":"x"}],"max_tokens":1.5})",
       "max_tokens"},
      {Route::chat, R"({"messages":[{"role":"user","content":"x"}],"temperature":3})",
       "temperature"},
      {Route::chat, R"({"messages":[{"role":"user","content":"x"}],"n":17})", "n"},
      {Route::chat, R"({"messages":[{"role":"user","content":"x"}],"tools":[{}]})", "tools"},
      {Route::chat, R"({"messages":[{"role":"user","content":"x"}],"model":7})", "model"},
      {Route::completions, R"({"prompt":[]})", "prompt"},
      {Route::completions, R"({"prompt":["a","b"]})", "prompt"},
      {Route::completions, R"({"prompt":[1,"b"]})", "prompt"},
      {Route::completions, R"({"messages":[]})", "prompt"},
      {Route::generate, R"({"prompt":"x"})", "text"},
      {Route::chat, R"([1])", ""},
      {Route::chat, R"()", ""},
      {Route::chat, R"({"messages":[{"role":"user","content":"x"}])", ""},
      {Route::chat, R"({"messages":[{"role":"user","content":"x"}]} x)", ""},
      {Route::chat, R"({"messages":[{"role":"user","content":x}]})", "content"},
  };
  for (const auto& [route, body, param] : cases) {
    const ApiError error = read_error(route, body);
    EXPECT_EQ(error.status, 400) << body;
    EXPECT_EQ(error.param, param) << body << ": " << error.message;
    EXPECT_TRUE(Json::parse(error_body(error))) << error_body(error);
  }
}

constexpr std::string_view kTools = R"([
  {"type":"function","function":{"name":"first","parameters":{"type":"object","properties":
    {"city":{"type":"string"},"days":{"type":"integer","minimum":2},
     "unit":{"enum":["C","F"]},"tags":{"type":"array","items":{"type":"boolean"}}},
    "required":["city","days","unit","tags"]}}},
  {"type":"function","function":{"name":"second"}}])";

TEST(ToolCall, arguments_fit_the_schema) {
  const ToolWish wish = choose_tool(kTools, "", false);
  ASSERT_TRUE(wish.wanted) << wish.error;
  EXPECT_EQ(wish.name, "first");
  EXPECT_EQ(wish.arguments, R"({"city":"lorem ipsum","days":2,"unit":"C","tags":[true]})");
}

TEST(ToolCall, is_made_when_asked_and_not_otherwise) {
  EXPECT_FALSE(choose_tool(kTools, R"("none")", false).wanted);
  EXPECT_FALSE(choose_tool(kTools, R"("auto")", true).wanted);
  EXPECT_TRUE(choose_tool(kTools, R"("required")", true).wanted);
  EXPECT_FALSE(choose_tool("[]", R"("required")", false).wanted);
  const std::string named = R"({"type":"function","function":{"name":"second"}})";
  EXPECT_EQ(choose_tool(kTools, named, true).name, "second");
  EXPECT_THAT(choose_tool(kTools, R"({"function":{"name":"third"}})", false).error,
              HasSubstr("third"));
  EXPECT_FALSE(choose_tool(kTools, R"("sometimes")", false).error.empty());
  EXPECT_FALSE(choose_tool("{", "", false).error.empty());
}

TEST(ToolCall, pieces_are_the_whole_and_cut_no_character) {
  const ToolScript script = cut_tool_call("f", R"({"city":"東京都千代田区","x":"é"})");
  std::string all;
  for (std::uint32_t i = 0; i + 1 < script.tokens(); ++i) {
    EXPECT_TRUE(valid_utf8(script.piece(i)));
    all += script.piece(i);
    EXPECT_EQ(script.first_pieces(i + 1), all);
  }
  EXPECT_EQ(all, script.arguments);
}

TEST(Script, length_and_finish_follow_the_limits) {
  EndpointOptions options;
  options.osl = dataset::LengthSpec::fixed(20);
  const auto script = [&options](auto&& change) {
    Ask ask;
    change(ask);
    return make_script(ask, options, 1);
  };
  EXPECT_EQ(script([](Ask&) {}).tokens, 20u);
  EXPECT_EQ(script([](Ask&) {}).finish, FinishReason::stop);
  EXPECT_EQ(script([](Ask& ask) { ask.tokens_max = 20; }).finish, FinishReason::stop);
  EXPECT_EQ(script([](Ask& ask) { ask.tokens_max = 5; }).tokens, 5u);
  EXPECT_EQ(script([](Ask& ask) { ask.tokens_max = 5; }).finish, FinishReason::length);
  EXPECT_EQ(script([](Ask& ask) { ask.tokens_min = 50; }).tokens, 50u);
  const auto ignore = [](Ask& ask) {
    ask.tokens_max = 100;
    ask.ignore_eos = true;
  };
  EXPECT_EQ(script(ignore).tokens, 100u);
  EXPECT_EQ(script(ignore).finish, FinishReason::length);
  EXPECT_EQ(script([](Ask& ask) { ask.reasoning = Wish::yes; }).reasoning_tokens, 10u);
  options.reasoning = 0.25;
  EXPECT_EQ(script([](Ask&) {}).reasoning_tokens, 5u);
  EXPECT_EQ(script([](Ask& ask) { ask.reasoning = Wish::no; }).reasoning_tokens, 0u);
  const auto tool = [](Ask& ask) {
    ask.wants_tool = true;
    ask.tool_name = "f";
    ask.tool_arguments = R"({"a":1234})";
  };
  EXPECT_EQ(script(tool).finish, FinishReason::tool_calls);
  EXPECT_EQ(script(tool).tokens, 5u + 3u);
  EXPECT_EQ(script(tool).category(4), Category::reasoning);
  EXPECT_EQ(script(tool).category(5), Category::tool_call);
}

TEST(Options, osl_may_be_the_requests_limit) {
  EndpointOptions options;
  ASSERT_TRUE(set_osl(options, "max"));
  EXPECT_TRUE(options.osl_is_limit);
  ASSERT_TRUE(set_osl(options, "uniform:10-20"));
  EXPECT_FALSE(options.osl_is_limit);
  EXPECT_FALSE(set_osl(options, "many"));
  EXPECT_TRUE(check(options));
  options.threads = 4;
  options.concurrency = 3;
  EXPECT_THAT(check(options).error().message, HasSubstr("--concurrency 3"));
}

std::string framed(std::string_view json, std::initializer_list<Quirk> list) {
  Quirks quirks;
  for (const Quirk quirk : list) quirks.add(quirk);
  ByteBuffer out;
  put_event(out, json, 3, quirks);
  return std::string(out.view());
}

TEST(SseFrame, quirks_of_framing) {
  const std::string_view json = R"({"a":"b,c:\"{","d":[1,2]})";
  EXPECT_EQ(framed(json, {}), format("data: {}\n\n", json));
  EXPECT_EQ(framed(json, {Quirk::crlf}), format("data: {}\r\n\r\n", json));
  EXPECT_EQ(framed(json, {Quirk::no_space}), format("data:{}\n\n", json));
  EXPECT_EQ(framed(json, {Quirk::spaced_json}), "data: {\"a\": \"b,c:\\\"{\", \"d\": [1, 2]}\n\n");
  EXPECT_EQ(framed(json, {Quirk::multi_data}),
            "data: {\ndata: \"a\":\"b,c:\\\"{\",\ndata: \"d\":[1,\ndata: 2]}\n\n");
  EXPECT_EQ(framed("[DONE]", {Quirk::spaced_json, Quirk::multi_data, Quirk::sse_fields}),
            "id: 3\nevent: message\nretry: 3000\ndata: [DONE]\n\n");
}

TEST(SseFrame, bodies_are_carried_as_asked) {
  const auto carried = [](BodyCoder::Framing framing) {
    BodyCoder coder(framing, false);
    ByteBuffer out;
    coder.put(out, "hello, world");
    coder.end(out);
    return std::string(out.view());
  };
  EXPECT_EQ(carried(BodyCoder::Framing::none), "hello, world");
  EXPECT_EQ(carried(BodyCoder::Framing::chunks), "c\r\nhello, world\r\n0\r\n\r\n");
  EXPECT_EQ(carried(BodyCoder::Framing::ragged),
            "7;name=\"va;lue\"\r\nhello, \r\n5\r\nworld\r\n0;last\r\nX-Trailer: yes\r\n\r\n");
}

TEST(Stats, the_page_sums_over_workers_in_vllms_words) {
  WorkerStats one(0);
  WorkerStats two(0);
  one.set_engine({.running = 3, .waiting = 1, .kv_usage = 0.5});
  two.set_engine({.running = 4, .kv_usage = 0.1});
  one.ttft.observe(15_ms);
  two.ttft.observe(2_s);
  one.output_tokens.add(10);
  const std::vector<const WorkerStats*> all = {&one, &two};
  const std::string page = metrics_page(all, "m\"x");
  const std::string labels = R"({engine="0",model_name="m\"x"})";
  EXPECT_THAT(page, HasSubstr("vllm:num_requests_running" + labels + " 7.0\n"));
  EXPECT_THAT(page, HasSubstr("vllm:kv_cache_usage_perc" + labels + " 0.3\n"));
  EXPECT_THAT(page, HasSubstr("vllm:generation_tokens_total" + labels + " 10\n"));
  EXPECT_THAT(page, HasSubstr(R"(vllm:time_to_first_token_seconds_bucket{engine="0",)"
                              R"(model_name="m\"x",le="0.02"} 1)"));
  EXPECT_THAT(page, HasSubstr(R"(le="2.5"} 2)"));
  EXPECT_THAT(page, HasSubstr("vllm:time_to_first_token_seconds_count" + labels + " 2\n"));
}

}  // namespace
}  // namespace assay::endpoint
