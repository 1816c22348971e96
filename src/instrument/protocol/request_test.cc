#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"
#include "protocol/codec.h"

namespace assay::protocol {
namespace {

using testing::HasSubstr;
using testing::Not;

Endpoints endpoint(const char* url, Api api = Api::openai) {
  Endpoints out;
  out.urls = {url};
  out.api = api;
  return out;
}

Sample prompt(const char* text) {
  Sample out;
  out.prompt = text;
  return out;
}

Generation plain() {
  Generation out;
  out.model = "m";
  out.stream = false;
  out.max_new_tokens = 8;
  return out;
}

Json parse(std::string_view text) {
  auto json = Json::parse(text);
  EXPECT_TRUE(json) << text;
  return json ? *json : Json{};
}

std::string body_of(Api api, const Generation& generation, const Sample& sample) {
  const auto body = make_body(api, generation, sample, false);
  EXPECT_TRUE(body) << (body ? "" : body.error().message);
  return body ? body->bytes : "";
}

std::string error_of(Api api, const Generation& generation, const Sample& sample,
                     bool salted = false) {
  const auto body = make_body(api, generation, sample, salted);
  EXPECT_FALSE(body) << body->bytes;
  return body ? "" : body.error().message;
}

// Header set, order and Host as in spec/endpoints_client.md, 7.1, plus the request id.
TEST(Request, is_exact_to_the_byte) {
  Endpoints where = endpoint("http://10.0.0.5:8000/");
  where.api_key = "k";
  where.headers = {{"X-Route", "blue"}};
  where.session_headers = {"X-Session-ID"};
  Sample sample = prompt("Hi");
  sample.session = "conv_a";
  auto generation = plain();
  generation.stream = true;
  const auto request = make_request(where, 0, generation, sample, false);
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->head,
            "POST /v1/chat/completions HTTP/1.1\r\n"
            "Host: 10.0.0.5:8000\r\n"
            "Authorization: Bearer k\r\n"
            "Content-Type: application/json\r\n"
            "Accept: text/event-stream\r\n"
            "X-Route: blue\r\n"
            "X-Session-ID: conv_a\r\n"
            "x-request-id: 00000000000000000000000000000000\r\n"
            "Content-Length: 137\r\n"
            "\r\n");
  EXPECT_EQ(request->head.substr(request->request_id_offset, kRequestIdDigits),
            std::string(kRequestIdDigits, '0'));
  EXPECT_EQ(request->salt_offset, kNoHole);
  EXPECT_EQ(request->body,
            R"({"model":"m","messages":[{"role":"user","content":"Hi"}],"max_completion_tokens":8,)"
            R"("stream":true,"stream_options":{"include_usage":true}})");
  EXPECT_EQ(request->body.size(), 137U);
}

TEST(Request, without_key_session_or_id_there_are_no_such_headers) {
  Endpoints where = endpoint("https://h/v1?tenant=a");
  where.session_headers = {"X-Session-ID"};
  where.request_ids = false;
  const auto request = make_request(where, 0, plain(), prompt("Hi"), false);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->head,
            "POST /v1/chat/completions?tenant=a HTTP/1.1\r\n"
            "Host: h\r\n"
            "Content-Type: application/json\r\n"
            "Accept: application/json\r\n"
            "Content-Length: 83\r\n"
            "\r\n");
  EXPECT_EQ(request->body.size(), 83U);
  EXPECT_EQ(request->request_id_offset, kNoHole);
}

TEST(Request, a_users_header_replaces_ours) {
  Endpoints where = endpoint("http://h");
  where.api_key = "k";
  where.headers = {{"authorization", "Basic x"}, {"X-Request-ID", "mine"}, {"HOST", "other"}};
  const auto request = make_request(where, 0, plain(), prompt("Hi"), false);
  ASSERT_TRUE(request);
  EXPECT_THAT(request->head, HasSubstr("authorization: Basic x\r\n"));
  EXPECT_THAT(request->head, Not(HasSubstr("Bearer")));
  EXPECT_THAT(request->head, HasSubstr("X-Request-ID: mine\r\n"));
  EXPECT_THAT(request->head, HasSubstr("HOST: other\r\n"));
  EXPECT_THAT(request->head, Not(HasSubstr("Host: h")));
  EXPECT_EQ(request->request_id_offset, kNoHole);
}

