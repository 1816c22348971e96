// KServe's calls over gRPC: the messages byte by byte, and what is no reply.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/protobuf.h"
#include "net/grpc.h"
#include "protocol/codec.h"

namespace assay::protocol {
namespace {

using namespace std::string_literals;
using testing::Contains;
using testing::HasSubstr;

Generation grpc_settings() { return {.model = "m", .stream = false}; }

template <typename Number>
std::string packed_bytes(std::initializer_list<Number> numbers) {
  std::string out;
  for (const Number number : numbers) {
    out.append(reinterpret_cast<const char*>(&number), sizeof(number));
  }
  return out;
}

std::string floats(std::initializer_list<float> numbers) { return packed_bytes(numbers); }

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

std::string varints(std::initializer_list<std::int64_t> numbers) {
  std::string out;
  for (const std::int64_t number : numbers) {
    put_proto_varint(out, static_cast<std::uint64_t>(number));
  }
  return out;
}

// Two numbers each: of integers the least and the most.
TEST(TensorsGrpc, each_datatype_has_its_field_and_takes_its_own_range_and_no_more) {
  struct Row {
    const char* type = "";
    std::uint32_t number = 0;
    const char* two = "";
    std::string bytes{};
    std::vector<const char*> refused{};
  };
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::vector<Row> rows{
      {"BOOL", 1, "[true,false]", varints({1, 0}), {"0", "1", "\"true\""}},
      {"INT8", 2, "[-128,127]", varints({-128, 127}), {"-129", "128", "1.5", "true"}},
      {"INT16", 2, "[-32768,32767]", varints({-32768, 32767}), {"-32769", "32768"}},
      {"INT32",
       2,
       "[-2147483648,2147483647]",
       varints({-2147483648, 2147483647}),
       {"-2147483649", "2147483648"}},
      {"INT64",
       3,
       "[-9223372036854775808,9223372036854775807]",
       varints({kLeast, kMost}),
       {"1.5", "\"1\""}},
      {"UINT8", 4, "[0,255]", varints({0, 255}), {"-1", "256"}},
      {"UINT16", 4, "[0,65535]", varints({0, 65535}), {"-1", "65536"}},
      {"UINT32", 4, "[0,4294967295]", varints({0, 4294967295}), {"-1", "4294967296"}},
      {"UINT64", 5, "[0,9223372036854775807]", varints({0, kMost}), {"-1", "0.5"}},
      {"FP32", 6, "[1.5,-2]", packed_bytes({1.5F, -2.0F}), {"true", "\"1\"", "null"}},
      {"FP64", 7, "[0.1,-3]", packed_bytes({0.1, -3.0}), {"true", "\"1\"", "null"}},
  };
  const auto input = [](const char* type, std::string_view two) {
    return format(R"([{{"name":"i","shape":[2],"datatype":"{}","data":{}}}])", type, two);
  };
  for (const Row& row : rows) {
    const auto body =
        make_body(Api::kserve_grpc, grpc_settings(), rows_sample(input(row.type, row.two)), false);
    ASSERT_TRUE(body) << body.error().message;
    EXPECT_EQ(body->bytes,
              net::grpc_framed(field(1, "m") +
                               field(5, field(1, "i") + field(2, row.type) + field(3, "\x02") +
                                            field(5, field(row.number, row.bytes)))))
        << row.type;
    for (const char* const one : row.refused) {
      EXPECT_THAT(words_against(input(row.type, format("[{0},{0}]", one))),
                  HasSubstr(format("none of datatype {}", row.type)))
          << one;
    }
  }
  EXPECT_THAT(words_against(input("BYTES", R"(["a",[1]])")), HasSubstr("none of datatype BYTES"));
}

TEST(TensorsGrpc, a_shape_is_of_sizes_that_a_tensor_can_have) {
  const auto against = [](std::string_view shape) {
    return words_against(
        format(R"([{{"name":"h","shape":{},"datatype":"INT8","data":[]}}])", shape));
  };
  EXPECT_EQ(against("[0]"), "");
  EXPECT_EQ(against("[3,0]"), "");
  EXPECT_THAT(against("[4294967296]"), HasSubstr("0 elements, and the shape has 4294967296"));
  EXPECT_THAT(against("[4294967297]"), HasSubstr("shape: must be a list of sizes"));
  EXPECT_THAT(against("[-1]"), HasSubstr("shape: must be a list of sizes"));
  EXPECT_THAT(against(R"(["1"])"), HasSubstr("shape: must be a list of sizes"));
  EXPECT_THAT(against("[0.0]"), HasSubstr("shape: must be a list of sizes"));
  EXPECT_THAT(against("[1048576,1048576]"), HasSubstr("the shape has 1099511627776"));
  EXPECT_THAT(against("[1048576,1048577]"), HasSubstr("shape: is not possible"));
}

TEST(TensorsGrpc, a_parameter_is_a_truth_value_a_number_or_a_text) {
  Sample sample;
  sample.attachments.push_back({.name = "x", .type = "INT8", .shape = {1}, .bytes = "a"});
  const auto said = [&](std::string_view parameters) {
    sample.body = Json::object().set("parameters", *Json::parse(parameters));
    const auto body = make_body(Api::kserve_grpc, grpc_settings(), sample, false);
    return body ? body->bytes : body.error().message;
  };
  const auto entry = [](std::string_view name, const std::string& value) {
    return field(4, field(1, name) + field(2, value));
  };
  const std::string rest =
      field(5, field(1, "x") + field(2, "INT8") + field(3, "\x01")) + field(7, "a");
  EXPECT_EQ(said(R"({"b":false,"i":300,"t":"on","d":0.5,"binary_data":true})"),
            net::grpc_framed(field(1, "m") + entry("b", "\x08\x00"s) +
                             entry("i", "\x10" + varints({300})) + entry("t", field(3, "on")) +
                             entry("d", "\x21" + packed_bytes({0.5})) + rest));
  for (const char* const value : {"null", "[1]", "{}"}) {
    EXPECT_THAT(said(format(R"({{"p":{}}})", value)),
                HasSubstr("parameters.p: must be a truth value, a number or a text"));
  }
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

TEST(TensorsGrpc, a_replys_text_is_its_first_tensor_of_fp32_up_to_64_kib) {
  const auto text_of = [](const std::string& message) {
    std::string text;
    EXPECT_TRUE(grpc_reply(net::grpc_framed(message), &text).has_choice);
    return text;
  };
  const std::string two = output("FP32") + output("FP32");
  EXPECT_EQ(text_of(two + field(6, floats({1.5F})) + field(6, floats({2.0F}))), "AADAPw==");
  EXPECT_EQ(text_of(output("INT8") + field(6, "abcd")), "");
  EXPECT_EQ(text_of(output("FP32", field(2, "abcd") + field(6, floats({1.5F})))), "AADAPw==");
  const std::string most(std::size_t{1} << 16, 'x');
  EXPECT_NE(text_of(output("FP32") + field(6, most)), "");
  EXPECT_EQ(text_of(output("FP32") + field(6, most + "x")), "");
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
