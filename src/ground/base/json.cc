#include "base/json.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <new>
#include <optional>

#include "base/check.h"
#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/text.h"

namespace assay {
namespace {

const Json kNull;
const Json::Array kNoItems;
const Json::Object kNoMembers;

// A whole number in JSON's spelling that fits no 64-bit type but is near a double.
bool is_beyond_64_bits(std::string_view token) {
  constexpr std::size_t kDigitsMost = 308;
  const bool negative = token.starts_with('-');
  const std::string_view digits = token.substr(negative ? 1 : 0);
  if (digits.size() < 19 || digits.size() > kDigitsMost || digits.front() == '0') return false;
  if (digits.find_first_not_of("0123456789") != std::string_view::npos) return false;
  const char* const end = token.data() + token.size();
  std::int64_t small = 0;
  std::uint64_t large = 0;
  const auto read = negative ? std::from_chars(token.data(), end, small)
                             : std::from_chars(token.data(), end, large);
  return read.ec == std::errc::result_out_of_range;
}

}  // namespace

// Rare: Hugging Face's int(1e30), a bound in a schema, a number in a tool call. simdjson refuses
// them as integers, so each is replaced by a text that occurs nowhere else: it contains the hash of
// the whole document, which no document contains.
class WideIntegers {
 public:
  explicit WideIntegers(std::string_view text) : mark_(sha256_hex(text)) {
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = at + 1;
      std::string_view token;
      if (text[at] == '"') {
        while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2U : 1U;
        end = std::min(end + 1, text.size());
      } else if (text[at] == '-' || (text[at] >= '0' && text[at] <= '9')) {
        end = std::min(text.find_first_not_of("0123456789+-.eE", at), text.size());
        token = text.substr(at, end - at);
      }
      const std::size_t next = text.find_first_not_of(" \t\r\n", end);
      const bool key = next != text.npos && text[next] == ':';  // invalid JSON must stay invalid
      const bool wide = !key && is_beyond_64_bits(token);
      text_ += wide ? format("\"{} {}\"", mark_, token) : std::string(text.substr(at, end - at));
      at = end;
    }
  }

  const std::string& text() const { return text_; }
  // A text that represents a number becomes that number; other texts stay texts.
  Json value_of(std::string text) const {
    if (!text.starts_with(mark_)) return text;
    return Json(Json::Wide{text.substr(mark_.size() + 1)});
  }

 private:
  std::string mark_;
  std::string text_{};
};

namespace {

Json convert(const simdjson::dom::element& element, const WideIntegers* wide) {
  using Type = simdjson::dom::element_type;
  switch (element.type()) {
    case Type::ARRAY: {
      Json::Array out;
      const simdjson::dom::array array = element.get_array().value_unsafe();
      out.reserve(array.size());
      for (const simdjson::dom::element child : array) out.push_back(convert(child, wide));
      return out;
    }
    case Type::OBJECT: {
      const simdjson::dom::object object = element.get_object().value_unsafe();
      Json::Object out;
      out.reserve(object.size());
      for (const auto& [key, child] : object) {
        out.emplace_back(std::string(key), convert(child, wide));
      }
      // The last of repeated keys wins; the common small object has no repeated key.
      if (out.size() <= 64) {
        for (std::size_t i = 0; i < out.size(); ++i) {
          for (std::size_t j = i + 1; j < out.size(); ++j) {
            if (out[i].first != out[j].first) continue;
            out[i].second = std::move(out[j].second);
            out.erase(out.begin() + static_cast<std::ptrdiff_t>(j));
            --j;
          }
        }
      }
      return out;
    }
    case Type::INT64:
      return std::int64_t{element.get_int64().value_unsafe()};
    case Type::UINT64:
      return std::uint64_t{element.get_uint64().value_unsafe()};
    case Type::DOUBLE:
      return element.get_double().value_unsafe();
    case Type::STRING:
      if (wide != nullptr) return wide->value_of(std::string(element.get_string().value_unsafe()));
      return std::string(element.get_string().value_unsafe());
    case Type::BOOL:
      return element.get_bool().value_unsafe();
    case Type::NULL_VALUE:
      return nullptr;
  }
  return nullptr;
}

void append(std::string& out, const Json& value, int indent, int depth);

void new_line(std::string& out, int indent, int depth) {
  if (indent < 0) return;
  out += '\n';
  out.append(static_cast<std::size_t>(indent) * static_cast<std::size_t>(depth), ' ');
}

void append_array(std::string& out, const Json::Array& items, int indent, int depth) {
  out += '[';
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += ',';
    new_line(out, indent, depth + 1);
    append(out, items[i], indent, depth + 1);
  }
  if (!items.empty()) new_line(out, indent, depth);
  out += ']';
}