TEST(Request, headers_that_would_break_the_request_are_refused_without_showing_their_value) {
  const std::vector<Header> bad = {{"X", "secret\r\nY: z"}, {"X Y", "secret"},
                                   {"", "secret"},          {"Content-Length", "secret"},
                                   {"TE", "secret"},        {"Accept-Encoding", "gzip, secret"}};
  for (const Header& header : bad) {
    Endpoints where = endpoint("http://h");
    where.headers = {header};
    const auto request = make_request(where, 0, plain(), prompt("Hi"), false);
    ASSERT_FALSE(request) << header.first;
    EXPECT_THAT(request.error().message,
                HasSubstr("header '" +
                          (header.first == "Accept-Encoding" ? "accept-encoding" : header.first)));
    EXPECT_THAT(request.error().message, Not(HasSubstr("secret")));
  }
  Endpoints key = endpoint("http://h");
  key.api_key = "secret\n";
  EXPECT_FALSE(make_request(key, 0, plain(), prompt("Hi"), false));
  Endpoints session = endpoint("http://h");
  session.session_headers = {"X-S"};
  Sample sample = prompt("Hi");
  sample.session = "a\r\nb";
  EXPECT_FALSE(make_request(session, 0, plain(), sample, false));
}

TEST(RequestTarget, understands_v1_a_prefix_a_whole_route_and_a_query) {
  const std::tuple<const char*, Api, const char*> cases[] = {
      {"http://h", Api::openai, "/v1/chat/completions"},
      {"http://h/", Api::openai, "/v1/chat/completions"},
      {"http://h/v1", Api::openai, "/v1/chat/completions"},
      {"http://h/v1//", Api::openai, "/v1/chat/completions"},
      {"http://h/tenant/v1/", Api::openai_completions, "/tenant/v1/completions"},
      {"http://h/tenant?api-version=2", Api::openai, "/tenant/v1/chat/completions?api-version=2"},
      {"http://h/v1/chat/completions", Api::openai, "/v1/chat/completions"},
      {"http://h/v1beta/openai/chat/completions", Api::openai, "/v1beta/openai/chat/completions"},
      {"http://h/v1", Api::sglang, "/generate"},
      {"http://h/tenant/v1/", Api::ollama_chat, "/tenant/api/chat"},
      {"http://h/v1?a=1", Api::kserve_grpc, "/inference.GRPCInferenceService/ModelInfer?a=1"},
      {"http://h/v1/generate", Api::sglang, "/v1/generate"},
      {"http://h", Api::sglang, "/generate"},
      {"http://h/generate", Api::sglang, "/generate"},
      {"http+unix:///run/x.sock:/v1", Api::openai, "/v1/chat/completions"},
  };
  for (const auto& [text, api, target] : cases) {
    EXPECT_EQ(request_target(*net::parse_url(text), api), target) << text;
  }
  // A chat URL is not a completions URL, though it ends like one.
  EXPECT_EQ(request_target(*net::parse_url("http://h/v1/chat"), Api::openai_completions),
            "/v1/chat/v1/completions");
}

TEST(RequestTarget, a_route_from_a_file_stands_below_the_url_as_it_is) {
  DescribedKind kind;
  const auto target = [&kind](const char* route, std::string_view url) {
    kind.route = route;
    return request_target(*net::parse_url(url), Spoken(Api::described, &kind));
  };
  EXPECT_EQ(target("/tell", "http://h/v1"), "/v1/tell");
  EXPECT_EQ(target("/tell", "http://h/p/tell"), "/p/tell");
  EXPECT_EQ(target("/v1/tell", "http://h/p/v1"), "/p/v1/tell");
  EXPECT_EQ(target("/v1/tell", "http://h/p"), "/p/v1/tell");
}

