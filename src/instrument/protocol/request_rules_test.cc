// Requests at the edges: what is left out, what wins, what is refused, where a hole is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "domain/described_kind.h"
#include "net/url.h"
#include "protocol/codec.h"

namespace assay::protocol {
namespace {

using testing::HasSubstr;

constexpr Api kAllApis[] = {Api::openai, Api::openai_completions, Api::sglang};

Json json_of(std::string_view text) { return Json::parse(text).value(); }

Sample asking(std::string prompt) {
  Sample out;
  out.prompt = std::move(prompt);
  return out;
}

// Settings that send no optional field.
Generation bare() {
  Generation out;
  out.stream = false;
  out.max_new_tokens = 0;
  return out;
}

Json body_for(Api api, const Generation& generation, const Sample& sample) {
  const auto body = make_body(api, generation, sample, false);
  EXPECT_TRUE(body) << body.error().message;
  return body ? json_of(body->bytes) : Json{};
}

std::string refused(Api api, const Generation& generation, const Sample& sample,
                    bool salted = false) {
  const auto body = make_body(api, generation, sample, salted);
  return body ? "taken" : body.error().message;
}

TEST(RequestRules, what_is_not_set_is_not_sent) {
  EXPECT_EQ(body_for(Api::openai, bare(), asking("p")).dump(),
            R"({"messages":[{"role":"user","content":"p"}]})");
  EXPECT_EQ(body_for(Api::openai_completions, bare(), asking("p")).dump(),
            R"({"prompt":"p","min_tokens":1,"skip_special_tokens":true,"stream":false})");
  EXPECT_EQ(body_for(Api::sglang, bare(), asking("p")).dump(),
            R"({"text":"p","sampling_params":{},"stream":false})");
}

TEST(RequestRules, usage_is_wished_for_of_a_stream_and_where_it_is_wanted) {
  for (const Api api : {Api::openai, Api::openai_completions}) {
    for (const bool stream : {false, true}) {
      for (const bool wanted : {false, true}) {
        Generation generation = bare();
        generation.stream = stream;
        generation.include_usage = wanted;
        const Json body = body_for(api, generation, asking("p"));
        EXPECT_EQ(body["stream_options"]["include_usage"].as_bool(false), stream && wanted);
        EXPECT_EQ(body.find("stream_options") != nullptr, stream && wanted);
        EXPECT_EQ(body["stream"].as_bool(false), stream);
      }
    }
  }
}

TEST(RequestRules, the_least_and_the_most_tokens_are_sent_under_each_apis_name) {
  Generation generation = bare();
  generation.max_new_tokens = 1;
  generation.min_new_tokens = 2;
  Sample sample = asking("p");
  EXPECT_EQ(body_for(Api::openai, generation, sample)["max_completion_tokens"].as_int(), 1);
  EXPECT_EQ(body_for(Api::openai, generation, sample)["min_tokens"].as_int(), 2);
  EXPECT_EQ(body_for(Api::openai_completions, generation, sample)["max_tokens"].as_int(), 1);
  EXPECT_EQ(body_for(Api::openai_completions, generation, sample)["min_tokens"].as_int(), 2);
  Json sampling = body_for(Api::sglang, generation, sample)["sampling_params"];
  EXPECT_EQ(sampling["max_new_tokens"].as_int(), 1);
  EXPECT_EQ(sampling["min_new_tokens"].as_int(), 2);
  // One is every server's own minimum.
  generation.min_new_tokens = 1;
  EXPECT_EQ(body_for(Api::openai, generation, sample).find("min_tokens"), nullptr);
  EXPECT_EQ(body_for(Api::sglang, generation, sample)["sampling_params"].find("min_new_tokens"),
            nullptr);
  sample.output_tokens_max = 1;
  generation.max_new_tokens = 9;
  EXPECT_EQ(body_for(Api::openai, generation, sample)["max_completion_tokens"].as_int(), 1);
  generation.skip_special_tokens = false;
  EXPECT_FALSE(
      body_for(Api::sglang, generation, sample)["sampling_params"]["skip_special_tokens"].as_bool(
          true));
  EXPECT_FALSE(
      body_for(Api::openai_completions, generation, sample)["skip_special_tokens"].as_bool(true));
  generation.top_k = 0;
  EXPECT_EQ(body_for(Api::sglang, generation, sample)["sampling_params"]["top_k"].as_int(-5), 0);
}

// RFC 7396, at both of its places.
TEST(RequestRules, extra_fields_are_merged_into_what_is_there) {
  Generation generation = bare();
  generation.chat_template_kwargs = json_of(R"({"a":1,"b":{"c":2,"d":3}})");
  generation.extra_body = json_of(
      R"({"chat_template_kwargs":{"a":null,"b":{"c":4},"e":{"f":null,"g":5}},"user":{"x":1},"k":[1]})");
  Sample sample = asking("p");
  sample.body = json_of(R"({"user":"u"})");
  sample.overrides = json_of(R"({"k":null,"user":"v"})");
  const Json body = body_for(Api::openai, generation, sample);
  EXPECT_EQ(body["chat_template_kwargs"].dump(), R"({"b":{"c":4,"d":3},"e":{"g":5}})");
  EXPECT_EQ(body["user"].dump(), R"("v")");
  EXPECT_EQ(body.find("k"), nullptr);
  sample.overrides = Json{};
  EXPECT_EQ(body_for(Api::openai, generation, sample)["user"].dump(), R"({"x":1})");
}

TEST(RequestRules, a_rows_columns_fill_what_the_run_leaves_open) {
  Sample sample = asking("p");
  sample.body = json_of(R"({"seed":1,"temperature":null,"name":7,"n":2,"stop":"s","mine":3})");
  Generation generation = bare();
  generation.seed = 5;
  for (const Api api : {Api::openai, Api::openai_completions}) {
    const Json body = body_for(api, generation, sample);
    EXPECT_EQ(body["seed"].as_int(), 5);
    EXPECT_EQ(body.find("temperature"), nullptr);
    EXPECT_EQ(body.find("name"), nullptr);
    EXPECT_EQ(body["n"].as_int(), 2);
    EXPECT_EQ(body["stop"].as_string(), "s");
    EXPECT_EQ(body["mine"].as_int(), 3);
  }
  EXPECT_EQ(body_for(Api::openai, generation, sample)["messages"][0].find("name"), nullptr);
  const Json sglang = body_for(Api::sglang, generation, sample);
  EXPECT_EQ(sglang["sampling_params"]["stop"].as_string(), "s");
  EXPECT_EQ(sglang.find("stop"), nullptr);
}

TEST(RequestRules, an_empty_system_prompt_and_empty_tools_are_told_apart) {
  Sample sample = asking("p");
  EXPECT_EQ(body_for(Api::openai, bare(), sample)["messages"].size(), 1U);
  sample.tools = Json::array();
  sample.tool_choice = "none";
  const Json body = body_for(Api::openai, bare(), sample);
  EXPECT_EQ(body["tools"].dump(), "[]");
  EXPECT_EQ(body["tool_choice"].as_string(), "none");
  Sample ids;
  ids.input_tokens = {1};
  ids.system = "is in the ids";
  EXPECT_EQ(refused(Api::sglang, bare(), ids), "taken");
  Sample parts;
  parts.content_parts = json_of(R"([{"type":"text","text":"a"}])");
  EXPECT_EQ(refused(Api::openai, bare(), parts), "taken");
  EXPECT_THAT(refused(Api::sglang, bare(), parts), HasSubstr("content parts need api_type openai"));
  EXPECT_THAT(refused(Api::sglang, bare(), Sample{}), testing::Not(HasSubstr("content parts")));
  Sample both = asking("p");
  both.input_tokens = {1, 2};
  EXPECT_EQ(body_for(Api::sglang, bare(), both)["input_ids"].dump(), "[1,2]");
  EXPECT_EQ(refused(Api::openai, bare(), both), "taken");
  Sample messages;
  messages.messages = Json::array();
  EXPECT_THAT(refused(Api::openai, bare(), messages), HasSubstr("at least one message"));
}

TEST(RequestRules, choices_are_one_to_128) {
  Sample sample = asking("p");
  const auto choices = [&](std::string_view n) {
    sample.body = json_of(format(R"({{"n":{}}})", n));
    const auto body = make_body(Api::openai, bare(), sample, false);
    return body ? static_cast<int>(body->asked.choices) : -1;
  };
  EXPECT_EQ(choices("1"), 1);
  EXPECT_EQ(choices("128"), 128);
  EXPECT_EQ(choices("null"), 1);
  for (const char* n : {"0", "129", "-1", "1.5", "\"2\"", "true"}) EXPECT_EQ(choices(n), -1) << n;
}

TEST(RequestRules, a_reply_is_held_against_the_largest_limit_that_was_asked_for) {
  const auto asked = [](Api api, std::string_view extra) {
    Generation generation = bare();
    generation.extra_body = json_of(extra);
    return make_body(api, generation, asking("p"), false).value().asked;
  };
  EXPECT_EQ(asked(Api::openai, "{}").tokens_max, -1);
  EXPECT_EQ(asked(Api::openai, R"({"max_tokens":5,"max_completion_tokens":3})").tokens_max, 5);
  EXPECT_EQ(asked(Api::openai, R"({"max_tokens":1})").tokens_max, 1);
  EXPECT_EQ(asked(Api::openai, R"({"max_tokens":0})").tokens_max, -1);
  EXPECT_EQ(asked(Api::openai, R"({"max_tokens":"9"})").tokens_max, -1);
  EXPECT_EQ(asked(Api::openai, R"({"max_tokens":2147483646})").tokens_max, 2147483646);
  EXPECT_EQ(asked(Api::openai, R"({"max_tokens":2147483647})").tokens_max, -1);
  EXPECT_EQ(asked(Api::sglang, R"({"sampling_params":{"max_new_tokens":4,"n":3}})").tokens_max, 4);
  EXPECT_EQ(asked(Api::sglang, R"({"sampling_params":{"max_new_tokens":4,"n":3}})").choices, 3);
  EXPECT_EQ(asked(Api::sglang, R"({"sampling_params":{"n":500},"n":2})").choices, 128);
  EXPECT_EQ(asked(Api::sglang, R"({"sampling_params":{"n":-1}})").choices, 1);
  EXPECT_FALSE(asked(Api::openai, "{}").stream);
}

TEST(RequestRules, a_sockets_first_request_has_the_fields_that_are_of_no_single_turn) {
  const auto url = net::parse_url("http://h:8000/v1");
  ASSERT_TRUE(url);
  const std::vector<Header> fields{{"Authorization", "Bearer k"},
                                   {"Content-Type", "application/json"},
                                   {"Accept", "x"},
                                   {"x-request-id", std::string(32, '0')},
                                   {"X-Own", "1"}};
  EXPECT_EQ(socket_head(*url, "/v1/realtime?model=m", fields),
            "GET /v1/realtime?model=m HTTP/1.1\r\nHost: h:8000\r\nAuthorization: Bearer k\r\n"
            "X-Own: 1\r\n");
  EXPECT_EQ(socket_head(*url, "/", {{"HOST", "other"}}), "GET / HTTP/1.1\r\nHOST: other\r\n");
}

TEST(RequestRules, what_is_counted_in_units_has_no_limit_of_tokens) {
  Generation generation = bare();
  generation.extra_body = json_of(R"({"max_tokens":5,"n":4})");
  const Asked vectors =
      make_body(Api::openai_embeddings, generation, asking("p"), false).value().asked;
  EXPECT_EQ(vectors.tokens_max, -1);
  EXPECT_EQ(vectors.choices, 1);
  const Asked pictures =
      make_body(Api::openai_images, generation, asking("p"), false).value().asked;
  EXPECT_EQ(pictures.tokens_max, -1);
  EXPECT_EQ(pictures.choices, 4);
}

TEST(RequestRules, streaming_is_the_runs_to_set) {
  for (const Api api : kAllApis) {
    Generation generation = bare();
    generation.extra_body = json_of(R"({"stream":true})");
    EXPECT_THAT(refused(api, generation, asking("p")),
                HasSubstr("extra_body.stream: true against streaming off"));
    generation.stream = true;
    EXPECT_EQ(refused(api, generation, asking("p")), "taken");
    generation.extra_body = json_of(R"({"stream":false})");
    EXPECT_THAT(refused(api, generation, asking("p")),
                HasSubstr("extra_body.stream: false against streaming on"));
  }
  Generation generation = bare();
  generation.extra_body = Json::array();
  EXPECT_THAT(refused(Api::openai, generation, asking("p")), HasSubstr("must be an object"));
}

// The body with the salt 0123456789abcdef in its hole.
Json with_salt(Api api, const Sample& sample) {
  auto body = make_body(api, bare(), sample, true);
  EXPECT_TRUE(body) << body.error().message;
  write_salt(body->bytes.data() + body->salt_offset, body->salt_form, 0x0123456789abcdefU);
  return json_of(body->bytes);
}

TEST(SaltRules, it_stands_before_the_first_words_of_a_user) {
  Sample sample;
  // A user message without text is skipped; later user messages get no salt.
  sample.messages = json_of(
      R"([{"role":"assistant","content":"x"},{"role":"user"},{"role":"user","content":null},)"
      R"({"role":"user","content":"a"},{"role":"user","content":"b"}])");
  EXPECT_EQ(with_salt(Api::openai, sample)["messages"].dump(),
            R"([{"role":"assistant","content":"x"},{"role":"user"},{"role":"user","content":null},)"
            R"({"role":"user","content":"[0123456789abcdef] a"},{"role":"user","content":"b"}])");
  sample.messages =
      json_of(R"([{"role":"user","content":[{"type":"image"},{"text":"a"},{"text":"b"}]},)"
              R"({"role":"user","content":"c"}])");
  EXPECT_EQ(with_salt(Api::openai, sample)["messages"].dump(),
            R"([{"role":"user","content":[{"type":"image"},{"text":"[0123456789abcdef] a"},)"
            R"({"text":"b"}]},{"role":"user","content":"c"}])");
  sample.messages = json_of(R"([{"role":"user","content":[]}])");
  EXPECT_EQ(with_salt(Api::openai, sample)["messages"].dump(),
            R"([{"role":"user","content":[{"type":"text","text":"[0123456789abcdef] "}]}])");
  sample.messages = json_of(R"([{"role":"user","content":7},{"role":"user"}])");
  EXPECT_THAT(refused(Api::openai, bare(), sample, true), HasSubstr("no message of a user"));
  for (const Api api : {Api::openai_completions, Api::sglang}) {
    const Json body = with_salt(api, asking("p"));
    EXPECT_EQ(body[api == Api::sglang ? "text" : "prompt"].as_string(), "[0123456789abcdef] p");
  }
}

TEST(SaltRules, token_ids_have_it_behind_the_first_or_where_the_sample_says) {
  const std::string marks = "1001,1035,1069,1103,1137,1171,1205,1239";
  const auto ids = [](std::vector<std::int32_t> tokens, std::int32_t position) {
    Sample sample;
    sample.input_tokens = std::move(tokens);
    sample.salt_position = position;
    return with_salt(Api::sglang, sample)["input_ids"].dump();
  };
  EXPECT_EQ(ids({5}, -1), format("[5,{}]", marks));
  EXPECT_EQ(ids({5, 6}, -1), format("[5,{},6]", marks));
  EXPECT_EQ(ids({5, 6}, 0), format("[{},5,6]", marks));
  EXPECT_EQ(ids({5, 6}, 2), format("[5,6,{}]", marks));
  EXPECT_EQ(ids({5, 6}, 9), format("[5,6,{}]", marks));
  EXPECT_EQ(ids({1111, 1111}, 1), format("[1111,{},1111]", marks));
}

TEST(SaltRules, the_hole_is_the_salts_own) {
  const auto body = make_body(Api::openai, bare(), asking("p"), true);
  ASSERT_TRUE(body);
  EXPECT_EQ(body->bytes.substr(body->salt_offset - 1, kSaltDigits + 2),
            "[" + std::string(kSaltDigits, '0') + "]");
  EXPECT_EQ(body->salt_form, SaltForm::hex);
  const auto plain = make_body(Api::openai, bare(), asking("p"), false);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->salt_offset, kNoHole);
  Sample both = asking("p");
  both.input_tokens = {1};
  EXPECT_EQ(make_body(Api::openai, bare(), both, true)->salt_form, SaltForm::hex);
  EXPECT_EQ(make_body(Api::sglang, bare(), both, true)->salt_form, SaltForm::ids);
}

std::vector<Header> headers_of(std::vector<Header> users, std::string_view key = "",
                               const std::string& session = "") {
  Endpoints endpoints{.urls = {"http://h"}};
  endpoints.api_key = key;
  endpoints.headers = std::move(users);
  endpoints.session_headers = {"X-One", "x-two"};
  const auto headers = request_headers(endpoints, true, session);
  return headers ? *headers : std::vector<Header>{{"refused", headers.error().message}};
}

TEST(HeaderRules, names_are_tokens_and_values_have_no_control_bytes) {
  const std::string token =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&'*+-.^_`|~";
  for (int c = 1; c < 256; ++c) {
    const std::string byte(1, static_cast<char>(c));
    EXPECT_EQ(headers_of({{"X" + byte, "v"}})[0].first == "refused",
              token.find(byte) == std::string::npos)
        << c;
    const bool control = (c < 0x20 && c != '\t') || c == 0x7f;
    EXPECT_EQ(headers_of({{"X", "v" + byte}})[0].first == "refused", control) << c;
  }
  EXPECT_EQ(headers_of({{"", "v"}})[0].first, "refused");
}

TEST(HeaderRules, those_that_frame_the_request_are_ours) {
  for (const char* name :
       {"Content-Length", "transfer-encoding", "EXPECT", "te", "Upgrade", "trailer"}) {
    EXPECT_EQ(headers_of({{name, "x"}})[0].second, format("header '{}': is ours to set", name));
  }
  EXPECT_EQ(headers_of({{"Accept-Encoding", "gzip"}})[0].first, "refused");
  EXPECT_EQ(headers_of({{"Accept-Encoding", " Identity "}})[2].second, " Identity ");
}

TEST(HeaderRules, a_users_header_takes_the_place_of_ours_and_the_last_of_a_name_counts) {
  using Headers = std::vector<Header>;
  EXPECT_EQ(headers_of({{"ACCEPT", "a"}, {"B", "1"}, {"b", "2"}}, "k", "s"),
            (Headers{{"Authorization", "Bearer k"},
                     {"Content-Type", "application/json"},
                     {"ACCEPT", "a"},
                     {"b", "2"},
                     {"X-One", "s"},
                     {"x-two", "s"},
                     {"x-request-id", std::string(32, '0')}}));
  EXPECT_EQ(headers_of({{"X-Request-Id", "mine"}}), (Headers{{"Content-Type", "application/json"},
                                                             {"Accept", "text/event-stream"},
                                                             {"X-Request-Id", "mine"}}));
}

TEST(HeaderRules, the_id_lies_where_its_digits_are) {
  Endpoints endpoints{.urls = {"http://h"}};
  const std::string line = "\r\nx-request-id: " + std::string(32, '0') + "\r\n";
  EXPECT_EQ(request_id_offset(endpoints, "POST" + line), 4U + 16);
  EXPECT_EQ(request_id_offset(endpoints, "POST\r\n"), kNoHole);
  endpoints.headers = {{"X-REQUEST-ID", "mine"}};
  EXPECT_EQ(request_id_offset(endpoints, "POST" + line), kNoHole);
  endpoints.headers = {{"X", "y"}};
  EXPECT_EQ(request_id_offset(endpoints, "POST" + line), 4U + 16);
  endpoints.request_ids = false;
  EXPECT_EQ(request_id_offset(endpoints, "POST" + line), kNoHole);
}

TEST(WriteSalt, ids_have_four_digits_and_a_comma_between) {
  std::string text(kSaltIdBytes, ',');
  write_salt(text.data(), SaltForm::ids, 0x00ff0180'0a637fc8U);
  EXPECT_EQ(text, "1000,1255,1001,1128,1010,1099,1127,1200");
  text.assign(kSaltDigits, '.');
  write_salt(text.data(), SaltForm::hex, 0x00ff0180'0a637fc8U);
  EXPECT_EQ(text, "00ff01800a637fc8");
}

TEST(HeaderRules, a_call_of_grpc_says_its_time_in_at_most_eight_digits) {
  const auto said = [](Duration timeout) {
    Endpoints endpoints{.urls = {"http://h"}, .api = Api::kserve_grpc};
    endpoints.query_timeout = timeout;
    const auto headers = request_headers(endpoints, false, "");
    EXPECT_TRUE(headers);
    for (const auto& [name, value] : *headers) {
      if (name == "grpc-timeout") return value;
    }
    return std::string("none");
  };
  EXPECT_EQ(said(1_ms), "1m");
  EXPECT_EQ(said(1_ms * 99'999'999), "99999999m");
  EXPECT_EQ(said(1_ms * 100'000'000), "100000S");
  EXPECT_EQ(said(1_s * 99'999'999), "99999999S");
  EXPECT_EQ(said(1_s * 100'000'000), "none");
  EXPECT_EQ(said(Duration::max()), "none");
}

TEST(RequestTarget, a_models_name_is_encoded_but_for_letters_digits_and_four_marks) {
  const auto target = [](std::string_view model) {
    return request_target(*net::parse_url("http://h"), Api::kserve, model);
  };
  EXPECT_EQ(target("09azAZ-._~5mM"), "/v2/models/09azAZ-._~5mM/infer");
  EXPECT_EQ(target("/:@[`{\x7f\xff +%"), "/v2/models/%2F%3A%40%5B%60%7B%7F%FF%20%2B%25/infer");
}

TEST(HeaderRules, those_of_a_described_kind_stand_between_the_key_and_ours) {
  auto own = std::make_shared<DescribedKind>();
  own->key_header = "x-key";
  own->headers = {{"x-a", "1"}, {"x-b", "2"}};
  const Endpoints endpoints{
      .urls = {"http://h"}, .api = Api::described, .described = own, .api_key = "k"};
  const auto headers = request_headers(endpoints, false, "");
  ASSERT_TRUE(headers) << headers.error().message;
  std::string names;
  for (const auto& [name, value] : *headers) names += name + " ";
  EXPECT_THAT(names, testing::StartsWith("x-key x-a x-b Content-Type Accept "));
}

TEST(RequestRules, a_described_body_streams_where_the_run_does) {
  auto own = parse_described_kind(*Json::parse(
      R"({"kind":"tell","route":"/tell","request":{"words":"{prompt}","live":"{stream}"},)"
      R"("reply":{"text":"say"},"whole":{"text":"story"}})"));
  ASSERT_TRUE(own) << own.error().message;
  for (const bool stream : {true, false}) {
    Generation generation = bare();
    generation.stream = stream;
    const auto body = make_body({Api::described, &*own}, generation, asking("p"), false);
    ASSERT_TRUE(body) << body.error().message;
    EXPECT_EQ(body->asked.stream, stream);
    EXPECT_EQ(json_of(body->bytes)["live"].as_bool(!stream), stream);
    EXPECT_EQ(body->asked.tokens_max, -1);
  }
}

}  // namespace
}  // namespace assay::protocol
