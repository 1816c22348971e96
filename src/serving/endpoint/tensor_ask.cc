#include "endpoint/tensor_ask.h"

#include <algorithm>
#include <vector>

#include "base/format.h"
#include "base/hash.h"
#include "base/json.h"
#include "domain/tensor.h"
#include "endpoint/script.h"

namespace assay::endpoint {
namespace {

constexpr std::size_t kTensorsMax = 64;
constexpr std::string_view kModels = "/v2/models/";

ApiError bad_tensor(std::string_view why) { return {.message = std::string(why)}; }

std::vector<std::int64_t> shape_of(const Json& tensor) {
  std::vector<std::int64_t> out;
  for (const Json& size : tensor["shape"].items()) out.push_back(size.as_int(-1));
  return out;
}

// Lists in lists, or one flat list.
std::uint64_t count_numbers(const Json& data) {
  if (!data.is_array()) return 1;
  std::uint64_t out = 0;
  for (const Json& item : data.items()) out += count_numbers(item);
  return out;
}

// One input; takes its bytes from the front of `behind`.
std::variant<std::monostate, ApiError> read_input(const Json& tensor, std::string_view& behind,
                                                  Ask& ask) {
  const std::string_view name = tensor["name"].as_string();
  const std::string_view datatype = tensor["datatype"].as_string();
  const std::vector<std::int64_t> shape = shape_of(tensor);
  if (name.empty() || !tensor["shape"].is_array()) {
    return bad_tensor("each input needs name, shape and datatype");
  }
  std::uint64_t& hash = ask.vectors.inputs[0];
  const Json& size = tensor["parameters"]["binary_data_size"];
  if (!size.is_null()) {
    const auto bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(size.as_int(-1), 0));
    if (!size.is_integer() || size.as_int(-1) < 0 || bytes > behind.size()) {
      return bad_tensor(format("input '{}': fewer bytes came than its binary_data_size", name));
    }
    const std::string_view own = behind.substr(0, bytes);
    behind.remove_prefix(own.size());
    if (const auto sound = check_tensor(datatype, shape, own); !sound) {
      return bad_tensor(format("input '{}': {}", name, sound.error().message));
    }
    hash = mix(hash, xxh3(own));
  } else {
    if (!is_tensor_datatype(datatype)) {
      return bad_tensor(format("input '{}': unexpected datatype {}", name, json_quote(datatype)));
    }
    std::uint64_t elements = 1;
    for (const std::int64_t one : shape) {
      if (one < 0 ||
          (one > 0 && elements > (std::uint64_t{1} << 40) / static_cast<std::uint64_t>(one))) {
        return bad_tensor(format("input '{}': its shape is not possible", name));
      }
      elements *= static_cast<std::uint64_t>(one);
    }
    if (!tensor["data"].is_array() || count_numbers(tensor["data"]) != elements) {
      return bad_tensor(
          format("input '{}': its data are not the {} elements of its shape", name, elements));
    }
    hash = mix(hash, xxh3(tensor["data"].dump()));
  }
  if (ask.tensors.rows == 0 && !shape.empty() && shape[0] > 0) {
    ask.tensors.rows = static_cast<std::uint32_t>(std::min<std::int64_t>(shape[0], kInputsMax));
  }
  return std::monostate{};
}

std::variant<std::monostate, ApiError> read_outputs(const Json& json, Ask& ask) {
  const bool all_binary = json["parameters"]["binary_data_output"].as_bool(false);
  for (const Json& output : json["outputs"].items()) {
    const std::string_view name = output["name"].as_string();
    if (name.empty() || ask.tensors.outputs.size() == kTensorsMax) {
      return bad_tensor("each output needs a name, and there are at most 64");
    }
    const bool binary = output["parameters"]["binary_data"].as_bool(all_binary);
    ask.tensors.outputs.push_back({std::string(name), binary});
  }
  if (ask.tensors.outputs.empty()) ask.tensors.outputs.push_back({"scores", all_binary});
  return std::monostate{};
}

}  // namespace

std::variant<std::monostate, ApiError> read_tensor_ask(std::string_view body, Ask& ask) {
  ask.route = Route::kserve;
  const std::size_t json_bytes = ask.json_bytes == 0 ? body.size() : ask.json_bytes;
  if (json_bytes > body.size()) {
    return bad_tensor("Inference-Header-Content-Length is more than the body's length");
  }
  const auto json = Json::parse(body.substr(0, json_bytes));
  if (!json || !json->is_object()) return bad_tensor("the request is not a JSON object");
  const Json& inputs = (*json)["inputs"];
  if (!inputs.is_array() || inputs.size() == 0 || inputs.size() > kTensorsMax) {
    return bad_tensor("inputs: must be a list of 1 to 64 tensors");
  }
  ask.tensors.id = (*json)["id"].as_string();
  ask.vectors.inputs.assign(1, 0);
  std::string_view behind = body.substr(json_bytes);
  for (const Json& tensor : inputs.items()) {
    const auto read = read_input(tensor, behind, ask);
    if (const ApiError* const error = std::get_if<ApiError>(&read)) return *error;
  }
  if (!behind.empty()) {
    return bad_tensor(format("{} bytes are left behind the tensors", behind.size()));
  }
  ask.tensors.rows = std::max(ask.tensors.rows, 1U);
  return read_outputs(*json, ask);
}

bool read_tensor_path(std::string_view path, TensorPath& out) {
  if (!path.starts_with(kModels)) return false;
  path.remove_prefix(kModels.size());
  std::size_t end = std::min(path.find('/'), path.size());
  out.model = std::string(path.substr(0, end));
  path.remove_prefix(std::min(end + 1, path.size()));
  constexpr std::string_view kVersions = "versions/";
  if (path.starts_with(kVersions)) {
    path.remove_prefix(kVersions.size());
    end = std::min(path.find('/'), path.size());
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  out.what = path;
  return !out.model.empty();
}

}  // namespace assay::endpoint
