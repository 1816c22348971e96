// KServe's requests and replies: where the bytes stand, and what is no reply.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "domain/tensor.h"
#include "net/url.h"
#include "protocol/codec.h"
#include "protocol/kind/kind.h"

namespace assay::protocol {
namespace {

using testing::HasSubstr;

Generation tensor_settings() { return {.model = "m", .stream = false}; }

Sample tensor_sample() {
  Sample sample;
  const float numbers[2] = {1.5F, -2.0F};
  std::string bytes(sizeof(numbers), '\0');
  std::memcpy(bytes.data(), numbers, sizeof(numbers));
  sample.attachments.push_back({.name = "x", .type = "FP32", .shape = {1, 2}, .bytes = bytes});
  std::string texts;
  append_tensor_text(texts, "hi");
  sample.attachments.push_back({.name = "t", .type = "BYTES", .shape = {1}, .bytes = texts});
  return sample;
}

TEST(TensorRequest, bytes_follow_the_json_whose_length_a_header_has) {
  const Sample sample = tensor_sample();
  const auto body = make_body(Api::kserve, tensor_settings(), sample, false);
  ASSERT_TRUE(body) << body.error().message;
  const std::string json =
      R"({"inputs":[{"name":"x","shape":[1,2],"datatype":"FP32","parameters":{"binary_data_size":8}},)"
      R"({"name":"t","shape":[1],"datatype":"BYTES","parameters":{"binary_data_size":6}}],)"
      R"("parameters":{"binary_data_output":true}})";
  EXPECT_EQ(body->bytes, json + sample.attachments[0].bytes + sample.attachments[1].bytes);
  EXPECT_EQ(body->asked.choices, 1);
  const auto headers =
      request_headers({.urls = {"http://h"}, .api = Api::kserve}, false, "", body->headers);
  ASSERT_TRUE(headers);
  EXPECT_THAT(*headers, testing::Contains(Header("Content-Type", "application/octet-stream")));
  EXPECT_THAT(*headers, testing::Contains(Header("Inference-Header-Content-Length",
                                                 std::to_string(json.size()))));
}

TEST(TensorRequest, numbers_stand_in_the_json_where_that_is_asked) {
  const auto body = make_body(Api::kserve_json, tensor_settings(), tensor_sample(), false);
  ASSERT_TRUE(body) << body.error().message;
  EXPECT_EQ(body->bytes,
            R"({"inputs":[{"name":"x","shape":[1,2],"datatype":"FP32","data":[1.5,-2.0]},)"
            R"({"name":"t","shape":[1],"datatype":"BYTES","data":["hi"]}]})");
  EXPECT_TRUE(body->headers.empty());
  Sample half;
  half.attachments.push_back({.name = "h", .type = "FP16", .shape = {1}, .bytes = "ab"});
  EXPECT_TRUE(make_body(Api::kserve, tensor_settings(), half, false));
  const auto refused = make_body(Api::kserve_json, tensor_settings(), half, false);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("JSON has no FP16"));
}

TEST(TensorRequest, every_type_of_number_is_written_with_its_width_and_sign) {
  struct Typed {
    const char* type;
    std::string bytes;
    const char* data;
  };
  const std::string all(8, '\xFF');
  for (const Typed& row :
       {Typed{"BOOL", std::string("\0\1", 2), "[false,true]"},
        Typed{"UINT8", "\xFF\x01", "[255,1]"}, Typed{"INT8", "\xFF\x01", "[-1,1]"},
        Typed{"UINT16", all.substr(0, 2) + std::string("\1\0", 2), "[65535,1]"},
        Typed{"INT16", all.substr(0, 2) + std::string("\1\0", 2), "[-1,1]"},
        Typed{"UINT32", all.substr(0, 4), "[4294967295]"}, Typed{"INT32", all.substr(0, 4), "[-1]"},
        Typed{"UINT64", all, "[18446744073709551615]"}, Typed{"INT64", all, "[-1]"},
        Typed{"FP64", std::string("\0\0\0\0\0\0\xF8\x3F", 8), "[1.5]"}}) {
    Sample sample;
    const auto size = static_cast<std::int64_t>(row.bytes.size() /
                                                (std::string_view(row.type).ends_with("64")   ? 8
                                                 : std::string_view(row.type).ends_with("32") ? 4
                                                 : std::string_view(row.type).ends_with("16") ? 2
                                                                                              : 1));
    sample.attachments.push_back(
        {.name = "x", .type = row.type, .shape = {size}, .bytes = row.bytes});
    const auto body = make_body(Api::kserve_json, tensor_settings(), sample, false);
    ASSERT_TRUE(body) << body.error().message;
    EXPECT_THAT(body->bytes, HasSubstr(std::string(R"("data":)") + row.data)) << row.type;
  }
}

TEST(TensorRequest, a_tensor_whose_bytes_are_not_its_shapes_is_refused) {
  Sample sample;
  sample.attachments.push_back({.name = "x", .type = "INT32", .shape = {2}, .bytes = "1234"});
  for (const Api api : {Api::kserve, Api::kserve_json}) {
    const auto refused = make_body(api, tensor_settings(), sample, false);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("tensor 'x'"));
  }
  sample.attachments[0] = {.name = "b", .type = "BF16", .shape = {1}, .bytes = "12"};
  EXPECT_THAT(make_body(Api::kserve_json, tensor_settings(), sample, false).error().message,
              HasSubstr("JSON has no BF16"));
}

