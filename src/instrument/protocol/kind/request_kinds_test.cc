// The requests of the kinds beyond chat: what a chat's messages, tools and limits become in each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"
#include "protocol/codec.h"
#include "protocol/kind/kind.h"

namespace assay::protocol {
namespace {

using testing::HasSubstr;

Json kind_json(std::string_view text) {
  auto json = Json::parse(text);
  EXPECT_TRUE(json) << text;
  return json ? *json : Json();
}

Generation kind_settings() {
  Generation generation;
  generation.model = "m";
  generation.max_new_tokens = 9;
  generation.temperature = 0.5;
  return generation;
}

Generation whole_settings() {
  Generation generation = kind_settings();
  generation.stream = false;
  return generation;
}

std::string kind_body(Api api, const Generation& generation, const Sample& sample,
                      bool salted = false) {
  const auto body = make_body(api, generation, sample, salted);
  EXPECT_TRUE(body) << body.error().message;
  return body ? body->bytes : "";
}

std::string kind_refusal(Api api, const Sample& sample) {
  const auto body = make_body(api, kind_settings(), sample, false);
  EXPECT_FALSE(body);
  return body ? "" : body.error().message;
}

// An agent's second step: a call was made, and its result is in.
Sample agent_step() {
  Sample sample;
  sample.messages = Messages(kind_json(R"([
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Weather here?"},
      {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}}]},
    {"role": "assistant", "content": null, "tool_calls": [
      {"id": "c1", "type": "function",
       "function": {"name": "weather", "arguments": "{\"city\": \"Oslo\"}"}},
      {"id": "c2", "type": "function", "function": {"name": "weather", "arguments": "{"}}]},
    {"role": "tool", "tool_call_id": "c1", "name": "weather", "content": "rain"},
    {"role": "tool", "tool_call_id": "c2", "name": "weather", "content": "sun"}])"));
  sample.tools = kind_json(R"([{"type": "function", "function": {"name": "weather",
    "description": "today's", "parameters": {"type": "object"}}}])");
  sample.tool_choice = kind_json(R"({"type": "function", "function": {"name": "weather"}})");
  return sample;
}

Sample brief_question() {
  Sample sample;
  sample.prompt = "Hi";
  sample.system = "Be brief.";
  return sample;
}

TEST(KindRequests, responses_say_a_prompt_as_input_and_a_system_prompt_as_instructions) {
  EXPECT_EQ(kind_body(Api::openai_responses, kind_settings(), brief_question()),
            R"({"model":"m","instructions":"Be brief.","input":"Hi","max_output_tokens":9,)"
            R"("temperature":0.5,"stream":true,"store":false})");
}

