// Kinds that answer with numbers instead of tokens: embeddings, reranking, scores of pairs and
// classification. One reply, never a stream. A row's prompt is the input, the query or the first
// text; its columns `input` and `documents` give several inputs, or the documents. Base64
// is not decoded: the reply's vectors are counted, and their count is checked against the inputs.
#include <algorithm>
#include <limits>

#include "base/text.h"
#include "protocol/kind/kind.h"
#include "protocol/kind/request_parts.h"
#include "protocol/kind/typed_reader.h"

namespace assay::protocol {
namespace {

// The row's own list of inputs, or its prompt.
Json inputs_of(const Sample& sample, char filler) {
  const Json& inputs = sample.body["input"];
  if (inputs.is_null()) return prompt_of(sample, filler);
  if (inputs.size() == 0 || !inputs[0].is_string()) return inputs;
  Sample first;
  first.prompt = inputs[0].as_string();
  Json out = Json::array();
  out.push_back(prompt_of(first, filler));
  for (std::size_t i = 1; i < inputs.size(); ++i) out.push_back(inputs[i]);
  return out;
}

std::uint16_t count_of_list(const Json& list) {
  constexpr std::size_t kMost = std::numeric_limits<std::uint16_t>::max();
  return static_cast<std::uint16_t>(std::clamp<std::size_t>(list.size(), 1, kMost));
}

// null, or an array or a text without content.
bool is_empty_value(std::string_view value) {
  const std::string_view behind = trim(value.substr(1));
  return value == "null" || value == "\"\"" || (value[0] == '[' && behind == "]");
}

// Members that hold a result itself, where an item has one of them; servers write those that they
// do not fill as null.
bool holds_result(const RawString& key) {
  return is_key(key, "embedding") || is_key(key, "b64_json") || is_key(key, "url");
}

bool read_item(JsonCursor& cursor, bool& counts) {
  if (cursor.peek() != '{') {
    std::string_view value;
    if (!cursor.slice(value)) return false;
    counts = !is_empty_value(value);
    return true;
  }
  bool named = false;
  bool held = false;
  bool any = false;
  const bool sound = cursor.object([&](const RawString& key) {
    any = true;
    if (!holds_result(key)) return cursor.skip();
    named = true;
    std::string_view value;
    if (!cursor.slice(value)) return false;
    held = held || !is_empty_value(value);
    return true;
  });
  counts = any && (held || !named);
  return sound;
}

// The items of the array that holds a reply's results. One that is empty is none.
bool count_items(JsonCursor& cursor, ReplyFields& out) {
  out.units = 0;
  if (cursor.peek() != '[') return cursor.skip();
  return cursor.array([&] {
    bool counts = false;
    if (!read_item(cursor, counts)) return false;
    out.units += counts ? 1 : 0;
    return true;
  });
}

bool usage_of_vectors(JsonCursor& cursor, ReplyFields& out) {
  out.has_usage = cursor.peek() == '{';
  return object_or_skip(cursor, [&](const RawString& key) {
    // The images' name, and that of the others.
    const bool prompt = is_key(key, "input_tokens") || is_key(key, "prompt_tokens");
    return prompt ? cursor.count_or_skip(out.usage.prompt_tokens) : cursor.skip();
  });
}

}  // namespace

Result<void> check_inputs(const Sample& sample) {
  const Json& inputs = sample.body["input"];
  if (inputs.is_array() ? inputs.size() > 0 : !sample.prompt.empty()) return {};
  return invalid("sample: no prompt; map a column to 'prompt', or give a list in a column 'input'");
}

Result<void> check_documents(const Sample& sample) {
  if (sample.prompt.empty()) {
    return invalid("sample: no prompt, which is the query; map a column to 'prompt'");
  }
  if (sample.body["documents"].is_array() && sample.body["documents"].size() > 0) return {};
  return invalid(
      "sample: no documents: a column 'documents' must hold a list of texts; "
      "parser.documents=COLUMN names another column");
}

Json embeddings_body(const Generation& generation, const Sample& sample, char filler) {
  Json body = Json::object();
  if (!generation.model.empty()) body.set("model", generation.model);
  body.set("input", inputs_of(sample, filler));
  set_rest_of_row(body, sample);
  return body;
}

Json rerank_body(const Generation& generation, const Sample& sample, char filler) {
  Json body = Json::object();
  if (!generation.model.empty()) body.set("model", generation.model);
  body.set("query", prompt_of(sample, filler));
  body.set("documents", sample.body["documents"]);
  set_rest_of_row(body, sample);
  return body;
}

Json score_body(const Generation& generation, const Sample& sample, char filler) {
  Json body = Json::object();
  if (!generation.model.empty()) body.set("model", generation.model);
  body.set("text_1", prompt_of(sample, filler));
  body.set("text_2", sample.body["documents"]);
  set_rest_of_row(body, sample);
  body.erase("documents");
  return body;
}

std::uint16_t units_of_inputs(const Json& body) {
  const Json& input = body["input"];
  // Token ids of one input are numbers.
  return input.is_array() && !input[0].is_number() ? count_of_list(input) : 1;
}

std::uint16_t units_of_documents(const Json& body) {
  const Json& documents = body["documents"];
  return count_of_list(documents.is_null() ? body["text_2"] : documents);
}

// One array of results, at the root or under a name that depends on the server.
bool read_vectors(std::string_view text, ReplyFields& out) {
  JsonCursor cursor(text);
  if (cursor.peek() == '[') {
    const bool sound = count_items(cursor, out);
    out.raw_controls = cursor.raw_controls();
    out.has_choice = out.units > 0;
    return sound && cursor.at_end();
  }
  const bool sound = read_root(text, out, [&](JsonCursor& at, const RawString& key) {
    if (is_key(key, "data") || is_key(key, "results") || is_key(key, "rankings")) {
      return count_items(at, out);
    }
    if (is_key(key, "usage")) return usage_of_vectors(at, out);
    if (is_key(key, "error")) return error_value(at, out.error);
    return at.skip();
  });
  out.has_choice = out.units > 0;
  return sound;
}

}  // namespace assay::protocol