TEST(TensorRequest, whether_outputs_are_bytes_is_the_rows_to_say) {
  Sample sample = tensor_sample();
  const auto asked = [&](std::string_view row) {
    sample.body = *Json::parse(row);
    return make_body(Api::kserve, tensor_settings(), sample, false)->bytes;
  };
  EXPECT_THAT(asked("{}"), HasSubstr(R"("parameters":{"binary_data_output":true}})"));
  EXPECT_THAT(asked(R"({"parameters":{"k":1}})"),
              HasSubstr(R"("parameters":{"k":1,"binary_data_output":true}})"));
  EXPECT_THAT(asked(R"({"parameters":{"binary_data_output":false}})"),
              HasSubstr(R"("parameters":{"binary_data_output":false}})"));
  EXPECT_THAT(asked(R"({"outputs":[{"name":"y"}]})"), HasSubstr(R"("outputs":[{"name":"y"}]})"));
  EXPECT_THAT(asked(R"({"inputs":[{"name":"own"}],"more":2})"),
              HasSubstr(R"({"name":"own"}],"more":2)"));
}

TEST(TensorRequest, a_rows_own_json_is_sent_as_it_is) {
  Sample sample;
  sample.body = *Json::parse(R"({"inputs":[{"name":"x","shape":[1],"datatype":"INT8","data":[1]}],
    "outputs":[{"name":"y"}],"parameters":{"k":1}})");
  const auto body = make_body(Api::kserve, tensor_settings(), sample, false);
  ASSERT_TRUE(body) << body.error().message;
  EXPECT_EQ(body->bytes, R"({"inputs":[{"name":"x","shape":[1],"datatype":"INT8","data":[1]}],)"
                         R"("outputs":[{"name":"y"}],"parameters":{"k":1}})");
  EXPECT_THAT(
      make_body(Api::kserve, tensor_settings(), Sample{.prompt = "p"}, false).error().message,
      HasSubstr("no tensors"));
  EXPECT_THAT(make_body(Api::kserve, tensor_settings(), tensor_sample(), true).error().message,
              HasSubstr("no text to salt"));
}

TEST(TensorRequest, the_model_stands_in_the_route) {
  const auto target = [](std::string_view url, std::string_view model) {
    return request_target(*net::parse_url(url), Api::kserve, model);
  };
  EXPECT_EQ(target("http://h", "m"), "/v2/models/m/infer");
  EXPECT_EQ(target("http://h/up/", "a b/c"), "/up/v2/models/a%20b%2Fc/infer");
  EXPECT_EQ(target("http://h/v2/models/x/versions/3/infer?k=v", "m"),
            "/v2/models/x/versions/3/infer?k=v");
}