TEST(KindRequests, responses_say_messages_as_items_and_tools_flat) {
  const Json body = kind_json(kind_body(Api::openai_responses, kind_settings(), agent_step()));
  EXPECT_EQ(
      body["input"].dump(),
      R"([{"role":"system","content":"Be brief."},)"
      R"({"role":"user","content":[{"type":"input_text","text":"Weather here?"},)"
      R"({"type":"input_image","image_url":"data:image/png;base64,AAAA","detail":"low"}]},)"
      R"({"type":"function_call","call_id":"c1","name":"weather","arguments":"{\"city\": \"Oslo\"}"},)"
      R"({"type":"function_call","call_id":"c2","name":"weather","arguments":"{"},)"
      R"({"type":"function_call_output","call_id":"c1","output":"rain"},)"
      R"({"type":"function_call_output","call_id":"c2","output":"sun"}])");
  EXPECT_EQ(
      body["tools"].dump(),
      R"([{"type":"function","name":"weather","description":"today's","parameters":{"type":"object"}}])");
  EXPECT_EQ(body["tool_choice"].dump(), R"({"type":"function","name":"weather"})");
}

TEST(KindRequests, an_assistants_text_parts_are_output_in_responses) {
  Sample sample;
  sample.messages = Messages(kind_json(
      R"([{"role":"assistant","content":[{"type":"text","text":"Hi"}]},{"role":"user","content":"Go"}])"));
  const Json body = kind_json(kind_body(Api::openai_responses, kind_settings(), sample));
  EXPECT_EQ(body["input"][0].dump(),
            R"({"role":"assistant","content":[{"type":"output_text","text":"Hi"}]})");
}

TEST(KindRequests, messages_keep_the_system_prompt_apart_and_always_have_a_limit) {
  EXPECT_EQ(kind_body(Api::anthropic_messages, kind_settings(), brief_question()),
            R"({"model":"m","max_tokens":9,"system":"Be brief.","messages":[{"role":"user",)"
            R"("content":"Hi"}],"temperature":0.5,"stream":true})");
  Generation unlimited = kind_settings();
  unlimited.max_new_tokens = 0;
  EXPECT_THAT(kind_body(Api::anthropic_messages, unlimited, brief_question()),
              HasSubstr(R"("max_tokens":16384)"));
}

TEST(KindRequests, a_limit_of_one_token_is_a_limit) {
  Generation one = kind_settings();
  one.max_new_tokens = 1;
  for (const auto& [api, said] : {std::pair{Api::openai, R"("max_completion_tokens":1,)"},
                                  {Api::openai_responses, R"("max_output_tokens":1,)"},
                                  {Api::anthropic_messages, R"("max_tokens":1,)"},
                                  {Api::ollama_chat, R"("num_predict":1,)"}}) {
    EXPECT_THAT(kind_body(api, one, brief_question()), HasSubstr(said));
  }
}

TEST(KindRequests, messages_have_blocks_for_calls_and_one_message_for_their_results) {
  const Json body = kind_json(kind_body(Api::anthropic_messages, kind_settings(), agent_step()));
  EXPECT_EQ(body["system"].as_string(), "Be brief.");
  EXPECT_EQ(
      body["messages"].dump(),
      R"([{"role":"user","content":[{"type":"text","text":"Weather here?"},)"
      R"({"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]},)"
      R"({"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"weather","input":{"city":"Oslo"}},)"
      R"({"type":"tool_use","id":"c2","name":"weather","input":{}}]},)"
      R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"rain"},)"
      R"({"type":"tool_result","tool_use_id":"c2","content":"sun"}]}])");
  EXPECT_EQ(body["tools"].dump(),
            R"([{"name":"weather","description":"today's","input_schema":{"type":"object"}}])");
  EXPECT_EQ(body["tool_choice"].dump(), R"({"type":"tool","name":"weather"})");
}

