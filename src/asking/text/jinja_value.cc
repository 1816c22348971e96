#include "text/jinja_value.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/markup.h"
#include "base/text.h"
#include "text/python_quote.h"
#include "text/unicode.h"

namespace assay::text::jinja {

void fail(std::string message) { throw Fault{std::move(message), 0}; }

namespace {

thread_local Budget* budget = nullptr;

}  // namespace

Budget::Budget(std::uint64_t bytes) : bytes_(bytes), left_(bytes), outer_(budget) { budget = this; }
Budget::~Budget() { budget = outer_; }

void spend(std::uint64_t bytes) {
  if (budget == nullptr) return;
  if (bytes > budget->left_) {
    fail(format("the template makes or looks at more than {} bytes of values", budget->bytes_));
  }
  budget->left_ -= bytes;
}

std::uint64_t copy_cost(const List& list) {
  std::uint64_t cost = 0;
  for (const Value& value : list) cost += value.copy_cost();
  return cost;
}

std::uint64_t copy_cost(const Dict& dict) {
  std::uint64_t cost = 0;
  for (const auto& [key, value] : dict) cost += key.size() + value.copy_cost();
  return cost;
}

Key Key::of(const Value& value) {
  if (value.is_string()) return value.string();
  const bool hashable = value.is_none() || value.is_number() || value.is_tuple();
  if (!hashable) fail(format("{} can't be a dict's key", value.type_name()));
  if (value.is_tuple()) {
    for (const Value& part : value.list()) of(part);
  }
  Key key("");
  key.other_ = std::make_shared<const Value>(value);
  return key;
}

Value Key::value() const { return is_text() ? Value(text_) : *other_; }

bool Key::is(const Value& value) const {
  return is_text() ? value.is_string() && value.string() == text_ : *other_ == value;
}

void Value::wrong_kind(const char* wanted) const {
  fail(format("expected {}, found {}", wanted,
              is_undefined() ? format("'{}', which is undefined", name()) : type_name()));
}

void Value::check_member(const Value& value) {
  if (value.is_namespace() || value.is_function()) {
    fail(format("a {} can't be kept in a list, a dict or a namespace", value.type_name()));
  }
}

std::uint16_t Value::depth_of(const List& list) {
  std::uint16_t depth = 0;
  for (const Value& value : list) {
    check_member(value);
    depth = std::max(depth, value.depth_);
  }
  if (depth >= kDepthMax) fail("lists and dicts are nested too deeply");
  return static_cast<std::uint16_t>(depth + 1);
}

std::uint16_t Value::depth_of(const Dict& dict) {
  std::uint16_t depth = 0;
  for (const auto& [key, value] : dict) {
    check_member(value);
    depth = std::max(depth, value.depth_);
  }
  if (depth >= kDepthMax) fail("lists and dicts are nested too deeply");
  return static_cast<std::uint16_t>(depth + 1);
}

Value Value::facts(Dict members) {
  Value value;
  for (const auto& [key, member] : members) value.depth_ = std::max(value.depth_, member.depth_);
  if (value.depth_ >= kDepthMax) fail("lists and dicts are nested too deeply");
  ++value.depth_;
  value.data_ = std::make_shared<Dict>(std::move(members));
  return value;
}

Value Value::name_space(Dict members) {
  for (const auto& [key, value] : members) check_member(value);
  Value value;
  value.data_ = Namespace{std::make_shared<Dict>(std::move(members))};
  return value;
}

Value Value::of_json(const Json& json) {
  if (json.is_null()) return {};
  if (json.is_bool()) return json.as_bool();
  const bool unsigned_only = json.is_integer() && json.as_int(-1) == -1 && json.as_uint() > 0;
  if (json.is_integer() && !unsigned_only) return json.as_int();
  if (unsigned_only || !json.wide_digits().empty()) return wide(json.as_double(), json.dump());
  if (json.is_number()) return json.as_double();
  if (json.is_string()) return std::string(json.as_string());
  if (json.is_array()) {
    List list;
    list.reserve(json.size());
    for (const Json& item : json.items()) list.push_back(of_json(item));
    return list;
  }
  Dict dict;
  dict.reserve(json.size());
  for (const auto& [key, item] : json.members()) dict.emplace_back(key, of_json(item));
  return dict;
}

bool Value::truth() const {
  if (is_none() || is_undefined()) return false;
  if (is_bool()) return std::get<bool>(data_);
  if (is_int()) return std::get<std::int64_t>(data_) != 0;
  if (is_float()) return std::get<double>(data_) != 0;
  if (is_string()) return !string().empty();
  if (is_generator()) return true;
  if (is_list()) return !list().empty();
  if (is_dict()) return !dict().empty();
  return true;
}

std::int64_t Value::integer() const {
  if (is_bool()) return std::get<bool>(data_) ? 1 : 0;
  if (is_int()) return std::get<std::int64_t>(data_);
  fail(format("must be a whole number, not {}", type_name()));
}

double Value::number() const {
  if (is_float()) return std::get<double>(data_);
  if (is_bool() || is_int()) return static_cast<double>(integer());
  fail(format("must be a number, not {}", type_name()));
}

std::string Value::type_name() const {
  if (is_undefined()) return format("undefined ('{}' is not there)", name());
  if (is_none()) return "None";
  if (is_bool()) return "bool";
  if (is_int()) return "int";
  if (is_float()) return is_wide() ? "int" : "float";
  if (is_string()) return "str";
  if (is_list()) return "list";
  if (is_dict()) return "dict";
  return is_namespace() ? "namespace" : "function";
}

const Value* Value::find(std::string_view key) const {
  if (!is_dict() && !is_namespace()) return nullptr;
  const Dict& dict_of = is_dict() ? dict() : members();
  spend(dict_of.size() * 4);
  const auto at = std::find_if(dict_of.begin(), dict_of.end(),
                               [key](const auto& member) { return member.first == key; });
  return at == dict_of.end() ? nullptr : &at->second;
}

const Value* Value::find_key(const Value& key) const {
  if (!is_dict()) return nullptr;
  spend(dict().size() * 4);
  const auto at = std::find_if(dict().begin(), dict().end(),
                               [&key](const auto& member) { return member.first.is(key); });
  return at == dict().end() ? nullptr : &at->second;
}

std::string Value::escaped() const {
  if (is_markup()) return text();
  std::string out = escape_markup(text());
  spend(out.size());
  return out;
}

std::string Value::text() const {
  if (is_undefined()) return {};
  if (!is_string()) return repr();
  spend(string().size());
  return string();
}

std::string Value::repr() const {
  spend(copy_cost());
  if (is_undefined()) return "Undefined";
  if (is_none()) return "None";
  if (is_bool()) return truth() ? "True" : "False";
  if (is_int()) return std::to_string(integer());
  if (is_wide()) return *digits_;
  if (is_float()) {
    const double value = number();
    return std::isnan(value)   ? "nan"
           : std::isinf(value) ? value > 0 ? "inf" : "-inf"
                               : json_number(value);
  }
  if (is_markup()) return "Markup(" + python_quoted(string()) + ")";
  if (is_string()) return python_quoted(string());
  std::string out;
  if (is_list()) {
    for (const Value& item : list()) out += (out.empty() ? "" : ", ") + item.repr();
    spend(out.size());
    if (tuple_) return "(" + out + (list().size() == 1 ? ",)" : ")");
    return "[" + out + "]";
  }
  if (is_dict()) {
    for (const auto& [key, item] : dict()) {
      out += (out.empty() ? "" : ", ") + key.value().repr() + ": " + item.repr();
    }
    spend(out.size());
    return "{" + out + "}";
  }
  return "<" + type_name() + ">";
}

namespace {

// As Python does it: also DEL, and two escapes for a character beyond the first plane.
std::string ascii_quote(std::string_view text) {
  const std::string quoted = json_quote(text);
  std::string out;
  for (std::size_t at = 0; at < quoted.size();) {
    const CodePoint c = decode_at(quoted, at);
    at += c.bytes;
    if (c.value >= 0x10000) {
      const char32_t rest = c.value - 0x10000;
      out += format("\\u{:04x}\\u{:04x}", 0xD800 + static_cast<unsigned>(rest >> 10),
                    0xDC00 + static_cast<unsigned>(rest & 0x3FF));
    } else if (c.value >= 0x7F) {
      out += format("\\u{:04x}", static_cast<unsigned>(c.value));
    } else {
      out += static_cast<char>(c.value);
    }
  }
  spend(out.size());
  return out;
}

std::string quote(std::string_view text, const JsonStyle& style) {
  return style.ascii ? ascii_quote(text) : json_quote(text);
}

// JSON has no keys but text: Python writes numbers, bools and None as text.
std::string key_text(const Key& key) {
  if (key.is_text()) return key.text();
  const Value value = key.value();
  if (value.is_list()) fail("tojson: a tuple can't be a key");
  if (value.is_none()) return "null";
  if (value.is_bool()) return value.truth() ? "true" : "false";
  return value.repr();
}

}  // namespace

std::string Value::json(const JsonStyle& style, int depth) const {
  if (depth > kDepthMax) fail("tojson: nested too deeply");
  spend(copy_cost());
  if (is_none()) return "null";
  if (is_bool()) return truth() ? "true" : "false";
  if (is_string()) return quote(string(), style);
  if (is_int() || is_float()) return repr();
  if (is_generator()) fail("tojson: not for a generator (make a list of it)");
  if (!is_list() && !is_dict()) fail(format("tojson: not for {}", type_name()));
  const int indent = style.indent;
  const auto line = [&](int level) {
    return indent < 0 ? std::string()
                      : "\n" + std::string(static_cast<std::size_t>(indent * level), ' ');
  };
  std::string out;
  if (is_list()) {
    if (list().empty()) return "[]";
    for (const Value& item : list()) {
      out += (out.empty() ? "" : style.comma) + line(depth + 1) + item.json(style, depth + 1);
    }
    spend(out.size());
    return "[" + out + line(depth) + "]";
  }
  if (dict().empty()) return "{}";
  Dict sorted = dict();
  if (style.sort_keys) {
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
      return a.first.value() < b.first.value();
    });
  }
  for (const auto& [key, item] : sorted) {
    out += (out.empty() ? "" : style.comma) + line(depth + 1) + quote(key_text(key), style) +
           style.colon + item.json(style, depth + 1);
  }
  spend(out.size());
  return "{" + out + line(depth) + "}";
}