DecodedEvent tensor_reply(std::string text) {
  const std::size_t size = text.size();
  text.append(kDecodePadding, '\\');
  ReplyDecoder decoder;
  DecodedEvent event;
  decoder.decode_reply(Api::kserve, {text.data(), size}, event);
  event.error = {};
  return event;
}

TEST(TensorReply, raw_control_bytes_in_its_strings_are_counted) {
  std::string text = "{\"model_name\":\"a\tb\n\",\"outputs\":[{\"name\":\"\x01\",\"data\":[1]}]}";
  const std::size_t size = text.size();
  text.append(kDecodePadding, '\\');
  ReplyFields fields;
  ASSERT_TRUE(read_tensors({text.data(), size}, fields));
  EXPECT_EQ(fields.raw_controls, 3U);
  EXPECT_EQ(fields.units, 1U);
  EXPECT_TRUE(fields.has_choice);
}

TEST(TensorReply, its_json_and_the_bytes_behind_it_must_agree) {
  const std::string json =
      R"({"model_name":"m","outputs":[{"name":"y","parameters":{"binary_data_size":3}},)"
      R"({"name":"z","shape":[1],"data":[1.5]}]})";
  EXPECT_TRUE(tensor_reply(json + " \n}").has_choice);
  EXPECT_EQ(tensor_reply(json + "abc").units, 2U);
  EXPECT_FALSE(tensor_reply(json + "ab").has_choice);
  EXPECT_FALSE(tensor_reply(json + "abcd").has_choice);
  EXPECT_TRUE(tensor_reply(R"({"outputs":[{"name":"y","data":[1]}]})"
                           "\n")
                  .has_choice);
  EXPECT_TRUE(tensor_reply(R"({"outputs":[{"name":"y","data":[1]}]}x)").malformed);
  EXPECT_FALSE(tensor_reply(R"({"outputs":[]})").has_choice);
  EXPECT_EQ(tensor_reply(R"({"error":"no such model"})").category, Category::error);
}

TEST(TensorReply, sizes_are_added_up_and_what_is_no_size_adds_nothing) {
  const auto outputs = [](std::string_view list) {
    return std::string(R"({"outputs":[)") + std::string(list) + "]}";
  };
  const std::string one = R"({"parameters":{"binary_data_size":1}})";
  EXPECT_TRUE(tensor_reply(outputs(one) + "a").has_choice) << "a single byte";
  EXPECT_TRUE(tensor_reply(outputs(one + "," + one) + "ab").has_choice);
  EXPECT_EQ(tensor_reply(outputs(one + "," + one) + "ab").units, 2U);
  EXPECT_FALSE(tensor_reply(outputs(one + "," + one) + "a").has_choice);
  EXPECT_TRUE(tensor_reply(outputs(R"({"parameters":{"binary_data_size":0}})")).has_choice);
  EXPECT_TRUE(tensor_reply(outputs(R"({"others":{"binary_data_size":4}})")).has_choice);
  EXPECT_TRUE(tensor_reply(outputs(R"({"parameters":{"binary_data_size":-4}})")).has_choice);
  EXPECT_TRUE(tensor_reply(outputs(R"({"parameters":{"other":4}})")).has_choice);
  EXPECT_TRUE(tensor_reply(outputs("5,{}")).has_choice);
  // The last of repeated keys counts.
  const std::string twice = R"({"outputs":[)" + one + R"(],"outputs":[{},{}]})";
  EXPECT_EQ(tensor_reply(twice).units, 2U);
  EXPECT_FALSE(tensor_reply(R"({"outputs":{}})").has_choice);
  EXPECT_TRUE(tensor_reply("[1]").malformed);
  EXPECT_TRUE(tensor_reply(R"({"outputs":[{"name":"y","data":[1)").malformed) << "it was cut off";
  EXPECT_TRUE(tensor_reply(R"({"outputs":[{"name":"y","data":[1]}],"error":})").malformed);
}

