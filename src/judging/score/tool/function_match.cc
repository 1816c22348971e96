// The checks of the leaderboard's answer key, one parameter after the other.
#include <algorithm>
#include <optional>

#include "base/json_list.h"
#include "score/answer/python_text.h"
#include "score/code/code_judge.h"
#include "score/tool/function_match.h"
#include "text/unicode.h"

namespace assay::score {
namespace {

enum class ValueKind : std::uint8_t { none, text, whole, real, boolean, list, dict };

ValueKind value_kind(const Json& value) {
  if (value.is_string()) return ValueKind::text;
  if (value.is_bool()) return ValueKind::boolean;
  if (value.is_integer()) return ValueKind::whole;
  if (value.is_number()) return ValueKind::real;
  if (value.is_array()) return ValueKind::list;
  if (value.is_object()) return ValueKind::dict;
  return ValueKind::none;
}

// The types of the leaderboard's three languages and of JSON schema, used in tools.
ValueKind kind_named(std::string_view type) {
  constexpr std::pair<std::string_view, ValueKind> kNames[] = {
      {"string", ValueKind::text},     {"String", ValueKind::text},
      {"any", ValueKind::text},        {"char", ValueKind::text},
      {"integer", ValueKind::whole},   {"byte", ValueKind::whole},
      {"short", ValueKind::whole},     {"long", ValueKind::whole},
      {"Bigint", ValueKind::whole},    {"float", ValueKind::real},
      {"double", ValueKind::real},     {"number", ValueKind::real},
      {"boolean", ValueKind::boolean}, {"Boolean", ValueKind::boolean},
      {"array", ValueKind::list},      {"tuple", ValueKind::list},
      {"Array", ValueKind::list},      {"ArrayList", ValueKind::list},
      {"Queue", ValueKind::list},      {"Stack", ValueKind::list},
      {"dict", ValueKind::dict},       {"object", ValueKind::dict},
      {"HashMap", ValueKind::dict},    {"Hashtable", ValueKind::dict}};
  for (const auto& [name, kind] : kNames) {
    if (name == type) return kind;
  }
  return ValueKind::none;
}

std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view(" ,./-_*^").find(c) != std::string_view::npos) continue;
    out += c == '\'' ? '"' : c;
  }
  return text::lower_case(readable(out));
}

Json plain_items(const Json& value) {
  if (value.is_string()) return Json(plain(value.as_string()));
  return value;
}

Json plain_list(const Json& list) { return json_list(list.items(), plain_items); }

bool may_be_left_out(const Json& allowed) {
  return std::any_of(allowed.items().begin(), allowed.items().end(),
                     [](const Json& one) { return one.is_string() && one.as_string().empty(); });
}

bool among(const Json& value, const Json& allowed) {
  return std::any_of(allowed.items().begin(), allowed.items().end(),
                     [&value](const Json& one) { return same_value(value, one); });
}

bool text_allowed(const Json& value, const Json& allowed) {
  const std::string got = plain(value.as_string());
  return std::any_of(allowed.items().begin(), allowed.items().end(), [&got](const Json& one) {
    return one.is_string() && plain(one.as_string()) == got;
  });
}

// An answer for a list, as the original walks through it: a text is the list of its characters, so
// "", which marks that a parameter may be left out, also allows an empty list. Null: no list.
Json list_of(const Json& answer) {
  if (answer.is_array()) return plain_list(answer);
  Json out = Json::array();
  if (answer.is_object() && answer.size() == 0) return out;
  if (!answer.is_string()) return {};
  const std::string text = readable(answer.as_string());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = text::decode_at(text, at).bytes;
    out.push_back(plain(std::string_view(text).substr(at, bytes)));
    at += bytes;
  }
  return out;
}

bool list_allowed(const Json& value, const Json& allowed) {
  const Json got = plain_list(value);
  return std::any_of(allowed.items().begin(), allowed.items().end(),
                     [&got](const Json& one) { return same_value(got, list_of(one)); });
}

// Compares with one answer: each of its keys with one of its values.
bool dict_is(const Json& value, const Json& answer) {
  for (const auto& [key, one] : value.members()) {
    const Json* const allowed = answer.find(key);
    if (allowed == nullptr || !among(plain_items(one), plain_list(*allowed))) return false;
  }
  return std::all_of(answer.members().begin(), answer.members().end(), [&value](const auto& one) {
    return value.find(one.first) != nullptr || may_be_left_out(one.second);
  });
}

bool dict_allowed(const Json& value, const Json& allowed) {
  return std::any_of(allowed.items().begin(), allowed.items().end(),
                     [&value](const Json& one) { return one.is_object() && dict_is(value, one); });
}

bool dicts_allowed(const Json& value, const Json& allowed) {
  return std::any_of(allowed.items().begin(), allowed.items().end(), [&value](const Json& one) {
    return one.is_array() && std::equal(value.items().begin(), value.items().end(),
                                        one.items().begin(), one.items().end(), dict_is);
  });
}

