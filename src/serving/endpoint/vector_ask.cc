#include "endpoint/vector_ask.h"

#include <algorithm>
#include <optional>

#include "base/format.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "endpoint/form.h"

namespace assay::endpoint {
namespace {

ApiError bad(std::string_view param, std::string_view why) {
  return {.message = format("{}: {}", param, why), .param = std::string(param)};
}

// The texts of a field that is a text or a list; token ids of one input count as one. False where
// it is neither, or empty.
bool read_texts(const Json& field, std::vector<std::string>& out) {
  if (field.is_string()) {
    out.emplace_back(field.as_string());
  } else if (field.size() > 0 && field[0].is_number()) {
    out.push_back(field.dump());
  } else {
    for (const Json& item : field.items()) {
      // A document may be an object with its text.
      const Json& text = item.is_object() ? item["text"] : item;
      out.push_back(text.is_string() ? std::string(text.as_string()) : text.dump());
    }
  }
  return !out.empty();
}

std::string_view first_field(const Json& body, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (body.find(name) != nullptr) return name;
  }
  return *names.begin();
}

// Embeddings and classification.
std::variant<std::monostate, ApiError> read_inputs(const Json& body, Ask& ask) {
  std::vector<std::string> texts;
  if (!read_texts(body["input"], texts)) return bad("input", "must be a text or a list");
  std::size_t bytes = 0;
  for (const std::string& text : texts) {
    bytes += text.size();
    ask.vectors.inputs.push_back(xxh3(text));
  }
  ask.prompt_tokens = std::max<std::uint32_t>(1, estimate_tokens(bytes));
  const Json& format_wanted = body["encoding_format"];
  const std::string_view word = format_wanted.as_string();
  if (!format_wanted.is_null() && word != "float" && word != "base64") {
    return bad("encoding_format", "must be float or base64");
  }
  ask.vectors.base64 = word == "base64";
  const Json& dimensions = body["dimensions"];
  if (dimensions.is_null()) return std::monostate{};
  if (!dimensions.is_integer() || dimensions.as_int() < 1 ||
      dimensions.as_int() > std::int64_t{kDimensionsMax}) {
    return bad("dimensions", format("must be from 1 to {}", kDimensionsMax));
  }
  ask.vectors.dimensions = static_cast<std::uint32_t>(dimensions.as_int());
  return std::monostate{};
}

// Reranking and scores: one text against all, or text by text.
std::variant<std::monostate, ApiError> read_pairs(Route route, const Json& body, Ask& ask) {
  const bool ranks = route == Route::rerank;
  const std::string_view left = ranks ? "query" : first_field(body, {"text_1", "queries"});
  const std::string_view right = ranks ? "documents" : first_field(body, {"text_2", "documents"});
  std::vector<std::string> queries;
  if (!read_texts(body[left], queries)) return bad(left, "is required");
  if (!read_texts(body[right], ask.vectors.documents)) return bad(right, "must be a list of texts");
  const std::vector<std::string>& documents = ask.vectors.documents;
  if (queries.size() != 1 && queries.size() != documents.size()) {
    return bad(left, "must be one text, or as many as the others");
  }
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const std::string& query = queries[queries.size() == 1 ? 0 : i];
    bytes += query.size() + documents[i].size();
    ask.vectors.inputs.push_back(xxh3(query + '\0' + documents[i]));
  }
  ask.prompt_tokens = std::max<std::uint32_t>(1, estimate_tokens(bytes));
  const Json& top_n = body["top_n"];
  if (!top_n.is_null() && (!top_n.is_integer() || top_n.as_int() < 0)) {
    return bad("top_n", "must be a whole number");
  }
  ask.vectors.top_n = static_cast<std::uint32_t>(
      std::min<std::int64_t>(top_n.as_int(0), static_cast<std::int64_t>(kInputsMax)));
  return std::monostate{};
}

// Pictures: as many as `n` says, each of the prompt.
std::variant<std::monostate, ApiError> read_picture(const Json& body, Ask& ask) {
  constexpr std::int64_t kPicturesMax = 10;
  if (!body["prompt"].is_string()) return bad("prompt", "is required");
  const std::string_view prompt = body["prompt"].as_string();
  const Json& n = body["n"];
  if (!n.is_null() && (!n.is_integer() || n.as_int() < 1 || n.as_int() > kPicturesMax)) {
    return bad("n", format("must be from 1 to {}", kPicturesMax));
  }
  const std::string_view form = body["response_format"].as_string("b64_json");
  if (form != "b64_json" && form != "url") {
    return bad("response_format", "must be b64_json or url");
  }
  ask.vectors.addresses = form == "url";
  ask.vectors.inputs.assign(static_cast<std::size_t>(n.as_int(1)), xxh3(prompt));
  ask.prompt_tokens = std::max<std::uint32_t>(1, estimate_tokens(prompt.size()));
  return std::monostate{};
}