TEST(TensorReply, a_list_of_numbers_has_as_many_as_its_shape_says) {
  const auto good = [](std::string_view shape, std::string_view data) {
    return tensor_reply(R"({"outputs":[{"name":"y","shape":)" + std::string(shape) +
                        R"(,"datatype":"FP32","data":)" + std::string(data) + "}]}")
        .has_choice;
  };
  EXPECT_TRUE(good("[2,3]", "[1,2,3,4,5,6]"));
  EXPECT_TRUE(good("[2,3]", "[[1,2,3],[4,5,6]]")) << "lists of lists, as the protocol allows";
  EXPECT_FALSE(good("[2,3]", "[1,2,3,4,5]"));
  EXPECT_FALSE(good("[2,3]", "[[1,2,3],[4,5,6],[7]]"));
  EXPECT_TRUE(good("[2]", R"(["a [","b"])")) << "BYTES";
  EXPECT_TRUE(good("[0,7]", "[]"));
  EXPECT_FALSE(good("[0,7]", "[1]"));
  EXPECT_TRUE(good("[]", "[1]")) << "a scalar";
  EXPECT_FALSE(good("[2147483647,2147483647,2147483647,2147483647]", "[1]"));
  EXPECT_FALSE(good("[65536,65536,65536,65536]", "[]")) << "2 to the 64th";
  EXPECT_FALSE(good("[-1]", "[1]")) << "a shape of a reply is whole";
  EXPECT_TRUE(good("null", "[1,2]")) << "no shape, nothing to hold it against";
  // One output of several counts as much.
  EXPECT_FALSE(
      tensor_reply(R"({"outputs":[{"shape":[1],"data":[]},{"shape":[1],"data":[1]}]})").has_choice);
}

// The text of a reply: what a scorer reads.
std::string payload_of(std::string text) {
  const std::size_t size = text.size();
  text.append(kDecodePadding, '\\');
  ReplyDecoder decoder;
  DecodedEvent event;
  decoder.decode_reply(Api::kserve, {text.data(), size}, event);
  EXPECT_LE(event.fragment_count, 1);
  return event.fragment_count == 0 ? "" : std::string(event.fragments[0].text);
}

std::string two_outputs(std::size_t bytes) {
  return R"({"outputs":[{"name":"n","datatype":"INT64","parameters":{"binary_data_size":3}},)"
         R"({"name":"y","datatype":"FP32","parameters":{"binary_data_size":)" +
         std::to_string(bytes) + "}}]}abc" + std::string(bytes, 'x');
}

TEST(TensorReply, the_first_output_of_fp32_is_its_text) {
  EXPECT_EQ(payload_of(two_outputs(4)), "eHh4eA==");
  EXPECT_EQ(payload_of(R"({"outputs":[{"name":"n","datatype":"INT64","data":[1]},)"
                       R"({"datatype":"FP32","data":[1.5, 2],"name":"y"},)"
                       R"({"datatype":"FP32","data":[3],"name":"z"}]})"),
            "[1.5, 2]");
  EXPECT_EQ(payload_of(R"({"outputs":[{"name":"n","datatype":"INT64","data":[1]}]})"), "");
  // An image without detections: an output of no bytes.
  EXPECT_EQ(payload_of(R"({"outputs":[{"name":"y","datatype":"FP32","shape":[0,7],)"
                       R"("parameters":{"binary_data_size":0}}]})"),
            "");
  EXPECT_EQ(payload_of(two_outputs(65536)).size(), 87384U);
  EXPECT_EQ(payload_of(two_outputs(65540)), "");
  for (const std::size_t size : {131'072U, 131'073U}) {
    const std::string data = "[1.5" + std::string(size - 5, ' ') + "]";
    EXPECT_EQ(payload_of(R"({"outputs":[{"name":"y","datatype":"FP32","data":)" + data + "}]}"),
              size == 131'072 ? data : "");
  }
}

}  // namespace
}  // namespace assay::protocol
