// A ModelInferRequest: the tensors of a call over gRPC.
#include <algorithm>
#include <vector>

#include "base/format.h"
#include "base/hash.h"
#include "base/protobuf.h"
#include "domain/tensor.h"
#include "endpoint/script.h"
#include "endpoint/tensor_ask.h"

namespace assay::endpoint {
namespace {

constexpr std::size_t kGrpcTensorsMax = 64;
constexpr std::uint64_t kGrpcElementsMax = std::uint64_t{1} << 40;

ApiError bad_message(std::string_view why) { return {.message = std::string(why)}; }

struct Input {
  std::string_view name{};
  std::string_view datatype{};
  std::vector<std::int64_t> shape{};
  std::string_view contents{};
};

// A field of whole numbers, one by one or packed.
void add_numbers(const ProtoField& field, std::vector<std::int64_t>& out) {
  if (field.form != ProtoField::Form::bytes) {
    out.push_back(static_cast<std::int64_t>(field.value));
    return;
  }
  for (ByteReader packed(field.bytes); !packed.at_end() && out.size() < kGrpcTensorsMax;) {
    out.push_back(static_cast<std::int64_t>(packed.varint()));
  }
}

bool read_proto_input(std::string_view message, Input& out) {
  ProtoReader reader(message);
  while (!reader.done()) {
    const ProtoField field = reader.next();
    if (field.number == 1) out.name = field.bytes;
    if (field.number == 2) out.datatype = field.bytes;
    if (field.number == 3) add_numbers(field, out.shape);
    if (field.number == 5) out.contents = field.bytes;
  }
  return !reader.broken();
}

std::uint64_t varints_in(std::string_view packed) {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(packed, [](char c) { return static_cast<signed char>(c) >= 0; }));
}

// The elements in InferTensorContents.
std::uint64_t elements_in(std::string_view contents) {
  std::uint64_t out = 0;
  for (ProtoReader reader(contents); !reader.done();) {
    const ProtoField field = reader.next();
    if (field.number == 8 || field.form != ProtoField::Form::bytes) {
      ++out;
    } else if (field.number == 6) {
      out += field.bytes.size() / sizeof(float);
    } else if (field.number == 7) {
      out += field.bytes.size() / sizeof(double);
    } else {
      out += varints_in(field.bytes);
    }
  }
  return out;
}

std::variant<std::monostate, ApiError> check_contents(const Input& input) {
  if (!is_tensor_datatype(input.datatype)) {
    return bad_message(format("input '{}': unexpected datatype '{}'", input.name, input.datatype));
  }
  std::uint64_t elements = 1;
  for (const std::int64_t one : input.shape) {
    if (one < 0 || (one > 0 && elements > kGrpcElementsMax / static_cast<std::uint64_t>(one))) {
      return bad_message(format("input '{}': its shape is not possible", input.name));
    }
    elements *= static_cast<std::uint64_t>(one);
  }
  if (elements_in(input.contents) != elements) {
    return bad_message(format("input '{}': its contents are not the {} elements of its shape",
                              input.name, elements));
  }
  return std::monostate{};
}

std::variant<std::monostate, ApiError> take_input(const Input& input, const std::string_view* raw,
                                                  Ask& ask) {
  std::uint64_t& hash = ask.vectors.inputs[0];
  if (input.name.empty()) return bad_message("each input needs name, shape and datatype");
  if (raw != nullptr) {
    if (!input.contents.empty()) {
      return bad_message(
          format("input '{}': has contents, and raw_input_contents came", input.name));
    }
    if (const auto sound = check_tensor(input.datatype, input.shape, *raw); !sound) {
      return bad_message(format("input '{}': {}", input.name, sound.error().message));
    }
    hash = mix(hash, xxh3(*raw));
  } else {
    const auto sound = check_contents(input);
    if (const ApiError* const error = std::get_if<ApiError>(&sound)) return *error;
    hash = mix(hash, xxh3(input.contents));
  }
  if (ask.tensors.rows == 0 && !input.shape.empty() && input.shape[0] > 0) {
    ask.tensors.rows =
        static_cast<std::uint32_t>(std::min<std::int64_t>(input.shape[0], kInputsMax));
  }
  return std::monostate{};
}

}  // namespace

std::variant<std::monostate, ApiError> read_tensor_grpc_ask(std::string_view message, Ask& ask) {
  ask.route = Route::kserve_grpc;
  std::vector<Input> inputs;
  std::vector<std::string_view> raw;
  ProtoReader reader(message);
  while (!reader.done()) {
    const ProtoField field = reader.next();
    if (field.number == 1) ask.model = field.bytes;
    if (field.number == 3) ask.tensors.id = field.bytes;
    if (field.number == 7 && raw.size() <= kGrpcTensorsMax) raw.push_back(field.bytes);
    if (field.number == 5 && inputs.size() <= kGrpcTensorsMax) {
      if (!read_proto_input(field.bytes, inputs.emplace_back()))
        return bad_message("an input is cut off");
    }
    if (field.number != 6) continue;
    Input output;
    if (!read_proto_input(field.bytes, output)) return bad_message("an output is cut off");
    if (output.name.empty() || ask.tensors.outputs.size() == kGrpcTensorsMax) {
      return bad_message("each output needs a name, and there are at most 64");
    }
    ask.tensors.outputs.push_back({std::string(output.name), true});
  }
  if (reader.broken()) return bad_message("the request is not a ModelInferRequest");
  if (inputs.empty() || inputs.size() > kGrpcTensorsMax) {
    return bad_message("inputs: must be a list of 1 to 64 tensors");
  }
  if (!raw.empty() && raw.size() != inputs.size()) {
    return bad_message(
        format("{} raw_input_contents came for {} inputs", raw.size(), inputs.size()));
  }
  ask.vectors.inputs.assign(1, 0);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto taken = take_input(inputs[i], raw.empty() ? nullptr : &raw[i], ask);
    if (const ApiError* const error = std::get_if<ApiError>(&taken)) return *error;
  }
  ask.tensors.rows = std::max(ask.tensors.rows, 1U);
  if (ask.tensors.outputs.empty()) ask.tensors.outputs.push_back({"scores", true});
  for (TensorOutput& output : ask.tensors.outputs) output.binary = !raw.empty();
  return std::monostate{};
}

}  // namespace assay::endpoint
