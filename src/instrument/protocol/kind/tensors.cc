// KServe's open inference protocol over HTTP: tensors in, tensors out, in one reply. A row's
// tensors are its attachments (arrays of a data set, tensor_rows.h), or its column `inputs` in the
// protocol's own JSON; `outputs` and `parameters` of a row go into the request as they are.
//
// `kserve` sends attachments by the binary extension: the JSON, then the tensors' bytes, with the
// JSON's length in a header; it asks for binary outputs. `kserve_json` writes their numbers into
// the JSON. A reply's tensors are counted; the sizes in its JSON must be those of the bytes behind
// it, and a list of numbers must have as many as its shape says. The first output of FP32, up to
// kPayloadBytesMax, is the reply's text for scorers: base64 of its bytes, or its numbers as JSON
// has them. Nothing else is decoded.
#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "base/format.h"
#include "domain/tensor.h"
#include "protocol/kind/kind.h"
#include "protocol/kind/request_parts.h"
#include "protocol/kind/typed_reader.h"

namespace assay::protocol {
namespace {

static_assert(std::endian::native == std::endian::little);

Json tensor_json(const Attachment& tensor) {
  Json shape = Json::array();
  for (const std::int64_t size : tensor.shape) shape.push_back(size);
  return Json::object()
      .set("name", tensor.name)
      .set("shape", std::move(shape))
      .set("datatype", tensor.type);
}

template <typename T>
void append_numbers(std::string_view bytes, Json& out) {
  for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T value{};
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    if constexpr (sizeof(T) < 4 || std::is_floating_point_v<T>) {
      out.push_back(
          Json(static_cast<std::conditional_t<std::is_floating_point_v<T>, double, int>>(value)));
    } else {
      out.push_back(Json(value));
    }
  }
}

// The elements of a tensor as JSON has them, in one flat list.
Json numbers_of(const Attachment& tensor) {
  Json out = Json::array();
  const std::string_view type = tensor.type;
  if (type == "BOOL") {
    for (const char c : tensor.bytes) out.push_back(c != 0);
  } else if (type == "BYTES") {
    for (const std::string_view text : tensor_texts(tensor.bytes)) out.push_back(text);
  } else if (type == "UINT8") {
    append_numbers<std::uint8_t>(tensor.bytes, out);
  } else if (type == "INT8") {
    append_numbers<std::int8_t>(tensor.bytes, out);
  } else if (type == "UINT16") {
    append_numbers<std::uint16_t>(tensor.bytes, out);
  } else if (type == "INT16") {
    append_numbers<std::int16_t>(tensor.bytes, out);
  } else if (type == "UINT32") {
    append_numbers<std::uint32_t>(tensor.bytes, out);
  } else if (type == "INT32") {
    append_numbers<std::int32_t>(tensor.bytes, out);
  } else if (type == "UINT64") {
    append_numbers<std::uint64_t>(tensor.bytes, out);
  } else if (type == "INT64") {
    append_numbers<std::int64_t>(tensor.bytes, out);
  } else if (type == "FP32") {
    append_numbers<float>(tensor.bytes, out);
  } else if (type == "FP64") {
    append_numbers<double>(tensor.bytes, out);
  }
  return out;
}

Json with_rest(Json inputs, const Sample& sample) {
  Json body = Json::object();
  // Tensors in the protocol's own JSON stand behind those that have bytes.
  for (const Json& given : sample.body["inputs"].items()) inputs.push_back(given);
  body.set("inputs", std::move(inputs));
  set_from_row(body, sample, "outputs");
  set_from_row(body, sample, "parameters");
  set_rest_of_row(body, sample);
  return body;
}

// The outputs of scorers are small (YOLO11's detections, DLRMv3's 2,048 predictions with labels);
// larger ones are pictures and the like, which no scorer takes from here.
constexpr std::uint64_t kPayloadBytesMax = std::uint64_t{1} << 16;

struct Outputs {
  std::uint64_t bytes = 0;  // of all, behind the JSON
  std::uint64_t payload_at = 0;
  std::uint64_t payload_bytes = 0;
  std::string_view payload_json{};
  bool found = false;  // one of FP32
  bool whole = true;   // each list of values has as many as its shape says
};

// The elements that a shape has; nullopt where it is no list of whole numbers of at most 31 bits.
std::optional<std::uint64_t> elements_of(std::string_view shape) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 32;  // no reply holds as many
  std::optional<std::uint64_t> out = 1;
  reread_items(shape, [&](JsonCursor& cursor) {
    std::int32_t size = -1;
    const bool sound = cursor.count_or_skip(size);
    if (size < 0) out.reset();
    if (out) out = std::min(*out * static_cast<std::uint64_t>(size), kMost);
    return sound;
  });
  return out;
}

// Counts the values of a list, which stand flat or in lists of lists, as the shape has them. How
// deep they are was limited when the list was read first.
bool count_values(JsonCursor& cursor, std::uint64_t& count) {
  if (cursor.peek() == '[') return cursor.array([&] { return count_values(cursor, count); });
  ++count;
  return cursor.skip();
}

std::uint64_t values_in(std::string_view list) {
  JsonCursor cursor(list);
  std::uint64_t out = 0;
  count_values(cursor, out);
  return out;
}

