// How each kind of field is read, written and named in the guide: connects the rows of schema.h
// with the structs of config.h. Only the tables include it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "plan/config.h"
#include "plan/schema.h"

namespace assay::plan {

// Reads one value of this kind from `node`; returns false after it reported a problem to `reading`.
struct Spot {
  const Setting& setting;
  const yaml::Node& node;
  const std::string& path;
  Reading& reading;

  bool wrong(std::string what, std::string hint = {}) const {
    reading.wrong(node, path, std::move(what), std::move(hint));
    return false;
  }
};

bool read_field(const Spot& spot, std::string& out);
bool read_field(const Spot& spot, bool& out);
bool read_field(const Spot& spot, double& out);
bool read_field(const Spot& spot, std::int64_t& out);
bool read_field(const Spot& spot, std::uint64_t& out);
bool read_field(const Spot& spot, std::uint32_t& out);
bool read_field(const Spot& spot, Duration& out);
bool read_field(const Spot& spot, Json& out);
bool read_field(const Spot& spot, dataset::LengthSpec& out);
bool read_field(const Spot& spot, std::vector<std::string>& out);
bool read_field(const Spot& spot, std::vector<std::pair<std::string, std::string>>& out);

std::optional<Json> write_field(const Setting& setting, const Duration& value);
std::optional<Json> write_field(const Setting& setting, const dataset::LengthSpec& value);
// An empty text, list or map means "not given".
std::optional<Json> write_field(const Setting& setting, const std::string& value);
std::optional<Json> write_field(const Setting& setting, const std::vector<std::string>& value);
std::optional<Json> write_field(const Setting& setting,
                                const std::vector<std::pair<std::string, std::string>>& value);
std::optional<Json> write_field(const Setting& setting, const Json& value);
template <typename T>
requires std::is_arithmetic_v<T> std::optional<Json> write_field(const Setting&, T value) {
  return Json(value);
}

// The words of an enum in files, in the order of its values.
template <typename T>
struct Words;

bool read_word(const Spot& spot, std::span<const std::string_view> words, std::size_t& out);
std::string one_of(std::span<const std::string_view> words);

template <typename T>
requires std::is_enum_v<T>
bool read_field(const Spot& spot, T& out) {
  std::size_t index = static_cast<std::size_t>(out);
  if (!read_word(spot, Words<T>::kWords, index)) return false;
  out = static_cast<T>(index);
  return true;
}
template <typename T>
requires std::is_enum_v<T> std::optional<Json> write_field(const Setting&, T value) {
  return Json(Words<T>::kWords[static_cast<std::size_t>(value)]);
}

template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <typename T>
std::string type_name() {
  if constexpr (std::is_same_v<T, bool>)
    return "true or false";
  else if constexpr (std::is_same_v<T, double>)
    return "number";
  else if constexpr (std::is_integral_v<T>)
    return "whole number";
  else if constexpr (std::is_same_v<T, std::string>)
    return "text";
  else if constexpr (std::is_same_v<T, Duration>)
    return "duration";
  else if constexpr (std::is_same_v<T, Json>)
    return "map";
  else if constexpr (std::is_same_v<T, dataset::LengthSpec>)
    return "length";
  else if constexpr (std::is_same_v<T, std::vector<std::string>>)
    return "list of texts";
  else if constexpr (std::is_enum_v<T>)
    return "one of: " + one_of(Words<T>::kWords);
  else
    return "map of texts";
}

// A row under construction; its methods refine it.
class Row {
 public:
  explicit Row(Setting& setting) : setting_(setting) {}
  Row& at_least(double value) {
    setting_.at_least = value;
    return *this;
  }
  Row& above(double value) {
    setting_.above = true;
    return at_least(value);
  }
  Row& at_most(double value) {
    setting_.at_most = value;
    return *this;
  }
  Row& below(double value) {
    setting_.below = true;
    return at_most(value);
  }
  Row& unit_ms() {
    setting_.unit = Unit::ms;
    return *this;
  }
  // Zero in the file means "no limit".
  Row& zero_is_none() {
    setting_.zero_is_none = true;
    return *this;
  }
  // An empty value in the file means "no limit".
  Row& null_is_none() {
    setting_.null_is_none = true;
    return *this;
  }
  Row& ours() {
    setting_.ours = true;
    return *this;
  }
  Row& newer() {
    setting_.newer = true;
    return *this;
  }
  Row& nothing() {
    setting_.nothing = true;
    return *this;
  }
  Row& secret() {
    setting_.secret = true;
    return *this;
  }

 private:
  Setting& setting_;
};

// The rows of struct S.
template <typename S>
class PartOf {
 public:
  template <typename T>
  Row add(std::string_view name, T S::*field, std::string_view help) {
    Setting& row = begin(name, help);
    row.read = [field](const Setting& setting, const yaml::Node& node, void* object,
                       const std::string& path, Reading& reading) {
      read_value(Spot{setting, node, path, reading}, static_cast<S*>(object)->*field);
    };
    row.write = [field](const Setting& setting, const void* object) -> std::optional<Json> {
      const T& value = static_cast<const S*>(object)->*field;
      if constexpr (IsOptional<T>::value) {
        return value ? write_field(setting, *value) : std::nullopt;
      } else {
        return write_field(setting, value);
      }
    };
    if constexpr (IsOptional<T>::value) {
      row.type = type_name<typename T::value_type>();
    } else {
      row.type = type_name<T>();
    }
    return Row(row);
  }

  // Adds a nested map. An optional field is set if the map is present.
  template <typename T>
  Row add_part(std::string_view name, T S::*field, const Part& part, std::string_view help) {
    Setting& row = begin(name, help);
    row.part = &part;
    row.type = "map";
    row.read = [field, &part](const Setting&, const yaml::Node& node, void* object,
                              const std::string& path, Reading& reading) {
      T& value = static_cast<S*>(object)->*field;
      if constexpr (IsOptional<T>::value) {
        if (node.is_null()) return;
        if (!value) value.emplace();
        read_part(part, node, &*value, path, reading);
      } else {
        read_part(part, node, &value, path, reading);
      }
    };
    row.write = [field, &part](const Setting&, const void* object) -> std::optional<Json> {
      const T& value = static_cast<const S*>(object)->*field;
      if constexpr (IsOptional<T>::value) {
        if (!value) return std::nullopt;
        return write_part(part, &*value);
      } else {
        return write_part(part, &value);
      }
    };
    return Row(row);
  }

  // Call it last: takes the defaults from a new S.
  Part take() {
    const auto fresh = std::make_unique<const S>();
    for (Setting& row : rows_) {
      if (row.part == nullptr) row.fallback = row.write(row, fresh.get());
    }
    return std::move(rows_);
  }
  Part& rows() { return rows_; }

 private:
  Setting& begin(std::string_view name, std::string_view help) {
    Setting& row = rows_.emplace_back();
    row.name = name;
    row.help = help;
    return row;
  }

  template <typename T>
  static void read_value(const Spot& spot, T& out) {
    if (spot.node.is_null()) {
      // An empty value resets an optional, removes a limit, and changes nothing else.
      if constexpr (IsOptional<T>::value) out.reset();
      if constexpr (std::is_same_v<T, Duration>) {
        if (spot.setting.null_is_none) out = Duration::max();
      }
      return;
    }
    if constexpr (IsOptional<T>::value) {
      typename T::value_type value{};
      if (read_field(spot, value)) out = std::move(value);
    } else {
      T value = out;
      if (read_field(spot, value)) out = std::move(value);
    }
  }

  Part rows_{};
};

}  // namespace assay::plan
