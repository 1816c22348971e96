#include "score/answer/function_call.h"

#include <optional>

#include "base/text.h"

namespace assay::score {
namespace {

constexpr int kCallDepthMax = 32;

// "print(x)" in a reply's prose or code is not a tool call.
constexpr std::string_view kNoTools[] = {"print", "if",   "for",   "while", "return", "and",
                                         "or",    "not",  "range", "len",   "str",    "int",
                                         "float", "list", "dict",  "set",   "tuple",  "def"};

bool name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool name_char(char c) { return name_start(c) || (c >= '0' && c <= '9') || c == '.'; }

// Parses Python's literals and calls.
class PythonReader {
 public:
  explicit PythonReader(std::string_view text) : text_(text) {}

  std::size_t at() const { return at_; }
  void go(std::size_t at) { at_ = at; }

  // Reads a call whose name begins here.
  std::optional<FunctionCall> call() {
    FunctionCall out;
    out.name = name();
    out.arguments = Json::object();
    if (out.name.empty() || !take('(')) return std::nullopt;
    std::size_t number = 0;
    while (!take(')')) {
      if (number > 0 && !take(',')) return std::nullopt;
      if (take(')')) break;
      const std::size_t begin = at_;
      std::string key = name();
      if (key.empty() || !take('=')) {
        // A positional argument has no name to compare.
        at_ = begin;
        key = std::to_string(number);
      }
      auto one = value(0);
      if (!one) return std::nullopt;
      out.arguments.set(key, *std::move(one));
      ++number;
    }
    return out;
  }

 private:
  void spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || (text_[at_] >= '\t' && text_[at_] <= '\r')))
      ++at_;
  }
  bool take(char c) {
    spaces();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string name() {
    spaces();
    const std::size_t begin = at_;
    if (at_ >= text_.size() || !name_start(text_[at_])) return {};
    while (at_ < text_.size() && name_char(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::optional<Json> value(int depth) {
    spaces();
    if (depth > kCallDepthMax || at_ >= text_.size()) return std::nullopt;
    const char c = text_[at_];
    if (c == '\'' || c == '"') return string();
    if (c == '[' || c == '(') {
      ++at_;
      return list(c == '[' ? ']' : ')', depth);
    }
    if (c == '{') {
      ++at_;
      return dict(depth);
    }
    if (name_start(c)) {
      const std::string word = name();
      if (word == "True" || word == "true") return Json(true);
      if (word == "False" || word == "false") return Json(false);
      if (word == "None" || word == "null") return Json();
      return Json(word);  // a variable is compared by its name
    }
    return number();
  }

  std::optional<Json> number() {
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           (name_char(text_[at_]) || text_[at_] == '+' || text_[at_] == '-')) {
      ++at_;
    }
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (const auto whole = parse_int(word)) return Json(*whole);
    if (const auto real = parse_double(word)) return Json(*real);
    return std::nullopt;
  }

  std::optional<Json> string() {
    const char quote = text_[at_++];
    std::string out;
    while (at_ < text_.size() && text_[at_] != quote) {
      char c = text_[at_++];
      if (c == '\\' && at_ < text_.size()) {
        const char escaped = text_[at_++];
        c = escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped == 'r' ? '\r' : escaped;
        if (c == escaped && c != quote && c != '\\' && c != '\'' && c != '"') out += '\\';
      }
      out += c;
    }
    if (at_ >= text_.size()) return std::nullopt;
    ++at_;
    return Json(std::move(out));
  }

  std::optional<Json> list(char end, int depth) {
    Json out = Json::array();
    while (!take(end)) {
      if (out.size() > 0 && !take(',')) return std::nullopt;
      if (take(end)) break;
      auto one = value(depth + 1);
      if (!one) return std::nullopt;
      out.push_back(*std::move(one));
    }
    return out;
  }

  std::optional<Json> dict(int depth) {
    Json out = Json::object();
    while (!take('}')) {
      if (out.size() > 0 && !take(',')) return std::nullopt;
      if (take('}')) break;
      auto key = value(depth + 1);
      if (!key || !take(':')) return std::nullopt;
      auto one = value(depth + 1);
      if (!one) return std::nullopt;
      out.set(key->is_string() ? std::string(key->as_string()) : key->dump(), *std::move(one));
    }
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// Reads [{"name", "arguments"}] or OpenAI's [{"function": {"name", "arguments"}}].
std::optional<std::vector<FunctionCall>> listed_calls(const Json& list) {
  if (!list.is_array()) return std::nullopt;
  std::vector<FunctionCall> out;
  for (const Json& item : list.items()) {
    const Json& call = item["function"].is_object() ? item["function"] : item;
    if (!call["name"].is_string()) return std::nullopt;
    FunctionCall one{.name = std::string(call["name"].as_string()), .arguments = {}};
    one.arguments = call["arguments"];
    if (one.arguments.is_string()) {
      auto parsed = Json::parse(one.arguments.as_string());
      one.arguments = parsed && parsed->is_object() ? *std::move(parsed) : Json::object();
    }
    if (!one.arguments.is_object()) one.arguments = Json::object();
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace

std::vector<FunctionCall> python_calls(std::string_view text) {
  std::vector<FunctionCall> out;
  PythonReader reader(text);
  for (std::size_t at = 0; at < text.size();) {
    if (!name_start(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && name_char(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    bool tool = end < text.size() && text[end] == '(';
    for (const std::string_view none : kNoTools) tool = tool && word != none;
    reader.go(at);
    std::optional<FunctionCall> call = tool ? reader.call() : std::nullopt;
    at = call ? reader.at() : end;
    if (call) out.push_back(*std::move(call));
  }
  return out;
}

std::vector<FunctionCall> function_calls(const Row& row) {
  if (row.tool_calls.size() > 0) {
    if (auto calls = listed_calls(row.tool_calls)) return *std::move(calls);
  }
  const std::string_view text = trim(row.content.empty() ? row.reply : row.content);
  if (const auto json = Json::parse(text)) {
    if (auto calls = listed_calls(*json)) return *std::move(calls);
    if (auto calls = listed_calls(Json::array().push_back(*json))) return *std::move(calls);
  }
  return python_calls(text);
}

}  // namespace assay::score