// Adds one output; false where a value is no size.
bool add_output(JsonCursor& cursor, Outputs& out) {
  bool fp32 = false;
  std::uint64_t own = 0;
  std::string_view data;
  std::string_view shape;
  const bool sound = object_or_skip(cursor, [&](const RawString& key) {
    RawString type;
    if (is_key(key, "datatype")) {
      if (!cursor.string_or_skip(type)) return false;
      fp32 = type.view() == "FP32";
      return true;
    }
    if (is_key(key, "data")) return slice_or_skip(cursor, '[', data);
    if (is_key(key, "shape")) return slice_or_skip(cursor, '[', shape);
    if (!is_key(key, "parameters")) return cursor.skip();
    return object_or_skip(cursor, [&](const RawString& inner) {
      std::int32_t size = -1;
      if (!is_key(inner, "binary_data_size")) return cursor.skip();
      if (!cursor.count_or_skip(size)) return false;
      if (size > 0) own = static_cast<std::uint64_t>(size);
      return true;
    });
  });
  if (fp32 && !out.found) {
    out.found = true;
    out.payload_at = out.bytes;
    out.payload_bytes = own;
    out.payload_json = data;
  }
  out.bytes += own;
  if (!data.empty() && !shape.empty()) {
    const auto elements = elements_of(shape);
    out.whole = out.whole && elements == values_in(data);
  }
  return sound;
}

// Puts the payload where the interpreter makes a text of it. `behind`: the bytes behind the JSON.
void set_payload(const Outputs& outputs, std::string_view behind, ReplyFields& out) {
  if (outputs.payload_bytes > 0 && outputs.payload_bytes <= kPayloadBytesMax) {
    out.payload = behind.substr(outputs.payload_at, outputs.payload_bytes);
  } else if (outputs.payload_json.size() <= 2 * kPayloadBytesMax) {
    out.content = {outputs.payload_json.data(), outputs.payload_json.size(), false};
  }
}

}  // namespace

Result<void> check_tensors(const Sample& sample) {
  const Json& given = sample.body["inputs"];
  if (sample.attachments.empty() && (!given.is_array() || given.size() == 0)) {
    return invalid(
        "sample: no tensors: give a data set of arrays (.npy, .npz), or rows with a list `inputs`");
  }
  for (const Attachment& tensor : sample.attachments) {
    const auto sound = check_tensor(tensor.type, tensor.shape, tensor.bytes);
    if (!sound) return sound.error().within(format("sample: tensor '{}'", tensor.name));
  }
  return {};
}

Result<void> check_tensors_json(const Sample& sample) {
  TRY(check_tensors(sample));
  for (const Attachment& tensor : sample.attachments) {
    if (tensor.type == "FP16" || tensor.type == "BF16") {
      return invalid(format("sample: tensor '{}': JSON has no {}; use api_type kserve", tensor.name,
                            tensor.type));
    }
  }
  return {};
}

Json tensors_body(const Generation&, const Sample& sample, char) {
  Json inputs = Json::array();
  for (const Attachment& tensor : sample.attachments) {
    inputs.push_back(tensor_json(tensor).set(
        "parameters", Json::object().set("binary_data_size", tensor.bytes.size())));
  }
  Json body = with_rest(std::move(inputs), sample);
  if (body.find("outputs") == nullptr && body["parameters"]["binary_data_output"].is_null()) {
    if (body.find("parameters") == nullptr) body.set("parameters", Json::object());
    body.find("parameters")->set("binary_data_output", true);
  }
  return body;
}

Json tensors_json_body(const Generation&, const Sample& sample, char) {
  Json inputs = Json::array();
  for (const Attachment& tensor : sample.attachments) {
    inputs.push_back(tensor_json(tensor).set("data", numbers_of(tensor)));
  }
  return with_rest(std::move(inputs), sample);
}

Result<void> encode_tensors(const Json& body, const Sample& sample, RequestBody& out) {
  out.bytes = body.dump();
  if (sample.attachments.empty()) return {};
  out.headers = {{"Content-Type", "application/octet-stream"},
                 {"Accept", "*/*"},
                 {"Inference-Header-Content-Length", std::to_string(out.bytes.size())}};
  for (const Attachment& tensor : sample.attachments) out.bytes += tensor.bytes;
  return {};
}

std::uint16_t one_unit(const Json&) { return 1; }

bool read_tensors(std::string_view text, ReplyFields& out) {
  JsonCursor cursor(text);
  if (cursor.peek() != '{') return false;
  Outputs outputs;
  const bool sound = cursor.object([&](const RawString& key) {
    if (is_key(key, "error")) return error_value(cursor, out.error);
    if (!is_key(key, "outputs") || cursor.peek() != '[') return cursor.skip();
    out.units = 0;
    outputs = {};
    return cursor.array([&] {
      ++out.units;
      return add_output(cursor, outputs);
    });
  });
  if (!sound) return false;
  out.raw_controls = cursor.raw_controls();
  const std::string_view behind(
      cursor.position(), static_cast<std::size_t>(text.data() + text.size() - cursor.position()));
  const bool complete = behind.size() == outputs.bytes || (outputs.bytes == 0 && cursor.at_end());
  if (!complete && outputs.bytes == 0) return false;
  out.has_choice = out.units > 0 && complete && outputs.whole;
  if (out.has_choice) set_payload(outputs, behind, out);
  return true;
}

}  // namespace assay::protocol
