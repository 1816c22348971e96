// Java and JavaScript values from source text, with their meaning in the answer keys.
#include <algorithm>
#include <optional>

#include "base/text.h"
#include "score/tool/function_match.h"

namespace assay::score {
namespace {

bool digits(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<Json> whole(std::string_view text) {
  if (!digits(text)) return std::nullopt;
  const auto value = parse_int(text);
  return value ? std::optional<Json>(Json(*value)) : std::nullopt;
}

// Reads digits, a point with digits, and, if `exponent`, an exponent.
std::optional<Json> real(std::string_view text, bool exponent) {
  const std::size_t e = text.find_first_of("eE");
  if (e != std::string_view::npos) {
    std::string_view power = text.substr(e + 1);
    if (power.starts_with('+')) power.remove_prefix(1);
    if (!exponent || !digits(power)) return std::nullopt;
  }
  const std::string_view mantissa = text.substr(0, e);
  const std::size_t point = mantissa.find('.');
  if (!digits(mantissa.substr(0, point))) return std::nullopt;
  if (point != std::string_view::npos) {
    const std::string_view after = mantissa.substr(point + 1);
    if (!digits(after) || after.starts_with('-')) return std::nullopt;
  }
  const auto value = parse_double(text);
  return value ? std::optional<Json>(Json(*value)) : std::nullopt;
}

bool quoted(std::string_view text, std::string_view quotes) {
  return text.size() >= 2 && text.front() == text.back() &&
         quotes.find(text.front()) != std::string_view::npos;
}

std::string_view unquoted(std::string_view text) { return text.substr(1, text.size() - 2); }

// Reads a value without a declared type.
Json loose_value(std::string_view text, std::string_view quotes) {
  text = trim(text);
  if (text == "true" || text == "false") return Json(text == "true");
  if (quoted(text, quotes)) return Json(unquoted(text));
  if (const auto value = parse_int(text)) return Json(*value);
  if (const auto value = parse_double(text)) return Json(*value);
  return Json(text);
}

Json java_loose(std::string_view text) {
  if (!text.empty()) {
    const std::string_view shorter = text.substr(0, text.size() - 1);
    const char suffix = text.back();
    const bool is_long = suffix == 'l' || suffix == 'L';
    const bool is_float = suffix == 'f' || suffix == 'F';
    if (is_long || is_float) {
      if (const auto value = is_long ? whole(shorter) : real(shorter, true)) return *value;
    }
  }
  return loose_value(text, "\"");
}

// Returns the text between the first `open` and the first `close` after it; nullopt if one is
// missing.
std::optional<std::string_view> between(std::string_view text, std::string_view open,
                                        std::string_view close) {
  const std::size_t begin = text.find(open);
  if (begin == std::string_view::npos) return std::nullopt;
  text.remove_prefix(begin + open.size());
  const std::size_t end = text.find(close);
  if (end == std::string_view::npos) return std::nullopt;
  return text.substr(0, end);
}

std::vector<std::string_view> listed(std::string_view text) {
  std::vector<std::string_view> out;
  if (trim(text).empty()) return out;
  for (const std::string_view item : split(text, ',')) out.push_back(trim(item));
  return out;
}

Json java_items(std::string_view text, std::string_view nested, bool unquote) {
  Json out = Json::array();
  for (const std::string_view item : listed(text)) {
    if (unquote && (nested == "String" || nested == "char") && item.size() >= 2) {
      out.push_back(Json(unquoted(item)));
    } else {
      out.push_back(nested.empty() ? java_loose(item) : java_value(item, nested, ""));
    }
  }
  return out;
}

Json java_list(std::string_view text, std::string_view type, std::string_view nested) {
  if (text.find("new") == std::string_view::npos) return Json(text);
  if (type == "Array") {
    const auto inside = between(text, "{", "}");
    if (!inside || text.find("[]") == std::string_view::npos) return Json(text);
    return java_items(*inside, nested, false);
  }
  if (text.find("ArrayList<") == std::string_view::npos) return Json(text);
  if (const auto inside = between(text, "Arrays.asList(", "))")) {
    return java_items(*inside, nested, true);
  }
  Json out = Json::array();
  std::string_view rest = text;
  while (const auto inside = between(rest, "add(", ")")) {
    const Json one = java_items(*inside, nested, true);
    if (one.size() > 0) out.push_back(one[0]);
    rest = std::string_view(inside->data(),
                            static_cast<std::size_t>(text.data() + text.size() - inside->data()));
  }
  return out;
}

Json java_map(std::string_view text) {
  if (text.find("HashMap<") == std::string_view::npos) return Json(text);
  Json out = Json::object();
  std::string_view rest = text;
  while (const auto inside = between(rest, "put(\"", ")")) {
    rest = std::string_view(inside->data(),
                            static_cast<std::size_t>(text.data() + text.size() - inside->data()));
    const std::size_t end = inside->find('"');
    const std::size_t comma = inside->find(',', end);
    if (end == std::string_view::npos || comma == std::string_view::npos) continue;
    out.set(inside->substr(0, end), java_loose(trim(inside->substr(comma + 1))));
  }
  return out;
}

Json javascript_list(std::string_view text, std::string_view nested) {
  text = trim(text);
  std::optional<std::string_view> inside;
  if (text.starts_with("new Array(") && text.ends_with(")")) {
    inside = text.substr(10, text.size() - 11);
  } else if (text.starts_with("[") && text.ends_with("]")) {
    inside = text.substr(1, text.size() - 2);
  }
  if (!inside) return Json(text);
  Json out = Json::array();
  if (inside->find('[') != std::string_view::npos) {
    std::string_view rest = *inside;
    while (const auto one = between(rest, "[", "]")) {
      Json row = Json::array();
      for (const std::string_view item : listed(*one)) row.push_back(loose_value(item, "'\""));
      out.push_back(std::move(row));
      rest = rest.substr(static_cast<std::size_t>(one->data() + one->size() - rest.data()));
    }
    return out;
  }
  for (const std::string_view item : listed(*inside)) {
    out.push_back(nested.empty() ? loose_value(item, "'\"") : javascript_value(item, nested, ""));
  }
  return out;
}

std::string_view without_quotes(std::string_view text) {
  while (!text.empty() && (text.front() == '\'' || text.front() == '"')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == '\'' || text.back() == '"')) text.remove_suffix(1);
  return text;
}

// Members end at commas outside brackets.
Json javascript_map(std::string_view text) {
  text = trim(text);
  if (!text.starts_with("{") || !text.ends_with("}")) return Json(text);
  const std::string_view inside = text.substr(1, text.size() - 2);
  Json out = Json::object();
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= inside.size(); ++at) {
    const char c = at < inside.size() ? inside[at] : ',';
    depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    if (c != ',' || (depth > 0 && at < inside.size())) continue;
    const std::string_view member = inside.substr(begin, at - begin);
    begin = at + 1;
    const std::size_t colon = member.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = without_quotes(trim(member.substr(0, colon)));
    const std::string_view value = trim(member.substr(colon + 1));
    if (value.starts_with('[') && value.ends_with(']')) {
      out.set(key, javascript_list(value, ""));
    } else if (value.starts_with('{') && value.ends_with('}')) {
      // Depth is bounded: each level uses two brackets of a finite text.
      out.set(key, Json(value));
    } else {
      out.set(key, loose_value(without_quotes(value), "'\""));
    }
  }
  return out;
}

}  // namespace

