#include "dataset/croissant_value.h"

#include <cmath>
#include <utility>

#include "base/base64.h"
#include "base/format.h"
#include "base/text.h"
#include "dataset/binary_cell.h"

namespace assay::dataset::croissant {
namespace {

// Returns the begin and end of capturing groups at the pattern's top level.
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
      // A bracket at the start is a character of the class.
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

// Rewrites (?P<name>…) as (…); names are not used.
std::string unnamed(std::string pattern) {
  for (std::size_t at = 0; (at = pattern.find("(?P<", at)) != std::string::npos;) {
    const std::size_t end = pattern.find('>', at);
    if (end == std::string::npos) break;
    pattern.replace(at, end + 1 - at, "(");
  }
  return pattern;
}

Result<std::shared_ptr<const text::Regex>> compiled(const std::string& pattern) {
  // Python's ^ and $ match at the ends of the text, and match() begins at its start.
  ASSIGN_OR_RETURN(text::Regex regex, text::Regex::compile(pattern, text::RegexDialect::rust));
  return std::make_shared<const text::Regex>(std::move(regex));
}

bool is_null_text(const Json& value) { return value.is_null(); }

constexpr std::size_t kShapeMost = std::size_t{1} << 32;

void flatten(const Json& value, std::vector<Json>& out) {
  if (!value.is_array()) {
    out.push_back(value);
    return;
  }
  for (const Json& item : value.items()) flatten(item, out);
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string out;
  for (const std::int64_t size : shape) out += (out.empty() ? "" : ",") + std::to_string(size);
  return out;
}

bool fits(const Json& value, const std::vector<std::int64_t>& shape, std::size_t depth) {
  if (depth == shape.size()) return !value.is_array();
  if (!value.is_array()) return false;
  if (shape[depth] >= 0 && value.size() != static_cast<std::size_t>(shape[depth])) return false;
  for (const Json& item : value.items()) {
    if (!fits(item, shape, depth + 1)) return false;
  }
  return true;
}

// Nests the next `count` values in the shape from `depth` on. At most one size is open.
Json nested(const std::vector<Json>& values, const std::vector<std::int64_t>& shape,
            std::size_t depth, std::size_t count, std::size_t& next) {
  Json out = Json::array();
  std::size_t size = count;  // the last dimension's
  if (depth + 1 < shape.size()) {
    std::size_t inner = 1;
    bool open = false;
    for (std::size_t i = depth + 1; i < shape.size(); ++i) {
      open = open || shape[i] < 0;
      if (shape[i] > 0) inner *= static_cast<std::size_t>(shape[i]);
    }
    size = open ? static_cast<std::size_t>(shape[depth]) : count / inner;
  }
  for (std::size_t i = 0; i < size; ++i) {
    if (depth + 1 < shape.size()) {
      out.push_back(nested(values, shape, depth + 1, count / size, next));
    } else {
      out.push_back(values[next++]);
    }
  }
  return out;
}

// Returns the sampling rate of a WAV file in a cell (binary_cell.h); 0 if it is not a WAV file.
std::int64_t wave_rate(std::string_view cell) {
  constexpr std::size_t kHead = 64;  // digits: the 48 bytes with the first chunk
  std::string head(cell.substr(0, kHead));
  if (const auto coded = base64_of_cell(cell)) {
    const auto bytes = decode_base64(coded->substr(0, kHead));
    if (!bytes) return 0;
    head = *bytes;
  }
  const bool wave =
      head.size() >= 28 && head.starts_with("RIFF") && head.substr(8, 8) == "WAVEfmt ";
  if (!wave) return 0;
  std::int64_t rate = 0;
  for (std::size_t i = 4; i-- > 0;) rate = rate << 8 | static_cast<unsigned char>(head[24 + i]);
  return rate;
}

}  // namespace

Result<GroupRegex> GroupRegex::compile(const std::string& original) {
  GroupRegex out;
  const std::string pattern = unnamed(original);
  ASSIGN_OR_RETURN(out.whole_, compiled("\\A(?:" + pattern + ")"));
  for (const auto& [begin, end] : groups_of(pattern)) {
    const std::string before = pattern.substr(0, begin);
    const std::string group = pattern.substr(begin, end - begin);
    const std::string after = pattern.substr(end);
    // A split would break alternatives at the top level.
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
      // "old/new", as in 1.0's examples.
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
    return invalid(format("field '{}': {} is not of type {}", field_->id, value.dump(), type));
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

Result<Json> FieldValue::shaped(Json value) const {
  const std::vector<std::int64_t>& shape = field_->shape;
  if (shape.empty() || !value.is_array()) return value;
  std::vector<Json> values;
  flatten(value, values);
  const auto wrong = [&](std::string_view why) {
    return invalid(format("field '{}': {} values do not make an array of shape {}: {}", field_->id,
                          values.size(), shape_text(shape), why));
  };
  std::size_t known = 1;
  std::size_t open = 0;
  for (const std::int64_t size : shape) {
    if (size < 0) {
      ++open;
    } else if (static_cast<std::size_t>(size) > kShapeMost / known) {
      return wrong("it is too large");
    } else {
      known *= static_cast<std::size_t>(size);
    }
  }
  // With two open sizes the values must already be nested.
  if (open > 1)
    return fits(value, shape, 0) ? Result<Json>(std::move(value)) : wrong("its nesting");
  if (open == 0 ? values.size() != known : values.size() % known != 0) return wrong("its size");
  std::size_t next = 0;
  return nested(values, shape, 0, values.size(), next);
}

Result<void> FieldValue::check_rate(const Json& value) const {
  const std::int64_t wanted = field_->source.sampling_rate;
  if (wanted == 0 || value.is_null()) return {};
  const std::int64_t rate = wave_rate(value.as_string());
  if (rate == wanted) return {};
  return Error{Code::unsupported,
               format("field '{}': samplingRate {} is asked for, and the audio {}; Assay does not "
                      "resample",
                      field_->id, wanted,
                      rate > 0 ? format("has {} Hz", rate) : std::string("is not a WAV file"))};
}

Result<Json> FieldValue::apply(const Json& raw) const {
  ASSIGN_OR_RETURN(const Json value, transform(raw));
  TRY(check_rate(value));
  ASSIGN_OR_RETURN(Json made, cast(value));
  return shaped(std::move(made));
}

}  // namespace assay::dataset::croissant
