#include "dataset/croissant_value.h"

#include <cmath>
#include <utility>

#include "base/format.h"
#include "base/text.h"

namespace assay::dataset::croissant {
namespace {

// Where capturing groups begin and end, at the pattern's top level.
std::vector<std::pair<std::size_t, std::size_t>> groups_of(const std::string& pattern) {
  std::vector<std::pair<std::size_t, std::size_t>> out;
  int depth = 0;
  bool in_class = false;
  bool open = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\') {
      ++i;
    } else if (in_class) {
      in_class = c != ']';
    } else if (c == '[') {
      in_class = true;
      // A bracket that stands first is a character of the class.
      if (i + 1 < pattern.size() && pattern[i + 1] == '^') ++i;
      if (i + 1 < pattern.size() && pattern[i + 1] == ']') ++i;
    } else if (c == '(') {
      const bool plain = i + 1 >= pattern.size() || pattern[i + 1] != '?';
      const bool named = pattern.compare(i, 4, "(?P<") == 0;
      if (depth == 0 && (plain || named)) {
        begin = i;
        open = true;
      }
      ++depth;
    } else if (c == ')') {
      --depth;
      if (depth == 0 && open) {
        out.emplace_back(begin, i + 1);
        open = false;
      }
    }
  }
  return out;
}

// (?P<name>…) as (…), since names are not asked for.
std::string unnamed(std::string pattern) {
  for (std::size_t at = 0; (at = pattern.find("(?P<", at)) != std::string::npos;) {
    const std::size_t end = pattern.find('>', at);
    if (end == std::string::npos) break;
    pattern.replace(at, end + 1 - at, "(");
  }
  return pattern;
}

Result<std::shared_ptr<const text::Regex>> compiled(const std::string& pattern) {
  // As Python has it, ^ and $ are of the text, and match() begins at its start.
  ASSIGN_OR_RETURN(text::Regex regex, text::Regex::compile(pattern, text::RegexDialect::rust));
  return std::make_shared<const text::Regex>(std::move(regex));
}

bool is_null_text(const Json& value) { return value.is_null(); }

}  // namespace

Result<GroupRegex> GroupRegex::compile(const std::string& original) {
  GroupRegex out;
  const std::string pattern = unnamed(original);
  ASSIGN_OR_RETURN(out.whole_, compiled("\\A(?:" + pattern + ")"));
  for (const auto& [begin, end] : groups_of(pattern)) {
    const std::string before = pattern.substr(0, begin);
    const std::string group = pattern.substr(begin, end - begin);
    const std::string after = pattern.substr(end);
    // Alternatives at the top level would be cut in two.
    Part part;
    auto first = compiled("\\A(?:" + before + ")(?=" + group + after + ")");
    auto second = compiled(group + "(?=" + after + ")");
    if (!first || !second) {
      return invalid(
          format("the regex \"{}\" is not read: its group must not stand beside "
                 "alternatives or be repeated",
                 original));
    }
    part.before = *first;
    part.group = *second;
    out.parts_.push_back(std::move(part));
  }
  return out;
}

Result<bool> GroupRegex::match(std::string_view text, std::string& group) const {
  text::RegexStack stack;
  text::Regex::Match match;
  const auto find = [&](const text::Regex& regex, std::size_t from) {
    stack.steps = 0;
    return regex.find(text, from, stack, match);
  };
  const Error exhausted = invalid("the regex needs too many steps on this text");
  if (!find(*whole_, 0)) {
    if (stack.exhausted) return exhausted;
    return false;
  }
  group = text.substr(match.begin, match.end - match.begin);
  for (const Part& part : parts_) {
    if (!find(*part.before, 0)) continue;
    const std::size_t begin = match.end;
    if (!find(*part.group, begin) || match.begin != begin) continue;
    group = text.substr(match.begin, match.end - match.begin);
    return true;
  }
  if (stack.exhausted) return exhausted;
  return true;
}

Result<FieldValue> FieldValue::make(const Field& field) {
  FieldValue out(field);
  for (const Transform& from : field.source.transforms) {
    Step step{.kind = from.kind, .text = from.text};
    if (from.kind == Transform::Kind::regex) {
      auto regex = GroupRegex::compile(from.text);
      if (!regex) return regex.error().within(format("field '{}'", field.id));
      step.regex = std::make_shared<const GroupRegex>(*std::move(regex));
    }
    if (from.kind == Transform::Kind::json_path) {
      auto path = JsonPath::parse(from.text);
      if (!path) return path.error().within(format("field '{}'", field.id));
      step.path = std::make_shared<const JsonPath>(*std::move(path));
    }
    if (from.kind == Transform::Kind::separator && from.text.empty()) {
      return invalid(format("field '{}': an empty separator", field.id));
    }
    out.steps_.push_back(std::move(step));
  }
  return out;
}

