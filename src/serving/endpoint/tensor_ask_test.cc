// What the endpoint takes for a request of tensors.
#include "endpoint/tensor_ask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/format.h"

namespace assay::endpoint {
namespace {

using testing::HasSubstr;

std::string tensor_trouble(std::string_view json, std::string_view behind = "",
                           Ask* out = nullptr) {
  Ask ask;
  ask.json_bytes = behind.empty() ? 0 : json.size();
  const auto read = read_tensor_ask(std::string(json).append(behind), ask);
  if (out != nullptr) *out = ask;
  const auto* const error = std::get_if<ApiError>(&read);
  return error == nullptr ? "" : error->message;
}

TEST(TensorAsk, tensors_come_as_numbers_or_as_bytes) {
  Ask numbers;
  EXPECT_EQ(tensor_trouble(R"({"id":"7","inputs":[{"name":"x","shape":[2,2],"datatype":"FP32",
    "data":[[1,2],[3,4]]}],"outputs":[{"name":"y","parameters":{"binary_data":true}}]})",
                           "", &numbers),
            "");
  EXPECT_EQ(numbers.tensors.rows, 2U);
  EXPECT_EQ(numbers.tensors.id, "7");
  ASSERT_EQ(numbers.tensors.outputs.size(), 1U);
  EXPECT_TRUE(numbers.tensors.outputs[0].binary);
  const std::string_view json = R"({"inputs":[{"name":"x","shape":[1,2],"datatype":"INT8",
    "parameters":{"binary_data_size":2}}],"parameters":{"binary_data_output":true}})";
  Ask bytes;
  EXPECT_EQ(tensor_trouble(json, "ab", &bytes), "");
  EXPECT_TRUE(bytes.tensors.outputs[0].binary);
  Ask others;
  EXPECT_EQ(tensor_trouble(json, "ac", &others), "");
  EXPECT_NE(bytes.vectors.inputs[0], others.vectors.inputs[0]);
}

TEST(TensorAsk, what_does_not_fit_is_refused) {
  const std::string_view json =
      R"({"inputs":[{"name":"x","shape":[2],"datatype":"INT8","parameters":{"binary_data_size":2}}]})";
  EXPECT_THAT(tensor_trouble(json, "a"), HasSubstr("fewer bytes came"));
  EXPECT_THAT(tensor_trouble(json, "abc"), HasSubstr("1 bytes are left"));
  EXPECT_THAT(tensor_trouble(json), HasSubstr("fewer bytes came"));
  EXPECT_THAT(
      tensor_trouble(R"({"inputs":[{"name":"x","shape":[3],"datatype":"INT8","data":[1]}]})"),
      HasSubstr("not the 3 elements"));
  EXPECT_THAT(tensor_trouble(R"({"inputs":[{"name":"x","shape":[1],"datatype":"F","data":[1]}]})"),
              HasSubstr("unexpected datatype"));
  EXPECT_THAT(tensor_trouble(R"({"inputs":[]})"), HasSubstr("1 to 64"));
  EXPECT_THAT(tensor_trouble("[]"), HasSubstr("not a JSON object"));
  Ask ask;
  ask.json_bytes = 99;
  const auto read = read_tensor_ask("{}", ask);
  EXPECT_TRUE(std::holds_alternative<ApiError>(read));
}

TEST(TensorAsk, a_path_names_the_model_and_maybe_its_version) {
  TensorPath path;
  EXPECT_TRUE(read_tensor_path("/v2/models/m/infer", path));
  EXPECT_EQ(path.model + " " + std::string(path.what), "m infer");
  EXPECT_TRUE(read_tensor_path("/v2/models/m/versions/3/ready", path));
  EXPECT_EQ(path.model + " " + std::string(path.what), "m ready");
  EXPECT_TRUE(read_tensor_path("/v2/models/m", path));
  EXPECT_EQ(path.what, "");
  EXPECT_FALSE(read_tensor_path("/v2/models/", path));
  EXPECT_FALSE(read_tensor_path("/v2/health/live", path));
}

}  // namespace
}  // namespace assay::endpoint