TEST(KindRequests, messages_name_a_pictures_address_and_stops_as_their_api_does) {
  Sample sample;
  sample.content_parts = kind_json(R"([{"type":"image_url","image_url":"https://x/y.png"}])");
  sample.body = kind_json(R"({"stop": "END", "metadata": {"user_id": "u"}})");
  sample.tool_choice = Json("required");
  const Json body = kind_json(kind_body(Api::anthropic_messages, kind_settings(), sample));
  EXPECT_EQ(body["messages"][0]["content"][0].dump(),
            R"({"type":"image","source":{"type":"url","url":"https://x/y.png"}})");
  EXPECT_EQ(body["stop_sequences"].dump(), R"(["END"])");
  EXPECT_EQ(body.find("stop"), nullptr);
  EXPECT_EQ(body["metadata"]["user_id"].as_string(), "u");
  EXPECT_EQ(body["tool_choice"].dump(), R"({"type":"any"})");
}

TEST(KindRequests, ollama_has_options_and_says_whether_to_stream) {
  Generation generation = kind_settings();
  generation.stream = false;
  generation.seed = 3;
  EXPECT_EQ(kind_body(Api::ollama_chat, generation, brief_question()),
            R"({"model":"m","messages":[{"role":"system","content":"Be brief."},)"
            R"({"role":"user","content":"Hi"}],"stream":false,)"
            R"("options":{"num_predict":9,"temperature":0.5,"seed":3}})");
  EXPECT_EQ(kind_body(Api::ollama_generate, kind_settings(), brief_question()),
            R"({"model":"m","system":"Be brief.","prompt":"Hi","stream":true,)"
            R"("options":{"num_predict":9,"temperature":0.5}})");
}

TEST(KindRequests, ollama_takes_pictures_and_arguments_in_its_own_form) {
  const Json body = kind_json(kind_body(Api::ollama_chat, kind_settings(), agent_step()));
  EXPECT_EQ(body["messages"][1].dump(),
            R"({"role":"user","content":"Weather here?","images":["AAAA"]})");
  EXPECT_EQ(body["messages"][2]["tool_calls"][0].dump(),
            R"({"function":{"name":"weather","arguments":{"city":"Oslo"}}})");
  EXPECT_EQ(body["messages"][3].dump(),
            R"({"role":"tool","content":"rain","tool_name":"weather"})");
}

TEST(KindRequests, what_a_kind_cannot_say_is_refused_with_the_remedy) {
  Sample picture;
  picture.content_parts =
      kind_json(R"([{"type":"image_url","image_url":{"url":"https://x/y.png"}}])");
  EXPECT_THAT(kind_refusal(Api::ollama_chat, picture), HasSubstr("data: URL"));
  Sample ids;
  ids.input_tokens = {1, 2};
  for (const Api api :
       {Api::openai_responses, Api::anthropic_messages, Api::ollama_chat, Api::ollama_generate}) {
    EXPECT_THAT(kind_refusal(api, ids), HasSubstr("map a column to 'prompt'"));
  }
  Sample tools = brief_question();
  tools.tools = Json::array();
  EXPECT_THAT(kind_refusal(Api::ollama_generate, tools), HasSubstr("ollama_chat"));
}

TEST(KindRequests, each_kind_reports_the_limit_it_asks_for_and_takes_a_salt) {
  for (const ApiRow& row : kApis) {
    if (row.api == Api::described) continue;  // described_test.cc
    // Kinds without tokens have no limit, nor has a transcript, asked with a sound: sounds_test.cc.
    if (!row.unit.empty() || row.columns.data() == kSoundColumns.data()) continue;
    Sample sample;
    sample.prompt = "Hi";
    const auto body = make_body(row.api, kind_settings(), sample, true);
    ASSERT_TRUE(body) << row.name << ": " << body.error().message;
    EXPECT_EQ(body->asked.api, row.api);
    EXPECT_EQ(body->asked.tokens_max, 9) << row.name;
    EXPECT_TRUE(body->asked.stream) << row.name;
    const std::string_view salt(body->bytes.data() + body->salt_offset, kSaltDigits);
    EXPECT_EQ(salt, std::string(kSaltDigits, '0')) << row.name;
    EXPECT_THAT(body->bytes, HasSubstr(format("[{}] Hi", salt))) << row.name;
  }
}

TEST(KindRequests, inputs_and_documents_are_counted_as_they_are_asked) {
  const auto asked = [](Api api, std::string_view row) {
    Sample sample;
    sample.prompt = "Hi";
    sample.body = kind_json(row);
    const auto body = make_body(api, whole_settings(), sample, false);
    EXPECT_TRUE(body);
    return body ? format("{} {}", body->asked.choices, body->bytes) : "";
  };
  EXPECT_EQ(asked(Api::openai_embeddings, R"({"dimensions": 4})"),
            R"(1 {"model":"m","input":"Hi","dimensions":4})");
  EXPECT_EQ(asked(Api::openai_embeddings, R"({"input": ["a", "b"]})"),
            R"(2 {"model":"m","input":["a","b"]})");
  EXPECT_EQ(asked(Api::openai_embeddings, R"({"input": [7, 8, 9]})"),
            R"(1 {"model":"m","input":[7,8,9]})");
  EXPECT_EQ(asked(Api::rerank, R"({"documents": ["a", "b", "c"], "top_n": 1})"),
            R"(3 {"model":"m","query":"Hi","documents":["a","b","c"],"top_n":1})");
  EXPECT_EQ(asked(Api::score, R"({"documents": ["a", "b"]})"),
            R"(2 {"model":"m","text_1":"Hi","text_2":["a","b"]})");
  EXPECT_EQ(asked(Api::openai_images, R"({"n": 2, "size": "64x64", "quality": "low"})"),
            R"(2 {"model":"m","prompt":"Hi","n":2,"size":"64x64","response_format":"b64_json",)"
            R"("quality":"low"})");
  EXPECT_EQ(asked(Api::openai_images, R"({"response_format": "url"})"),
            R"(1 {"model":"m","prompt":"Hi","response_format":"url"})");
  EXPECT_EQ(asked(Api::classify, "{}"), R"(1 {"model":"m","input":"Hi"})");
}

TEST(KindRequests, a_list_of_inputs_is_salted_in_its_first_text) {
  Sample sample;
  sample.body = kind_json(R"({"input": ["a", "b"]})");
  const auto body = make_body(Api::openai_embeddings, whole_settings(), sample, true);
  ASSERT_TRUE(body);
  EXPECT_EQ(body->bytes, R"({"model":"m","input":["[0000000000000000] a","b"]})");
  sample.body = kind_json(R"({"input": ["a"]})");
  EXPECT_EQ(kind_body(Api::openai_embeddings, whole_settings(), sample),
            R"({"model":"m","input":["a"]})");
  sample.body = kind_json(R"({"input": []})");
  EXPECT_THAT(kind_refusal(Api::openai_embeddings, sample), HasSubstr("no prompt"));
}

TEST(KindRequests, a_ranking_without_documents_is_refused) {
  EXPECT_THAT(kind_refusal(Api::rerank, brief_question()), HasSubstr("a column 'documents'"));
  EXPECT_THAT(kind_refusal(Api::score, brief_question()), HasSubstr("a column 'documents'"));
  EXPECT_THAT(kind_refusal(Api::openai_embeddings, Sample{}), HasSubstr("no prompt"));
}

TEST(KindRequests, a_key_and_a_version_go_where_the_kind_wants_them) {
  Endpoints endpoints{.urls = {"http://h"}, .api = Api::anthropic_messages, .api_key = "k"};
  auto headers = request_headers(endpoints, true, "");
  ASSERT_TRUE(headers);
  EXPECT_THAT(*headers, testing::IsSupersetOf({Header{"x-api-key", "k"},
                                               Header{"anthropic-version", "2023-06-01"},
                                               Header{"Accept", "text/event-stream"}}));
  for (const Header& header : *headers) EXPECT_NE(header.first, "Authorization");
  endpoints.headers = {{"Anthropic-Version", "2026-10-21"}};
  headers = request_headers(endpoints, true, "");
  ASSERT_TRUE(headers);
  EXPECT_THAT(*headers, testing::Contains(Header{"Anthropic-Version", "2026-10-21"}));
  EXPECT_THAT(*headers, testing::Not(testing::Contains(Header{"anthropic-version", "2023-06-01"})));
  endpoints.api = Api::ollama_chat;
  headers = request_headers(endpoints, true, "");
  ASSERT_TRUE(headers);
  EXPECT_THAT(*headers, testing::Contains(Header{"Accept", "application/x-ndjson"}));
}

TEST(KindRequests, each_kind_has_its_route_below_the_endpoints_address) {
  const auto target = [](std::string_view url, Api api) {
    return request_target(*net::parse_url(url), api);
  };
  EXPECT_EQ(target("http://h", Api::openai_responses), "/v1/responses");
  EXPECT_EQ(target("http://h/openai/v1", Api::openai_responses), "/openai/v1/responses");
  EXPECT_EQ(target("http://h/openai/responses?api-version=1", Api::openai_responses),
            "/openai/responses?api-version=1");
  EXPECT_EQ(target("http://h/v1/", Api::anthropic_messages), "/v1/messages");
  EXPECT_EQ(target("http://h", Api::ollama_chat), "/api/chat");
  EXPECT_EQ(target("http://h/api/generate", Api::ollama_generate), "/api/generate");
}

Json message_of(Api api, std::string_view message) {
  Sample sample;
  sample.messages = Messages(kind_json(format("[{}]", message)));
  const Json body = kind_json(kind_body(api, kind_settings(), sample));
  return api == Api::openai_responses ? body["input"] : body["messages"];
}

TEST(KindRequests, messages_have_blocks_only_where_a_text_is_not_all) {
  const auto said = [](std::string_view message) {
    return message_of(Api::anthropic_messages, message)[0]["content"].dump();
  };
  EXPECT_EQ(said(R"({"role":"assistant","content":"a","tool_calls":[]})"), R"("a")");
  EXPECT_EQ(
      said(R"({"role":"assistant","content":"a","tool_calls":[{"id":"c",)"
           R"("function":{"name":"f","arguments":{"x":1}}}]})"),
      R"([{"type":"text","text":"a"},{"type":"tool_use","id":"c","name":"f","input":{"x":1}}])");
  EXPECT_EQ(said(R"({"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f",)"
                 R"("arguments":5}},{"id":"d","name":"g","arguments":"[1]"}]})"),
            R"([{"type":"tool_use","id":"c","name":"f","input":{}},)"
            R"({"type":"tool_use","id":"d","name":"g","input":{}}])")
      << "arguments that are not an object";
  EXPECT_EQ(said(R"({"role":"user","content":[{"type":"image_url","image_url":"data:text,x"}]})"),
            R"([{"type":"image","source":{"type":"url","url":"data:text,x"}}])")
      << "no base64";
  EXPECT_EQ(said(R"({"role":"user","content":[{"type":"text","text":"a"},{"type":"odd"}]})"),
            R"([{"type":"text","text":"a"},{"type":"odd"}])");
}

TEST(KindRequests, tensors_have_no_text_to_salt_though_the_row_has_a_prompt) {
  Sample sample = brief_question();
  sample.prompt = "Hi";
  sample.attachments.push_back(
      {.name = "x", .type = "FP32", .shape = {1}, .bytes = std::string(4, '\0')});
  Generation generation = kind_settings();
  generation.stream = false;
  const auto body = make_body(Api::kserve, generation, sample, true);
  ASSERT_FALSE(body);
  EXPECT_EQ(body.error().message, "sample: kserve has no text to salt; turn salting off");
}

TEST(KindRequests, ollama_gets_a_developers_words_as_a_system_message) {
  Sample sample;
  sample.messages =
      Messages(kind_json(R"([{"role":"developer","content":"a"},{"role":"user","content":"u"}])"));
  EXPECT_EQ(kind_json(kind_body(Api::ollama_chat, kind_settings(), sample))["messages"].dump(),
            R"([{"role":"system","content":"a"},{"role":"user","content":"u"}])");
}

TEST(KindRequests, messages_join_the_texts_of_the_system_and_results_that_follow_each_other) {
  Sample sample;
  sample.messages = Messages(kind_json(R"([{"role":"system","content":"a"},
      {"role":"developer","content":[{"type":"text","text":"b"},{"type":"text","text":"c"}]},
      {"role":"tool","tool_call_id":"1","content":"x"},{"role":"user","content":"u"},
      {"role":"tool","tool_call_id":"2","content":[{"type":"text","text":"y"}]}])"));
  const Json body = kind_json(kind_body(Api::anthropic_messages, kind_settings(), sample));
  EXPECT_EQ(body["system"].as_string(), "a\n\nbc");
  EXPECT_EQ(
      body["messages"].dump(),
      R"([{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"x"}]},)"
      R"({"role":"user","content":"u"},)"
      R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"2","content":"y"}]}])");
}