bool Value::operator==(const Value& other) const {
  spend(kCost + (is_string() && other.is_string() ? string().size() / 16 : 0));
  if (is_number() && other.is_number()) {
    if (!is_float() && !other.is_float()) return integer() == other.integer();
    return number() == other.number();
  }
  if (is_undefined() || other.is_undefined()) return is_undefined() && other.is_undefined();
  if (data_.index() != other.data_.index()) return false;
  if (is_none()) return true;
  if (is_string()) return string() == other.string();
  if (is_list()) return tuple_ == other.tuple_ && list() == other.list();
  if (is_dict()) {
    const Dict& mine = dict();
    return mine.size() == other.dict().size() &&
           std::all_of(mine.begin(), mine.end(), [&other](const auto& member) {
             const Value* twin = other.find_key(member.first.value());
             return twin != nullptr && *twin == member.second;
           });
  }
  if (is_namespace()) return &members() == &other.members();
  return &function() == &other.function();
}

bool Value::operator<(const Value& other) const {
  spend(kCost + (is_string() && other.is_string() ? string().size() / 16 : 0));
  if (is_number() && other.is_number()) {
    if (!is_float() && !other.is_float()) return integer() < other.integer();
    return number() < other.number();
  }
  if (is_string() && other.is_string()) return string() < other.string();
  if (is_list() && other.is_list()) {
    return std::lexicographical_compare(list().begin(), list().end(), other.list().begin(),
                                        other.list().end());
  }
  fail(format("{} and {} cannot be ordered", type_name(), other.type_name()));
}

