// KServe's open inference protocol over gRPC: the tensors of tensors.cc in a ModelInferRequest. A
// row's arrays go as raw_input_contents; a row's `inputs` in the protocol's JSON as typed contents.
// The message is written once a sample, before the run, from the same JSON as the HTTP kinds have,
// so extra_body and a row's overrides work alike.
//
// A reply may have either form. Its first output of FP32 is the text for scorers, as in tensors.cc.
#include <array>
#include <bit>
#include <limits>

#include "base/format.h"
#include "base/protobuf.h"
#include "net/grpc.h"
#include "protocol/kind/kind.h"

namespace assay::protocol {
namespace {

// Field numbers of the protocol's messages.
namespace request {
constexpr std::uint32_t kModelName = 1;
constexpr std::uint32_t kModelVersion = 2;
constexpr std::uint32_t kId = 3;
constexpr std::uint32_t kParameters = 4;
constexpr std::uint32_t kInputs = 5;
constexpr std::uint32_t kOutputs = 6;
constexpr std::uint32_t kRaw = 7;
}  // namespace request
namespace reply {
constexpr std::uint64_t kOutputs = 5;
constexpr std::uint64_t kRaw = 6;
}  // namespace reply
namespace tensor {
constexpr std::uint32_t kName = 1;
constexpr std::uint32_t kDatatype = 2;
constexpr std::uint32_t kShape = 3;
constexpr std::uint32_t kParameters = 4;
constexpr std::uint32_t kContents = 5;
}  // namespace tensor
constexpr std::uint32_t kOutputParameters = 2;
constexpr std::uint32_t kContentsFp32 = 6;

// As in tensors.cc.
constexpr std::size_t kGrpcPayloadMax = std::size_t{1} << 16;

Error bad(std::string_view what, std::string_view why) {
  return invalid(format("sample: {}: {}", what, why));
}

// A map from names to InferParameter.
Result<void> put_parameters(std::string& out, std::uint32_t field, const Json& parameters,
                            std::string_view whose) {
  for (const auto& [name, value] : parameters.members()) {
    if (name == "binary_data_size" || name == "binary_data" || name == "binary_data_output") {
      continue;  // of HTTP
    }
    std::string one;
    if (value.is_bool()) {
      put_proto_number(one, 1, value.as_bool() ? 1 : 0);
    } else if (value.is_integer()) {
      put_proto_number(one, 2, static_cast<std::uint64_t>(value.as_int()));
    } else if (value.is_string()) {
      put_proto_bytes(one, 3, value.as_string());
    } else if (value.is_number()) {
      const auto bits = std::bit_cast<std::uint64_t>(value.as_double());
      put_proto_varint(one, 4U << 3 | 1);
      one.append(reinterpret_cast<const char*>(&bits), sizeof(bits));
    } else {
      return bad(whose, format("parameters.{}: must be a truth value, a number or a text", name));
    }
    std::string entry;
    put_proto_text(entry, 1, name);
    put_proto_bytes(entry, 2, one);
    put_proto_bytes(out, field, entry);
  }
  return {};
}

// Numbers of one datatype in InferTensorContents.
struct Contents {
  std::uint32_t field = 0;
  int bits = 0;  // 0: a floating-point number; 1: a truth value
  bool is_signed = false;
};
constexpr std::array<std::pair<std::string_view, Contents>, 11> kContents{
    {{"BOOL", {1, 1}},
     {"INT8", {2, 8, true}},
     {"INT16", {2, 16, true}},
     {"INT32", {2, 32, true}},
     {"INT64", {3, 64, true}},
     {"UINT8", {4, 8}},
     {"UINT16", {4, 16}},
     {"UINT32", {4, 32}},
     {"UINT64", {5, 64}},
     {"FP32", {kContentsFp32}},
     {"FP64", {7}}}};
constexpr std::uint32_t kContentsBytes = 8;

bool fits(const Json& value, const Contents& form) {
  if (form.bits == 1) return value.is_bool();
  if (form.bits == 0) return value.is_number();
  if (!value.is_integer()) return false;
  if (!form.is_signed && form.bits == 64) return value.as_int(-1) >= 0;
  if (form.bits == 64) return true;
  const std::int64_t most = std::int64_t{1} << (form.is_signed ? form.bits - 1 : form.bits);
  const std::int64_t number = value.as_int();
  return number < most && number >= (form.is_signed ? -most : 0);
}

// Lists in lists, or one flat list. False where a value does not fit the datatype.
bool put_numbers(std::string& out, const Json& data, const Contents& form, std::uint64_t& count) {
  if (data.is_array()) {
    for (const Json& item : data.items()) {
      if (!put_numbers(out, item, form, count)) return false;
    }
    return true;
  }
  if (!fits(data, form)) return false;
  ++count;
  if (form.bits == 1) {
    put_proto_varint(out, data.as_bool() ? 1 : 0);
  } else if (form.bits > 1) {
    put_proto_varint(out, static_cast<std::uint64_t>(data.as_int()));
  } else if (form.field == kContentsFp32) {
    const auto value = static_cast<float>(data.as_double());
    out.append(reinterpret_cast<const char*>(&value), sizeof(value));
  } else {
    const double value = data.as_double();
    out.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  return true;
}

bool put_texts(std::string& out, const Json& data, std::uint64_t& count) {
  if (data.is_array()) {
    for (const Json& item : data.items()) {
      if (!put_texts(out, item, count)) return false;
    }
    return true;
  }
  if (!data.is_string()) return false;
  ++count;
  put_proto_bytes(out, kContentsBytes, data.as_string());
  return true;
}

Result<std::string> contents_of(const Json& input, std::uint64_t elements) {
  const std::string whose = format("inputs: tensor '{}'", input["name"].as_string());
  const std::string_view type = input["datatype"].as_string();
  std::string out;
  std::uint64_t count = 0;
  bool fit = false;
  if (type == "BYTES") {
    fit = put_texts(out, input["data"], count);
  } else {
    const auto form =
        std::ranges::find(kContents, type, &std::pair<std::string_view, Contents>::first);
    if (form == kContents.end()) {
      return bad(whose, format("a message of numbers has no datatype '{}'; give the tensor as an "
                               "array (.npy, .npz)",
                               type));
    }
    std::string packed;
    fit = put_numbers(packed, input["data"], form->second, count);
    put_proto_bytes(out, form->second.field, packed);
  }
  if (!fit) return bad(whose, format("data: a value is none of datatype {}", type));
  if (count != elements) {
    return bad(whose, format("data: {} elements, and the shape has {}", count, elements));
  }
  return out;
}

Result<std::string> input_of(const Json& input, bool typed) {
  std::string out;
  const std::string whose = format("inputs: tensor '{}'", input["name"].as_string());
  put_proto_text(out, tensor::kName, input["name"].as_string());
  put_proto_text(out, tensor::kDatatype, input["datatype"].as_string());
  std::string shape;
  std::uint64_t elements = 1;
  for (const Json& size : input["shape"].items()) {
    if (!size.is_integer() || size.as_int() < 0 || size.as_int() > (std::int64_t{1} << 32)) {
      return bad(whose, "shape: must be a list of sizes");
    }
    elements *= static_cast<std::uint64_t>(size.as_int());
    if (elements > std::uint64_t{1} << 40) return bad(whose, "shape: is not possible");
    put_proto_varint(shape, static_cast<std::uint64_t>(size.as_int()));
  }
  put_proto_text(out, tensor::kShape, shape);
  TRY(put_parameters(out, tensor::kParameters, input["parameters"], whose));
  if (!typed) return out;
  ASSIGN_OR_RETURN(const std::string contents, contents_of(input, elements));
  put_proto_bytes(out, tensor::kContents, contents);
  return out;
}

struct Output {
  bool fp32 = false;
  std::string_view contents{};
};

bool read_tensor(std::string_view message, Output& out) {
  ProtoReader reader(message);
  while (!reader.done()) {
    const ProtoField field = reader.next();
    if (field.number == tensor::kDatatype) out.fp32 = field.bytes == "FP32";
    if (field.number == tensor::kContents) out.contents = field.bytes;
  }
  return !reader.broken();
}

// The packed numbers of FP32; nothing where a server sends them one by one.
std::string_view numbers_in(std::string_view contents) {
  ProtoReader reader(contents);
  std::string_view out;
  while (!reader.done()) {
    const ProtoField field = reader.next();
    if (field.number == kContentsFp32) out = field.bytes;
  }
  return out;
}

}  // namespace

Result<void> check_tensors_grpc(const Sample& sample) {
  TRY(check_tensors(sample));
  if (!sample.attachments.empty() && sample.body["inputs"].size() > 0) {
    return invalid(
        "sample: has arrays and `inputs`: over gRPC all tensors are bytes, or none; give all of "
        "them as arrays");
  }
  return {};
}

Json tensors_grpc_body(const Generation& generation, const Sample& sample, char filler) {
  Sample without_arrays;
  without_arrays.body = sample.body;
  Json body = tensors_json_body(generation, without_arrays, filler);
  if (!sample.attachments.empty())
    body.set("inputs", tensors_body(generation, sample, filler)["inputs"]);
  if (body.find("model_name") == nullptr) body.set("model_name", generation.model);
  return body;
}

Result<void> encode_tensors_grpc(const Json& body, const Sample& sample, RequestBody& out) {
  const bool typed = sample.attachments.empty();
  std::string message;
  put_proto_text(message, request::kModelName, body["model_name"].as_string());
  put_proto_text(message, request::kModelVersion, body["model_version"].as_string());
  put_proto_text(message, request::kId, body["id"].as_string());
  TRY(put_parameters(message, request::kParameters, body["parameters"], "parameters"));
  for (const Json& input : body["inputs"].items()) {
    ASSIGN_OR_RETURN(const std::string one, input_of(input, typed));
    put_proto_bytes(message, request::kInputs, one);
  }
  for (const Json& output : body["outputs"].items()) {
    std::string one;
    put_proto_text(one, tensor::kName, output["name"].as_string());
    TRY(put_parameters(one, kOutputParameters, output["parameters"], "outputs"));
    put_proto_bytes(message, request::kOutputs, one);
  }
  for (const Attachment& own : sample.attachments) {
    put_proto_bytes(message, request::kRaw, own.bytes);
  }
  if (message.size() > std::numeric_limits<std::uint32_t>::max()) {
    return invalid("sample: its tensors are more than the 4 GiB that a message of gRPC holds");
  }
  out.bytes = net::grpc_framed(message);
  return {};
}

bool read_tensors_grpc(std::string_view text, ReplyFields& out) {
  const auto framed = net::grpc_message_of(text);
  if (!framed) return false;
  if (framed->compressed) {
    // Its reader looks up to 16 bytes behind a text, as everywhere.
    constexpr std::string_view kPadded =
        R"("the message is compressed, which was not asked for"                )";
    out.error = kPadded.substr(0, kPadded.rfind('"') + 1);
    return true;
  }
  std::uint32_t outputs = 0;
  std::uint32_t chosen = 0;  // the first output of FP32, counted from 1
  Output first;
  std::uint32_t raw = 0;
  ProtoReader reader(framed->bytes);
  while (!reader.done()) {
    const ProtoField field = reader.next();
    if (field.number == reply::kRaw) ++raw;
    if (field.number != reply::kOutputs) continue;
    ++outputs;
    Output one;
    if (!read_tensor(field.bytes, one)) return false;
    if (one.fp32 && chosen == 0) {
      chosen = outputs;
      first = one;
    }
  }
  if (reader.broken()) return false;
  out.units = outputs;
  out.has_choice = outputs > 0 && (raw == 0 || raw == outputs);
  if (!out.has_choice || chosen == 0) return true;
  std::string_view payload = raw == 0 ? numbers_in(first.contents) : std::string_view{};
  std::uint32_t at = 0;
  for (ProtoReader again(framed->bytes); raw > 0 && !again.done();) {
    const ProtoField field = again.next();
    if (field.number == reply::kRaw && ++at == chosen) payload = field.bytes;
  }
  if (payload.size() <= kGrpcPayloadMax) out.payload = payload;
  return true;
}

}  // namespace assay::protocol