Generation full_generation() {
  Generation g;
  g.model = "m";
  g.stream = true;
  g.temperature = 1.0;
  g.seed = 7;
  g.top_k = 20;
  g.top_p = 0.95;
  g.repetition_penalty = 1.1;
  g.presence_penalty = 0.0;
  g.frequency_penalty = 0.5;
  g.max_new_tokens = 100;
  g.min_new_tokens = 100;
  g.ignore_eos = true;
  g.chat_template_kwargs = Json::object().set("enable_thinking", false);
  g.extra_body = parse(R"({"chat_template_kwargs":{"x":1},"priority":3,"user":null})");
  return g;
}

TEST(ChatBody, a_rows_own_settings_win_over_the_runs) {
  Sample sample = prompt("Hi");
  sample.overrides = parse(R"({"temperature":0.25,"model":"m2","stop":["x"]})");
  const Json body = parse(body_of(Api::openai, full_generation(), sample));
  EXPECT_EQ(body["temperature"].as_double(), 0.25);
  EXPECT_EQ(body["model"].as_string(), "m2");
  EXPECT_EQ(body["stop"].size(), 1U);
  EXPECT_EQ(body["priority"].as_int(), 3);
}

TEST(ChatBody, keys_stand_in_the_references_order_and_what_is_unset_is_absent) {
  Sample sample = prompt("Hi \"you\"\n");
  sample.system = "Be brief.";
  sample.output_tokens_max = 50;
  sample.tools = parse(R"([{"type":"function","function":{"name":"f"}}])");
  sample.tool_choice = "auto";
  sample.body = parse(
      R"({"name":"ann","n":1,"stop":["x"],"logit_bias":{"5":-100},"user":"u","chat_template":"t",)"
      R"("mine":true,"model":"other","empty":null})");
  EXPECT_EQ(body_of(Api::openai, full_generation(), sample),
            R"({"model":"m","messages":[{"role":"system","content":"Be brief."},)"
            R"({"role":"user","content":"Hi \"you\"\n","name":"ann"}],"temperature":1.0,)"
            R"("max_completion_tokens":50,"stream":true,"seed":7,"top_p":0.95,"top_k":20,)"
            R"("repetition_penalty":1.1,"n":1,"stop":["x"],"presence_penalty":0.0,)"
            R"("frequency_penalty":0.5,"logit_bias":{"5":-100},"chat_template":"t",)"
            R"("chat_template_kwargs":{"enable_thinking":false,"x":1},)"
            R"("tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"auto",)"
            R"("stream_options":{"include_usage":true},"min_tokens":100,"ignore_eos":true,)"
            R"("mine":true,"priority":3})");
  EXPECT_EQ(body_of(Api::openai, plain(), prompt("Hi")),
            R"({"model":"m","messages":[{"role":"user","content":"Hi"}],)"
            R"("max_completion_tokens":8})");
}

TEST(ChatBody, messages_and_content_parts_go_as_they_stand) {
  Sample sample;
  sample.messages = parse(R"([{"role":"user","content":"a"},{"role":"assistant","content":null,)"
                          R"("tool_calls":[{"id":"1"}]},{"role":"tool","content":"b"}])");
  EXPECT_EQ(parse(body_of(Api::openai, plain(), sample))["messages"], sample.messages);
  Sample parts;
  parts.content_parts = parse(R"([{"type":"text","text":"what?"},{"type":"image_url",)"
                              R"("image_url":{"url":"data:image/png;base64,AAAA"}}])");
  EXPECT_EQ(parse(body_of(Api::openai, plain(), parts))["messages"][0]["content"],
            parts.content_parts);
}

