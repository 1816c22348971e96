// A struct's members in JSON, named once for both directions, so that writing and reading cannot
// differ:
//
//     constexpr auto kLagFields = [](auto& io, auto& lag) {
//       io.field("count", lag.count);
//       io.field("p99_ns", lag.p99);
//     };
//     Json json = json_of(lag, kLagFields);
//     read_fields(json, lag, kLagFields);
//
// Members are written in that order; a Duration as its nanoseconds, an empty optional as null.
// Reading is tolerant, as Json's is: what is missing or of another kind leaves the field as it was.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/time.h"

namespace assay {

class FieldWriter {
 public:
  template <typename T>
  void field(std::string_view key, const T& value) {
    json_.set(key, value);
  }
  void field(std::string_view key, const Duration& value) { json_.set(key, value.ns); }
  template <typename T>
  void field(std::string_view key, const std::optional<T>& value) {
    json_.set(key, value ? Json(*value) : Json());
  }
  template <typename T, typename Fields>
  void part(std::string_view key, const T& value, Fields&& fields) {
    json_.set(key, of(value, fields));
  }
  template <typename T, typename Fields>
  void list(std::string_view key, const std::vector<T>& values, Fields&& fields) {
    Json all = Json::array();
    for (const T& value : values) all.push_back(of(value, fields));
    json_.set(key, std::move(all));
  }

  template <typename T, typename Fields>
  static Json of(const T& value, Fields&& fields, Json start = Json::object()) {
    FieldWriter io;
    io.json_ = std::move(start);
    fields(io, value);
    return std::move(io.json_);
  }

 private:
  Json json_{};
};

class FieldReader {
 public:
  explicit FieldReader(const Json& json) : json_(json) {}

  template <typename T>
  void field(std::string_view key, T& value) {
    const Json& found = json_[key];
    if constexpr (std::is_same_v<T, bool>) {
      value = found.as_bool(value);
    } else if constexpr (std::is_same_v<T, std::string>) {
      value = std::string(found.as_string(value));
    } else if constexpr (std::is_floating_point_v<T>) {
      value = found.as_double(value);
    } else if constexpr (std::is_unsigned_v<T>) {
      value = static_cast<T>(found.as_uint(value));
    } else {
      value = static_cast<T>(found.as_int(value));
    }
  }
  void field(std::string_view key, Duration& value) { value.ns = json_[key].as_int(value.ns); }
  void field(std::string_view key, std::optional<double>& value) {
    if (json_[key].is_number()) value = json_[key].as_double();
  }
  template <typename T, typename Fields>
  void part(std::string_view key, T& value, Fields&& fields) {
    FieldReader inner(json_[key]);
    fields(inner, value);
  }
  template <typename T, typename Fields>
  void list(std::string_view key, std::vector<T>& values, Fields&& fields) {
    for (const Json& item : json_[key].items()) {
      FieldReader inner(item);
      fields(inner, values.emplace_back());
    }
  }

 private:
  const Json& json_;
};

// The members follow those of `start`.
template <typename T, typename Fields>
Json json_of(const T& value, Fields&& fields, Json start = Json::object()) {
  return FieldWriter::of(value, fields, std::move(start));
}

template <typename T, typename Fields>
void read_fields(const Json& json, T& value, Fields&& fields) {
  FieldReader io(json);
  fields(io, value);
}

}  // namespace assay