List Value::items() const {
  if (is_list()) {
    spend(jinja::copy_cost(list()));
    return list();
  }
  List out;
  if (is_string()) {
    spend(string().size() * kCost);
    for (std::string& one : characters(string())) out.emplace_back(std::move(one));
    return out;
  }
  if (is_dict()) {
    spend(jinja::copy_cost(dict()));
    for (const auto& [key, item] : dict()) out.push_back(key.value());
    return out;
  }
  if (is_undefined()) return out;
  fail(format("{} cannot be looped over", type_name()));
}

std::size_t Value::length() const {
  if (is_generator()) fail("a generator has no length (make a list of it)");
  if (is_list()) return list().size();
  if (is_dict()) return dict().size();
  if (is_undefined()) return 0;
  if (!is_string()) fail(format("{} has no length", type_name()));
  return character_count(string());
}

Value Call::argument(std::size_t place, std::string_view name, Value fallback) const {
  if (place < positional.size()) return positional[place];
  for (const auto& [key, value] : named) {
    if (key == name) return value;
  }
  return fallback;
}

Value Call::required(std::size_t place, std::string_view name) const {
  const Value value = argument(place, name, Value::undefined(std::string(name)));
  if (value.is_undefined() && place >= positional.size()) {
    fail(format("argument '{}' is missing", name));
  }
  return value;
}

std::vector<std::string> characters(std::string_view text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(static_cast<unsigned char>(text[at]));
    out.emplace_back(text.substr(at, length));
    at += length;
  }
  return out;
}

}  // namespace assay::text::jinja