void append_object(std::string& out, const Json::Object& members, int indent, int depth) {
  out += '{';
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (i > 0) out += ',';
    new_line(out, indent, depth + 1);
    append_json_quoted(out, members[i].first);
    out += indent < 0 ? ":" : ": ";
    append(out, members[i].second, indent, depth + 1);
  }
  if (!members.empty()) new_line(out, indent, depth);
  out += '}';
}

void append(std::string& out, const Json& value, int indent, int depth) {
  if (value.is_null()) {
    out += "null";
  } else if (value.is_bool()) {
    out += value.as_bool() ? "true" : "false";
  } else if (value.is_integer()) {
    const std::int64_t number = value.as_int(-1);
    out += number == -1 && value.as_uint(0) != 0 ? std::to_string(value.as_uint())
                                                 : std::to_string(number);
  } else if (!value.wide_digits().empty()) {
    out += value.wide_digits();
  } else if (value.is_number()) {
    out += json_number(value.as_double());
  } else if (value.is_string()) {
    append_json_quoted(out, value.as_string());
  } else if (value.is_array()) {
    append_array(out, value.items(), indent, depth);
  } else {
    append_object(out, value.members(), indent, depth);
  }
}

// Does it stand in a JSON string as it is, whatever is beside it?
bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

// The length of the valid UTF-8 sequence at `at`, or 0. REQUIRES: no ASCII is there.
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const auto c = static_cast<unsigned char>(text[at]);
  const std::size_t length = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
  if (at + length > text.size() || !valid_utf8(text.substr(at, length))) return 0;
  return length;
}

}  // namespace

Result<Json> Json::parse(std::string_view text) {
  try {
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    if (text.empty()) text = "";  // an empty view may be null, which simdjson must not copy
    auto error = parser.parse(text.data(), text.size()).get(root);
    std::optional<WideIntegers> wide;
    if (error == simdjson::NUMBER_ERROR) {
      wide.emplace(text);
      error = parser.parse(wide->text()).get(root);
    }
    if (error == simdjson::MEMALLOC) throw std::bad_alloc();
    if (error) return Error{Code::corrupt, format("not valid JSON: {}", error_message(error))};
    return convert(root, wide ? &*wide : nullptr);
  } catch (const std::bad_alloc&) {
    throw;  // not an error of the input
  } catch (const std::exception& e) {
    return Error{Code::corrupt, format("not valid JSON: {}", e.what())};
  }
}

bool Json::is_integer() const {
  return std::holds_alternative<std::int64_t>(value_) ||
         std::holds_alternative<std::uint64_t>(value_);
}

std::string_view Json::type_name() const {
  if (is_null()) return "null";
  if (is_bool()) return "boolean";
  if (is_number()) return "number";
  if (is_string()) return "string";
  return is_array() ? "array" : "object";
}

bool Json::as_bool(bool fallback) const {
  const bool* value = std::get_if<bool>(&value_);
  return value ? *value : fallback;
}

std::int64_t Json::as_int(std::int64_t fallback) const {
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return *value;
  if (const auto* value = std::get_if<std::uint64_t>(&value_)) {
    return *value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())
               ? static_cast<std::int64_t>(*value)
               : fallback;
  }
  if (const auto* value = std::get_if<double>(&value_)) {
    if (std::fabs(*value) < 9e18 && std::trunc(*value) == *value) {
      return static_cast<std::int64_t>(*value);
    }
  }
  return fallback;
}

std::uint64_t Json::as_uint(std::uint64_t fallback) const {
  if (const auto* value = std::get_if<std::uint64_t>(&value_)) return *value;
  const std::int64_t value = as_int(-1);
  return value >= 0 ? static_cast<std::uint64_t>(value) : fallback;
}