Result<Json> FieldValue::one(const Step& step, const Json& value) {
  if (is_null_text(value)) return value;
  const std::string text = value.is_string() ? std::string(value.as_string()) : value.dump();
  switch (step.kind) {
    case Transform::Kind::regex: {
      std::string group;
      ASSIGN_OR_RETURN(const bool found, step.regex->match(text, group));
      return found ? Json(group) : value;
    }
    case Transform::Kind::separator: {
      Json out = Json::array();
      std::string_view rest = text;
      for (;;) {
        const std::size_t at = rest.find(step.text);
        out.push_back(Json(rest.substr(0, at)));
        if (at == std::string_view::npos) return out;
        rest.remove_prefix(at + step.text.size());
      }
    }
    case Transform::Kind::read_lines: {
      Json out = Json::array();
      for (std::string_view line : split(text, '\n')) {
        if (line.ends_with('\r')) line.remove_suffix(1);
        out.push_back(Json(line));
      }
      return out;
    }
    case Transform::Kind::json_path: {
      Json parsed = value;
      if (value.is_string()) {
        auto json = Json::parse(text);
        if (json) parsed = *std::move(json);
      }
      const std::vector<const Json*> found = step.path->find(parsed);
      return found.empty() ? Json() : *found.front();
    }
    case Transform::Kind::replace: {
      // "old/new", as 1.0's examples have it.
      const std::size_t slash = step.text.find('/');
      const std::string from = step.text.substr(0, slash);
      const std::string to = slash == std::string::npos ? "" : step.text.substr(slash + 1);
      std::string out = text;
      for (std::size_t at = 0; !from.empty() && (at = out.find(from, at)) != std::string::npos;) {
        out.replace(at, from.size(), to);
        at += to.size();
      }
      return Json(std::move(out));
    }
  }
  return value;
}

Result<Json> FieldValue::transform(const Json& raw) const {
  Json value = raw;
  for (const Step& step : steps_) {
    if (value.is_array()) {
      for (Json& item : value.make_array()) {
        ASSIGN_OR_RETURN(item, one(step, item));
      }
    } else {
      ASSIGN_OR_RETURN(value, one(step, value));
    }
  }
  return value;
}

Result<Json> FieldValue::cast(const Json& value) const {
  const std::string& type = field_->type;
  const auto wrong = [&] {
    return invalid(format("field '{}': {} is no {}", field_->id, value.dump(), type));
  };
  if (value.is_null()) return value;
  if (value.is_array()) {
    Json out = Json::array();
    for (const Json& item : value.items()) {
      ASSIGN_OR_RETURN(Json each, cast(item));
      out.push_back(std::move(each));
    }
    return out;
  }
  const bool whole = type == "Integer" || type.starts_with("Int") || type.starts_with("UInt");
  const bool real = type == "Float" || type == "Number" || type.starts_with("Float");
  if (whole || real) {
    if (whole && value.is_integer()) return value;
    double number = value.as_double();
    if (value.is_string()) {
      if (whole) {
        const auto exact = parse_int(trim(value.as_string()));
        if (exact) return Json(*exact);
      }
      const auto parsed = parse_double(trim(value.as_string()));
      if (!parsed) return wrong();
      number = *parsed;
    } else if (!value.is_number()) {
      return wrong();
    }
    if (!whole) return Json(number);
    if (!(std::fabs(number) < 9e18)) return wrong();
    return Json(static_cast<std::int64_t>(number));
  }
  if (type == "Boolean") {
    if (value.is_bool()) return value;
    const std::string text = lower(value.as_string());
    if (text == "true" || text == "1" || value == Json(1)) return Json(true);
    if (text == "false" || text == "0" || value == Json(0)) return Json(false);
    return wrong();
  }
  if (type == "Text" || type == "URL") {
    if (value.is_string()) return value;
    if (value.is_bool()) return Json(value.as_bool() ? "True" : "False");
    return Json(value.dump());
  }
  return value;
}

Result<Json> FieldValue::apply(const Json& raw) const {
  ASSIGN_OR_RETURN(const Json value, transform(raw));
  return cast(value);
}

}  // namespace assay::dataset::croissant
