// The contents of a request to a tensor server (KServe's open inference protocol): JSON,
// with the bytes of tensors behind it where the head said how long the JSON is. Pure; any thread.
#pragma once

#include <string_view>
#include <variant>

#include "endpoint/ask.h"

namespace assay::endpoint {

// `ask.json_bytes` is the JSON's length, 0 where the whole body is JSON.
std::variant<std::monostate, ApiError> read_tensor_ask(std::string_view body, Ask& ask);

// The same over gRPC: a ModelInferRequest, without its prefix. Gives the model too.
std::variant<std::monostate, ApiError> read_tensor_grpc_ask(std::string_view message, Ask& ask);

// The path of a call, up to its name.
inline constexpr std::string_view kGrpcService = "/inference.GRPCInferenceService/";

// "/v2/models/NAME/infer" and "/v2/models/NAME/versions/V/infer", and what else stands behind the
// name ("" or "ready"). False where the path is none of a model's.
struct TensorPath {
  std::string model{};
  std::string_view what{};
};
bool read_tensor_path(std::string_view path, TensorPath& out);

}  // namespace assay::endpoint