TEST(KindRequests, messages_leave_tools_and_choices_of_their_own_form_as_they_are) {
  const auto body = [](std::string_view tools, std::string_view choice) {
    Sample sample = brief_question();
    sample.tools = kind_json(tools);
    sample.tool_choice = kind_json(choice);
    sample.body = kind_json(R"({"stop":["A","B"]})");
    return kind_json(kind_body(Api::anthropic_messages, kind_settings(), sample));
  };
  const char* const own = R"([{"name":"f","input_schema":{}}])";
  EXPECT_EQ(body(own, R"("auto")")["tools"].dump(), own);
  EXPECT_EQ(body(own, R"("auto")")["tool_choice"].dump(), R"({"type":"auto"})");
  EXPECT_EQ(body(own, R"("auto")")["stop_sequences"].dump(), R"(["A","B"])");
  for (const char* const choice :
       {R"({"type":"function"})", R"({"type":"any","name":"f"})", R"({"type":"any"})",
        R"({"type":"function","function":{"name":5}})"}) {
    EXPECT_EQ(body(own, choice)["tool_choice"].dump(), choice);
  }
  EXPECT_EQ(body(R"([{"type":"function","function":{"name":"f","parameters":{}}}])",
                 R"({"type":"function","name":"f"})")
                .dump(),
            R"({"model":"m","max_tokens":9,"system":"Be brief.","messages":[{"role":"user",)"
            R"("content":"Hi"}],"temperature":0.5,"stream":true,)"
            R"("tools":[{"name":"f","input_schema":{}}],)"
            R"("tool_choice":{"type":"tool","name":"f"},"stop_sequences":["A","B"]})");
}