TEST(CompletionsBody, sends_token_ids_or_the_text_as_it_is) {
  Sample tokens;
  tokens.input_tokens = {1, 2, 30000};
  EXPECT_EQ(body_of(Api::openai_completions, full_generation(), tokens),
            R"({"model":"m","prompt":[1,2,30000],"temperature":1.0,"max_tokens":100,)"
            R"("min_tokens":100,"skip_special_tokens":true,"stream":true,"top_p":0.95,"top_k":20,)"
            R"("repetition_penalty":1.1,"presence_penalty":0.0,"frequency_penalty":0.5,"seed":7,)"
            R"("stream_options":{"include_usage":true},"ignore_eos":true,)"
            R"("chat_template_kwargs":{"x":1},"priority":3})");
  EXPECT_EQ(body_of(Api::openai_completions, plain(), prompt("<|start|>Hi")),
            R"({"model":"m","prompt":"<|start|>Hi","max_tokens":8,"min_tokens":1,)"
            R"("skip_special_tokens":true,"stream":false})");
}

TEST(SglangBody, has_the_servers_own_names) {
  Sample tokens;
  tokens.input_tokens = {1, 2};
  tokens.body = parse(R"({"stop":["x"],"image_data":"y"})");
  auto generation = full_generation();
  generation.extra_body = parse(R"({"sampling_params":{"sampling_seed":7}})");
  EXPECT_EQ(body_of(Api::sglang, generation, tokens),
            R"({"input_ids":[1,2],"sampling_params":{"max_new_tokens":100,"temperature":1.0,)"
            R"("top_k":20,"top_p":0.95,"repetition_penalty":1.1,"presence_penalty":0.0,)"
            R"("frequency_penalty":0.5,"min_new_tokens":100,"ignore_eos":true,"stop":["x"],)"
            R"("sampling_seed":7},"stream":true,"image_data":"y"})");
  auto reference = plain();
  reference.top_k = -1;
  EXPECT_EQ(body_of(Api::sglang, reference, prompt("Hi")),
            R"({"text":"Hi","sampling_params":{"max_new_tokens":8},"stream":false})");
}

TEST(Body, what_an_api_cannot_ask_is_named) {
  Sample tokens;
  tokens.input_tokens = {1};
  Sample messages;
  messages.messages = parse(R"([{"role":"user","content":"a"}])");
  Sample system = prompt("Hi");
  system.system = "s";
  Sample tools = prompt("Hi");
  tools.tools = Json::array();
  Sample two = prompt("Hi");
  two.body = parse(R"({"n":200})");
  Sample no_messages;
  no_messages.messages = Json::array();
  EXPECT_THAT(error_of(Api::openai, plain(), tokens), HasSubstr("chat takes text"));
  EXPECT_THAT(error_of(Api::openai, plain(), Sample{}), HasSubstr("map a column to 'prompt'"));
  EXPECT_THAT(error_of(Api::openai, plain(), no_messages), HasSubstr("at least one message"));
  EXPECT_THAT(error_of(Api::openai, plain(), two), HasSubstr("from 1 to 128, is 200"));
  two.body = parse(R"({"n":2.0})");
  EXPECT_THAT(error_of(Api::openai, plain(), two), HasSubstr("a whole number from 1 to 128"));
  EXPECT_THAT(error_of(Api::openai_completions, plain(), messages), HasSubstr("api_type openai"));
  EXPECT_THAT(error_of(Api::openai_completions, plain(), system), HasSubstr("no system prompt"));
  EXPECT_THAT(error_of(Api::sglang, plain(), tools), HasSubstr("no tools"));
  EXPECT_THAT(error_of(Api::videogen, plain(), Sample{}), HasSubstr("no prompt"));
  auto generation = plain();
  generation.extra_body = parse(R"({"stream":true})");
  EXPECT_THAT(error_of(Api::openai, generation, prompt("Hi")), HasSubstr("extra_body.stream"));
  generation.extra_body = "text";
  EXPECT_THAT(error_of(Api::openai, generation, prompt("Hi")), HasSubstr("must be an object"));
}