struct Typed {
  bool right = false;
  bool variable = false;  // the key allows a variable's name for another type
};

// Returns the kind of the first value that is not "" (may be left out).
std::optional<ValueKind> kind_of_answers(const Json& allowed) {
  for (const Json& one : allowed.items()) {
    if (!one.is_string() || !one.as_string().empty()) return value_kind(one);
  }
  return std::nullopt;
}

bool items_are(const Json& value, const Json& allowed, ValueKind nested);

Typed typed(const Json& value, const Json& allowed, ValueKind wanted,
            std::optional<ValueKind> nested) {
  const std::optional<ValueKind> answers = kind_of_answers(allowed);
  const bool variable = answers && *answers != wanted;
  if (value_kind(value) == wanted && (!nested || items_are(value, allowed, *nested))) {
    return {true, variable};
  }
  if (answers && value_kind(value) == *answers) return {true, true};
  return {};
}

// True if every element has the type of one of the answers.
bool items_are(const Json& value, const Json& allowed, ValueKind nested) {
  return std::any_of(allowed.items().begin(), allowed.items().end(), [&](const Json& answer) {
    return !answer.is_array() ||
           std::all_of(value.items().begin(), value.items().end(), [&](const Json& item) {
             return typed(item, answer, nested, std::nullopt).right;
           });
  });
}

bool parameter_is(Json value, const Json& described, const Json& allowed, CallLanguage language) {
  const std::string_view type = described["type"].as_string();
  const std::string_view nested_type = described["items"]["type"].as_string();
  const ValueKind wanted = kind_named(type);
  if (wanted == ValueKind::none) return false;
  std::optional<ValueKind> nested;
  const bool nests = type == "array" || type == "tuple" || type == "Array" || type == "ArrayList";
  if (nests && !nested_type.empty()) nested = kind_named(nested_type);
  if (language != CallLanguage::python) {
    if (!value.is_string()) return false;
    const std::string text(value.as_string());
    value = language == CallLanguage::java ? java_value(text, type, nested_type)
                                           : javascript_value(text, type, nested_type);
  } else if (wanted == ValueKind::real && value_kind(value) == ValueKind::whole) {
    value = Json(value.as_double());
  }
  const Typed is = typed(value, allowed, wanted, nested);
  if (!is.right) return false;
  if (!is.variable) {
    if (wanted == ValueKind::dict) return dict_allowed(value, allowed);
    if (wanted == ValueKind::list && nested == ValueKind::dict)
      return dicts_allowed(value, allowed);
    if (wanted == ValueKind::text) return text_allowed(value, allowed);
    if (wanted == ValueKind::list) return list_allowed(value, allowed);
  }
  return among(value, allowed);
}

// Tool names may not contain dots, so a dot becomes "_".
std::string tool_name(std::string_view name) {
  std::string out(name);
  std::replace(out.begin(), out.end(), '.', '_');
  return out;
}

const Json& described(const Json& functions, std::string_view name) {
  static const Json kNone;
  const std::string wanted = tool_name(name);
  for (const Json& item : functions.items()) {
    const Json& function = item["function"].is_object() ? item["function"] : item;
    if (tool_name(function["name"].as_string()) == wanted) return function;
  }
  return kNone;
}

bool call_is(const FunctionCall& call, const Json& functions, const Json& possible,
             CallLanguage language) {
  if (possible.members().empty()) return false;
  const auto& [name, answer] = possible.members().front();
  // A call that keeps the dot is no call of the tool, also in the leaderboard.
  if (call.name != tool_name(name)) return false;
  const Json& parameters = described(functions, name)["parameters"];
  const Json& properties = parameters["properties"];
  for (const Json& required : parameters["required"].items()) {
    if (call.arguments.find(required.as_string()) == nullptr) return false;
  }
  for (const auto& [key, value] : call.arguments.members()) {
    const Json* const allowed = answer.find(key);
    const Json* const known = properties.find(key);
    if (allowed == nullptr || known == nullptr) return false;
    if (!parameter_is(value, *known, *allowed, language)) return false;
  }
  return std::all_of(answer.members().begin(), answer.members().end(), [&call](const auto& one) {
    return call.arguments.find(one.first) != nullptr || may_be_left_out(one.second);
  });
}

}  // namespace

bool calls_match(const std::vector<FunctionCall>& calls, const Json& functions,
                 const Json& possible, CallLanguage language, bool in_parallel) {
  if (!in_parallel) {
    return calls.size() == 1 && possible.size() > 0 &&
           call_is(calls.front(), functions, possible[0], language);
  }
  if (calls.size() != possible.size()) return false;
  // As in the leaderboard, each answer in turn takes the first remaining call that fits it.
  std::vector<bool> taken(calls.size());
  for (const Json& answer : possible.items()) {
    std::size_t at = 0;
    while (at < calls.size() && (taken[at] || !call_is(calls[at], functions, answer, language))) {
      ++at;
    }
    if (at == calls.size()) return false;
    taken[at] = true;
  }
  return true;
}

}  // namespace assay::score