TEST(KindRequests, responses_have_an_item_for_each_part_that_there_is) {
  EXPECT_EQ(message_of(Api::openai_responses,
                       R"({"role":"user","content":[{"type":"image_url","image_url":"u"},)"
                       R"({"type":"input_file","file_id":"i"},)"
                       R"({"type":"image_url","image_url":{"url":"v","detail":5}}]})")
                .dump(),
            R"([{"role":"user","content":[{"type":"input_image","image_url":"u"},)"
            R"({"type":"input_file","file_id":"i"},{"type":"input_image","image_url":"v"}]}])");
  EXPECT_EQ(message_of(Api::openai_responses,
                       R"({"role":"assistant","content":"a","tool_calls":[{"id":"c",)"
                       R"("function":{"name":"f","arguments":"{}"}}]})")
                .dump(),
            R"([{"role":"assistant","content":"a"},{"type":"function_call","call_id":"c",)"
            R"("name":"f","arguments":"{}"}])");
  Sample sample = brief_question();
  sample.tools = kind_json(R"([{"type":"web_search"}])");
  sample.tool_choice = Json("auto");
  Generation generation = kind_settings();
  generation.chat_template_kwargs = Json::object();
  const Json body = kind_json(kind_body(Api::openai_responses, generation, sample));
  EXPECT_EQ(body["tools"].dump(), R"([{"type":"web_search"}])");
  EXPECT_EQ(body["tool_choice"].dump(), R"("auto")");
  EXPECT_EQ(body.find("chat_template_kwargs"), nullptr) << "none is set";
}

TEST(KindRequests, ollama_says_of_a_message_what_it_holds) {
  EXPECT_EQ(message_of(Api::ollama_chat,
                       R"({"role":"user","name":"N","content":[{"type":"text","text":"a"},)"
                       R"({"type":"image_url","image_url":"data:image/png;base64,QQ=="},)"
                       R"({"type":"image_url","image_url":{"url":"data:;base64,QUI="}},)"
                       R"({"type":"text","text":"b"}]})")
                .dump(),
            R"([{"role":"user","content":"ab","images":["QQ==","QUI="]}])");
  EXPECT_EQ(message_of(Api::ollama_chat, R"({"role":"tool","content":"r"})").dump(),
            R"([{"role":"tool","content":"r"}])");
  Sample sample = brief_question();
  sample.tools = kind_json(R"([{"type":"function"}])");
  sample.body = kind_json(R"({"stop":"E"})");
  const Json body = kind_json(kind_body(Api::ollama_chat, kind_settings(), sample));
  EXPECT_EQ(body["tools"].dump(), R"([{"type":"function"}])");
  EXPECT_EQ(body["options"]["stop"].dump(), R"(["E"])");
  EXPECT_EQ(body.find("stop"), nullptr);
}

}  // namespace
}  // namespace assay::protocol