TEST(Salt, its_hole_is_where_the_users_prompt_begins) {
  // The hole's text also occurs elsewhere: only the prompt's own may be found.
  Sample sample = prompt("[0000000000000000] \"quoted\" 1111111111111111");
  for (const Api api : {Api::openai, Api::openai_completions, Api::sglang}) {
    sample.system = api == Api::openai ? "[0000000000000000] [1111111111111111] " : "";
    auto body = make_body(api, plain(), sample, true);
    ASSERT_TRUE(body) << body.error().message;
    write_hex16(body->bytes.data() + body->salt_offset, 0xa8ce956811102085U);
    const Json json = parse(body->bytes);
    const Json& asked = api == Api::openai               ? json["messages"][1]["content"]
                        : api == Api::openai_completions ? json["prompt"]
                                                         : json["text"];
    EXPECT_EQ(asked.as_string(), "[a8ce956811102085] " + sample.prompt);
    if (api == Api::openai) {
      EXPECT_EQ(json["messages"][0]["content"].as_string(), sample.system);
    }
  }
}

// A request's body with the salt 0xa8ce956811102085 in its hole.
Json salted_body(Api api, const Sample& sample) {
  auto body = make_body(api, plain(), sample, true);
  EXPECT_TRUE(body) << body.error().message;
  if (!body) return {};
  write_salt(body->bytes.data() + body->salt_offset, body->salt_form, 0xa8ce956811102085U);
  return parse(body->bytes);
}

TEST(Salt, stands_between_the_system_prompt_and_what_the_user_says_first) {
  Sample messages;
  messages.messages = parse(R"([{"role":"system","content":"s"},{"role":"user","content":"a"},)"
                            R"({"role":"assistant","content":"b"},{"role":"user","content":"c"}])");
  EXPECT_EQ(salted_body(Api::openai, messages)["messages"].dump(),
            R"([{"role":"system","content":"s"},{"role":"user","content":"[a8ce956811102085] a"},)"
            R"({"role":"assistant","content":"b"},{"role":"user","content":"c"}])");
  Sample parts;
  parts.system = "s";
  parts.content_parts =
      parse(R"([{"type":"image_url","image_url":{"url":"u"}},{"type":"text","text":"a"}])");
  EXPECT_EQ(salted_body(Api::openai, parts)["messages"][1]["content"][1]["text"].as_string(),
            "[a8ce956811102085] a");
  parts.content_parts = parse(R"([{"type":"image_url","image_url":{"url":"u"}}])");
  const Json pictures = salted_body(Api::openai, parts)["messages"][1]["content"];
  EXPECT_EQ(pictures[0]["text"].as_string(), "[a8ce956811102085] ");
  EXPECT_EQ(pictures.size(), 2U);
}

TEST(Salt, of_token_ids_is_eight_marker_tokens) {
  Sample sample;
  sample.input_tokens = {1, 50, 60};
  const std::string marks = "1168,1206,1149,1104,1017,1016,1032,1133";  // 1000 + each byte
  EXPECT_EQ(salted_body(Api::openai_completions, sample)["prompt"].dump(),
            "[1," + marks + ",50,60]");
  sample.salt_position = 2;
  EXPECT_EQ(salted_body(Api::sglang, sample)["input_ids"].dump(), "[1,50," + marks + ",60]");
  sample.salt_position = 3;
  EXPECT_EQ(salted_body(Api::sglang, sample)["input_ids"].dump(), "[1,50,60," + marks + "]");
}

TEST(Salt, what_cannot_be_salted_is_refused) {
  Sample messages;
  messages.messages = parse(R"([{"role":"system","content":"a"}])");
  EXPECT_THAT(error_of(Api::openai, plain(), messages, true), HasSubstr("no message of a user"));
  auto generation = plain();
  generation.extra_body = parse(R"({"messages":[]})");
  EXPECT_THAT(error_of(Api::openai, generation, prompt("Hi"), true), HasSubstr("extra_body"));
}

TEST(WriteHex16, big_end_first) {
  char text[17] = {};
  write_hex16(text, 0x00000000000000ffU);
  EXPECT_STREQ(text, "00000000000000ff");
  write_hex16(text, 0x78adbe8a4bfd9cb3U);
  EXPECT_STREQ(text, "78adbe8a4bfd9cb3");
}

}  // namespace
}  // namespace assay::protocol
