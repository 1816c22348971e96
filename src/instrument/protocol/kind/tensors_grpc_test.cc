// KServe's calls over gRPC: the messages byte by byte, and what is no reply.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "base/protobuf.h"
#include "net/grpc.h"
#include "protocol/codec.h"

namespace assay::protocol {
namespace {

using namespace std::string_literals;
using testing::Contains;
using testing::HasSubstr;

Generation grpc_settings() { return {.model = "m", .stream = false}; }

std::string floats(std::initializer_list<float> numbers) {
  std::string out;
  for (const float number : numbers) {
    out.append(reinterpret_cast<const char*>(&number), sizeof(number));
  }
  return out;
}

std::string field(std::uint32_t number, std::string_view bytes) {
  std::string out;
  put_proto_bytes(out, number, bytes);
  return out;
}

Sample rows_sample(std::string_view inputs) {
  Sample sample;
  sample.body = Json::object().set("inputs", *Json::parse(inputs));
  return sample;
}

std::string words_against(std::string_view inputs) {
  const auto body = make_body(Api::kserve_grpc, grpc_settings(), rows_sample(inputs), false);
  return body ? "" : body.error().message;
}

TEST(TensorsGrpc, arrays_go_as_raw_contents) {
  Sample sample;
  sample.attachments.push_back(
      {.name = "x", .type = "FP32", .shape = {1, 300}, .bytes = std::string(1200, 'a')});
  sample.body = *Json::parse(R"({"outputs":[{"name":"y"}],"parameters":{"p":true,"n":-1}})");
  const auto body = make_body(Api::kserve_grpc, grpc_settings(), sample, false);
  ASSERT_TRUE(body) << body.error().message;
  std::string minus;
  put_proto_number(minus, 2, ~std::uint64_t{0});
  const std::string message =
      field(1, "m") + field(4, field(1, "p") + field(2, "\x08\x01")) +
      field(4, field(1, "n") + field(2, minus)) +
      field(5, field(1, "x") + field(2, "FP32") + field(3, "\x01\xac\x02")) +
      field(6, field(1, "y")) + field(7, std::string(1200, 'a'));
  EXPECT_EQ(body->bytes, net::grpc_framed(message));
  EXPECT_EQ(body->asked.choices, 1);
  EXPECT_FALSE(body->asked.stream);
}

TEST(TensorsGrpc, inputs_of_a_row_go_as_typed_contents) {
  const auto body =
      make_body(Api::kserve_grpc, grpc_settings(),
                rows_sample(R"([{"name":"i","shape":[2],"datatype":"INT16","data":[[-2],[300]]},)"
                            R"({"name":"f","shape":[1],"datatype":"FP32","data":[1.5]},)"
                            R"({"name":"s","shape":[2],"datatype":"BYTES","data":["hi",""]}])"),
                false);
  ASSERT_TRUE(body) << body.error().message;
  const std::string numbers = "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\xac\x02"s;
  const std::string message =
      field(1, "m") +
      field(5, field(1, "i") + field(2, "INT16") + field(3, "\x02") + field(5, field(2, numbers))) +
      field(5, field(1, "f") + field(2, "FP32") + field(3, "\x01") +
                   field(5, field(6, floats({1.5F})))) +
      field(5, field(1, "s") + field(2, "BYTES") + field(3, "\x02") +
                   field(5, field(8, "hi") + field(8, "")));
  EXPECT_EQ(body->bytes, net::grpc_framed(message));
}

TEST(TensorsGrpc, refuses_what_the_message_cannot_say) {
  EXPECT_THAT(words_against(R"([{"name":"h","shape":[1],"datatype":"FP16","data":[1]}])"),
              HasSubstr("tensor 'h': a message of numbers has no datatype 'FP16'"));
  EXPECT_THAT(words_against(R"([{"name":"h","shape":[1],"datatype":"UINT8","data":[256]}])"),
              HasSubstr("none of datatype UINT8"));
  EXPECT_THAT(words_against(R"([{"name":"h","shape":[1],"datatype":"INT8","data":[-129]}])"),
              HasSubstr("none of datatype INT8"));
  EXPECT_THAT(words_against(R"([{"name":"h","shape":[1],"datatype":"BOOL","data":[1]}])"),
              HasSubstr("none of datatype BOOL"));
  EXPECT_THAT(words_against(R"([{"name":"h","shape":[3],"datatype":"FP32","data":[1,2]}])"),
              HasSubstr("2 elements, and the shape has 3"));
  EXPECT_THAT(words_against(R"([{"name":"h","shape":[-1],"datatype":"FP32","data":[1]}])"),
              HasSubstr("shape"));
  Sample both = rows_sample(R"([{"name":"h","shape":[1],"datatype":"FP32","data":[1]}])");
  both.attachments.push_back({.name = "x", .type = "INT8", .shape = {1}, .bytes = "a"});
  EXPECT_THAT(make_body(Api::kserve_grpc, grpc_settings(), both, false).error().message,
              HasSubstr("all tensors are bytes, or none"));
}

TEST(TensorsGrpc, the_head_is_a_call_of_grpc) {
  Endpoints endpoints{.urls = {"http://h"}, .api = Api::kserve_grpc, .api_key = "k"};
  endpoints.http = HttpVersion::http1;
  EXPECT_EQ(endpoints.http_version(), HttpVersion::http2);
  const auto plain = request_headers(endpoints, false, "");
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_THAT(*plain, Contains(Header("Content-Type", "application/grpc")));
  EXPECT_THAT(*plain, Contains(Header("te", "trailers")));
  EXPECT_THAT(*plain, Contains(Header("Authorization", "Bearer k")));
  EXPECT_EQ(plain->back().first, "x-request-id");
  endpoints.query_timeout = Duration{1'500'000'000};
  EXPECT_THAT(*request_headers(endpoints, false, ""), Contains(Header("grpc-timeout", "1500m")));
  endpoints.query_timeout = Duration{200'000'000'000'000};
  EXPECT_THAT(*request_headers(endpoints, false, ""), Contains(Header("grpc-timeout", "200000S")));
  EXPECT_EQ(request_target(*net::parse_url("http://h/base/"), Api::kserve_grpc, "m"),
            "/base/inference.GRPCInferenceService/ModelInfer");
}

DecodedEvent grpc_reply(std::string body, std::string* text = nullptr) {
  const std::size_t size = body.size();
  body.append(kDecodePadding, '\\');
  ReplyDecoder decoder;
  DecodedEvent event;
  decoder.decode_reply(Api::kserve_grpc, {body.data(), size}, event);
  if (text != nullptr)
    *text = event.fragment_count == 0 ? "" : std::string(event.fragments[0].text);
  event.fragments = {};
  event.error = {};
  return event;
}

std::string output(std::string_view type, std::string_view contents = {}) {
  std::string out = field(1, "y") + field(2, type) + field(3, "\x01");
  if (!contents.empty()) out += field(5, contents);
  return field(5, out);
}

TEST(TensorsGrpc, a_reply_may_be_raw_or_typed) {
  std::string text;
  const std::string ints = output("INT64");
  const std::string raw = ints + output("FP32") + field(6, "12345678") + field(6, floats({1.5F}));
  DecodedEvent event = grpc_reply(net::grpc_framed(field(1, "m") + raw), &text);
  EXPECT_TRUE(event.has_choice);
  EXPECT_EQ(event.units, 2u);
  EXPECT_EQ(text, "AADAPw==");
  // The order of fields is free.
  grpc_reply(
      net::grpc_framed(field(6, "12345678") + field(6, floats({1.5F})) + ints + output("FP32")),
      &text);
  EXPECT_EQ(text, "AADAPw==");
  event = grpc_reply(net::grpc_framed(output("FP32", field(6, floats({1.5F, 2.0F})))), &text);
  EXPECT_TRUE(event.has_choice);
  EXPECT_EQ(text, "AADAPwAAAEA=");
}

TEST(TensorsGrpc, what_is_no_reply_is_refused) {
  EXPECT_TRUE(grpc_reply("").malformed);
  EXPECT_TRUE(grpc_reply("{}").malformed);
  EXPECT_TRUE(grpc_reply(net::grpc_framed(output("FP32")) + "x").malformed);
  EXPECT_TRUE(grpc_reply(net::grpc_framed("\x2a\x05zz")).malformed);
  EXPECT_FALSE(grpc_reply(net::grpc_framed(field(1, "m"))).has_choice) << "no output";
  EXPECT_FALSE(
      grpc_reply(net::grpc_framed(output("FP32") + output("FP32") + field(6, "abcd"))).has_choice)
      << "one of two raw contents";
  std::string compressed = net::grpc_framed(output("FP32"));
  compressed[0] = 1;
  EXPECT_EQ(grpc_reply(compressed).category, Category::error);
}

}  // namespace
}  // namespace assay::protocol
