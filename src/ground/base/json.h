// Json: one JSON value that keeps the order of its members. For configs, results and reports; not
// for the measuring path (protocol/ reads stream events in place).
//
// Integers keep 64 bits, signed or unsigned, exactly. A wider integer that was read keeps its
// digits and is written with them; as a value it is the nearest double, and no integer. Doubles are
// written in the shortest form that reads back the same, spelled as in Python (1.0, 1e+16), because
// our files are compared with the reference client's. Non-finite numbers are written as null. An
// object keeps the order of insertion; a repeated key keeps the last value, as common readers do.
//
// Parsing is simdjson's (strict RFC 8259); depth is limited. A value belongs to one thread at a
// time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace assay {

class Json {
 public:
  using Array = std::vector<Json>;
  using Member = std::pair<std::string, Json>;
  using Object = std::vector<Member>;

  Json() = default;
  Json(std::nullptr_t) {}
  Json(bool value) : value_(value) {}
  Json(int value) : value_(std::int64_t{value}) {}
  Json(unsigned value) : value_(std::int64_t{value}) {}
  Json(long value) : value_(std::int64_t{value}) {}
  Json(unsigned long value) : value_(std::uint64_t{value}) {}
  Json(long long value) : value_(std::int64_t{value}) {}
  Json(unsigned long long value) : value_(std::uint64_t{value}) {}
  Json(double value) : value_(value) {}
  Json(const char* value) : value_(std::string(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(Array value) : value_(std::move(value)) {}
  Json(Object value) : value_(std::move(value)) {}
  static Json array() { return Json(Array{}); }
  static Json object() { return Json(Object{}); }

  // Strict; the error names line and column.
  static Result<Json> parse(std::string_view text);

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_bool() const { return std::holds_alternative<bool>(value_); }
  bool is_integer() const;
  bool is_number() const {
    return is_integer() || std::holds_alternative<double>(value_) || !wide_digits().empty();
  }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<Array>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }
  std::string_view type_name() const;

  // Tolerant reading: returns the fallback when the value is of another kind (or out of range).
  bool as_bool(bool fallback = false) const;
  std::int64_t as_int(std::int64_t fallback = 0) const;
  std::uint64_t as_uint(std::uint64_t fallback = 0) const;
  double as_double(double fallback = 0) const;
  // Empty when not a string. The view is valid until this value changes.
  std::string_view as_string(std::string_view fallback = {}) const;
  // The digits of a whole number beyond 64 bits, as read; else empty.
  std::string_view wide_digits() const;
  // Empty when not an array or object.
  const Array& items() const;
  const Object& members() const;

  // The member, or nullptr when this is no object or has no such member.
  const Json* find(std::string_view key) const;
  Json* find(std::string_view key);
  // The member or element, or else a static null value: json["a"]["b"][2].as_int().
  const Json& operator[](std::string_view key) const;
  const Json& operator[](std::size_t index) const;
  std::size_t size() const;

  // set() replaces or appends a member and returns *this for chaining; a null value becomes an
  // object.
  Json& set(std::string_view key, Json value);
  void erase(std::string_view key);
  // A null value becomes an array.
  Json& push_back(Json value);
  // Mutable access; a null value becomes the container.
  Array& make_array();
  Object& make_object();

  // indent < 0: compact, one line, "a":1. Else pretty, `indent` spaces a level, as Python's
  // json.dumps(indent=…, ensure_ascii=False).
  std::string dump(int indent = -1) const;

  bool operator==(const Json& other) const { return value_ == other.value_; }

 private:
  friend class WideIntegers;
  struct Wide {
    std::string digits{};
    bool operator==(const Wide&) const = default;
  };
  explicit Json(Wide value) : value_(std::move(value)) {}

  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Array,
               Object, Wide>
      value_{};
};

// The whole file, parsed. Errors name the file.
Result<Json> read_json_file(const std::filesystem::path& path);

// `text` as a JSON string literal with its quotes. Invalid UTF-8 becomes U+FFFD.
std::string json_quote(std::string_view text);
void append_json_quoted(std::string& out, std::string_view text);
// A double as Python's repr spells it; "null" when not finite.
std::string json_number(double value);

}  // namespace assay