std::string_view Json::wide_digits() const {
  const auto* wide = std::get_if<Wide>(&value_);
  return wide != nullptr ? std::string_view(wide->digits) : std::string_view();
}

double Json::as_double(double fallback) const {
  if (const auto* wide = std::get_if<Wide>(&value_)) {
    return parse_double(wide->digits).value_or(fallback);
  }
  if (const auto* value = std::get_if<double>(&value_)) return *value;
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*value);
  if (const auto* value = std::get_if<std::uint64_t>(&value_)) return static_cast<double>(*value);
  return fallback;
}

std::string_view Json::as_string(std::string_view fallback) const {
  const auto* value = std::get_if<std::string>(&value_);
  return value ? std::string_view(*value) : fallback;
}

const Json::Array& Json::items() const {
  const auto* value = std::get_if<Array>(&value_);
  return value ? *value : kNoItems;
}

const Json::Object& Json::members() const {
  const auto* value = std::get_if<Object>(&value_);
  return value ? *value : kNoMembers;
}

const Json* Json::find(std::string_view key) const {
  for (const Member& member : members()) {
    if (member.first == key) return &member.second;
  }
  return nullptr;
}

Json* Json::find(std::string_view key) {
  return const_cast<Json*>(static_cast<const Json*>(this)->find(key));
}

const Json& Json::operator[](std::string_view key) const {
  const Json* member = find(key);
  return member ? *member : kNull;
}

const Json& Json::operator[](std::size_t index) const {
  return index < items().size() ? items()[index] : kNull;
}

std::size_t Json::size() const { return is_array() ? items().size() : members().size(); }

Json& Json::set(std::string_view key, Json value) {
  if (Json* member = find(key)) {
    *member = std::move(value);
  } else {
    make_object().emplace_back(std::string(key), std::move(value));
  }
  return *this;
}

void Json::erase(std::string_view key) {
  if (!is_object()) return;
  std::erase_if(std::get<Object>(value_), [&](const Member& m) { return m.first == key; });
}

Json& Json::push_back(Json value) {
  make_array().push_back(std::move(value));
  return *this;
}

Json::Array& Json::make_array() {
  if (is_null()) value_ = Array{};
  CHECK(is_array());
  return std::get<Array>(value_);
}

Json::Object& Json::make_object() {
  if (is_null()) value_ = Object{};
  CHECK(is_object());
  return std::get<Object>(value_);
}

std::string Json::dump(int indent) const {
  std::string out;
  append(out, *this, indent, 0);
  return out;
}

void append_json_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t from = i;
    while (i < text.size() && is_plain(text[i])) ++i;
    out.append(text, from, i - from);
    if (i == text.size()) break;
    const char c = text[i];
    switch (c) {
      case '"':
        out += "\\\"";
        ++i;
        continue;
      case '\\':
        out += "\\\\";
        ++i;
        continue;
      case '\n':
        out += "\\n";
        ++i;
        continue;
      case '\r':
        out += "\\r";
        ++i;
        continue;
      case '\t':
        out += "\\t";
        ++i;
        continue;
      default:
        break;
    }
    if (static_cast<unsigned char>(c) < 0x20) {
      out += format("\\u{:04x}", static_cast<unsigned>(c));
      ++i;
      continue;
    }
    const std::size_t length = sequence_length(text, i);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
      ++i;
    } else {
      out.append(text, i, length);
      i += length;
    }
  }
  out += '"';
}

std::string json_quote(std::string_view text) {
  std::string out;
  append_json_quoted(out, text);
  return out;
}

std::string json_number(double value) {
  if (!std::isfinite(value)) return "null";
  std::array<char, 32> buffer{};
  const double magnitude = std::fabs(value);
  const bool plain = magnitude == 0 || (magnitude >= 1e-4 && magnitude < 1e16);
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                    plain ? std::chars_format::fixed : std::chars_format::scientific);
  CHECK(error == std::errc{});
  std::string text(buffer.data(), end);
  if (plain && text.find('.') == std::string::npos) text += ".0";
  return text;
}

Result<Json> read_json_file(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const std::string text, read_file(path));
  auto json = Json::parse(text);
  if (!json) return json.error().within(path.string());
  return *std::move(json);
}

}  // namespace assay