// Pictures from pictures: those of the prompt, and other ones for other pictures.
std::variant<std::monostate, ApiError> read_edit(const Json& body, Ask& ask) {
  if (body["image"].size() == 0) return bad("image", "must be a file, or several as image[]");
  const auto read = read_picture(body, ask);
  const std::uint64_t pictures = xxh3(body["image"].dump() + body["mask"].dump());
  for (std::uint64_t& input : ask.vectors.inputs) input ^= pictures;
  return read;
}

// A video that a job makes.
std::variant<std::monostate, ApiError> read_video_job(const Json& body, Ask& ask) {
  if (!body["prompt"].is_string()) return bad("prompt", "is required");
  const std::string_view prompt = body["prompt"].as_string();
  if (!body["size"].is_null()) ask.video.size = body["size"].as_string();
  const std::string& size = ask.video.size;
  const std::size_t times = size.find('x');
  if (times == std::string::npos || !parse_uint(size.substr(0, times)) ||
      !parse_uint(size.substr(times + 1))) {
    return bad("size", "must be WIDTHxHEIGHT");
  }
  const Json& seconds = body["seconds"];
  if (!seconds.is_null()) {
    ask.video.seconds = seconds.is_string() ? std::string(seconds.as_string()) : seconds.dump();
  }
  const auto length = parse_uint(ask.video.seconds);
  if (!length || *length == 0) return bad("seconds", "must be a whole number above 0");
  ask.vectors.inputs.assign(1, xxh3(prompt) ^ xxh3(body["input_reference"].dump()));
  ask.prompt_tokens = std::max<std::uint32_t>(1, estimate_tokens(prompt.size()));
  return std::monostate{};
}

// A form's fields as an object: texts, `n` as a number, and of files a list of their hashes.
std::optional<Json> object_of_form(std::string_view body, std::string_view boundary) {
  std::vector<FormPart> parts;
  if (!read_form(body, boundary, parts)) return std::nullopt;
  Json out = Json::object();
  for (const FormPart& part : parts) {
    std::string name = part.name;
    if (name.ends_with("[]")) name.resize(name.size() - 2);
    if (part.is_file) {
      Json files = out[name].is_array() ? out[name] : Json::array();
      if (!part.value.empty()) files.push_back(format("{:016x}", xxh3(part.value)));
      out.set(name, std::move(files));
    } else if (const auto number = parse_int(part.value); number && name == "n") {
      out.set(name, *number);
    } else {
      out.set(name, part.value);
    }
  }
  return out;
}

// A video: one, of the prompt.
std::variant<std::monostate, ApiError> read_video(const Json& body, Ask& ask) {
  if (!body["prompt"].is_string()) return bad("prompt", "is required");
  if (body["stream"].as_bool(false)) return bad("stream", "videos are not streamed");
  const std::string_view form = body["response_format"].as_string("video_path");
  if (form != "video_path" && form != "video_bytes") {
    return bad("response_format", "must be video_path or video_bytes");
  }
  const std::string_view prompt = body["prompt"].as_string();
  ask.vectors.addresses = form == "video_path";
  ask.vectors.inputs.assign(1, xxh3(prompt));
  ask.prompt_tokens = std::max<std::uint32_t>(1, estimate_tokens(prompt.size()));
  return std::monostate{};
}

std::variant<std::monostate, ApiError> read_fields(Route route, const Json& body, Ask& ask) {
  if (!body.is_object()) return ApiError{.message = "The body must be a JSON object."};
  const Json& model = body["model"];
  if (!model.is_null() && !model.is_string()) return bad("model", "must be a string");
  ask.model = model.as_string();
  if (route == Route::image_edits) return read_edit(body, ask);
  if (route == Route::video_jobs) return read_video_job(body, ask);
  if (route == Route::images) return read_picture(body, ask);
  if (route == Route::videos) return read_video(body, ask);
  const bool pairs = route == Route::rerank || route == Route::score;
  auto read = pairs ? read_pairs(route, body, ask) : read_inputs(body, ask);
  if (ask.vectors.inputs.size() > kInputsMax) {
    return bad("input", format("this endpoint takes at most {} inputs a request", kInputsMax));
  }
  return read;
}

}  // namespace

std::variant<std::monostate, ApiError> read_vector_ask(Route route, std::string_view body,
                                                       Ask& ask) {
  ask.route = route;
  if (!ask.boundary.empty()) {
    const auto fields = object_of_form(body, ask.boundary);
    if (!fields) return ApiError{.message = "The body is not a form (multipart/form-data)."};
    return read_fields(route, *fields, ask);
  }
  if (route == Route::image_edits) return bad("image", "the body must be a form with it");
  const auto json = Json::parse(body);
  if (!json) return ApiError{.message = "The body is not valid JSON."};
  return read_fields(route, *json, ask);
}

}  // namespace assay::endpoint