Json java_value(std::string_view text, std::string_view type, std::string_view nested) {
  const std::string_view shorter = text.substr(0, text.empty() ? 0 : text.size() - 1);
  const char suffix = text.empty() ? '\0' : text.back();
  std::optional<Json> value;
  if (type == "byte" || type == "short" || type == "integer") value = whole(text);
  if (type == "long" && (suffix == 'l' || suffix == 'L')) value = whole(shorter);
  if (type == "float" && (suffix == 'f' || suffix == 'F')) value = real(shorter, true);
  if (type == "double") value = real(text, true);
  if (type == "boolean" && (text == "true" || text == "false")) value = Json(text == "true");
  if (type == "Array" || type == "ArrayList") return java_list(text, type, nested);
  if (type == "HashMap") return java_map(text);
  return value ? *value : Json(text);
}

Json javascript_value(std::string_view text, std::string_view type, std::string_view nested) {
  std::optional<Json> value;
  if (type == "String" && quoted(text, "'\"")) value = Json(unquoted(text));
  if (type == "integer") value = whole(text);
  if (type == "float") value = real(text, false);
  if (type == "Bigint" && text.ends_with('n')) value = whole(text.substr(0, text.size() - 1));
  if (type == "Boolean" && (text == "true" || text == "false")) value = Json(text == "true");
  if (type == "array") return javascript_list(text, nested);
  if (type == "dict") return javascript_map(text);
  return value ? *value : Json(text);
}

}  // namespace assay::score
