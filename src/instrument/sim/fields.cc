#include "sim/fields.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/text.h"

namespace assay::sim {

namespace {
const Json& nothing() {
  static const Json kNull;
  return kNull;
}
}  // namespace

Fields::Fields(const Json& map, std::string where) : map_(&map), where_(std::move(where)) {
  if (!map.is_object() && !map.is_null()) fail(format("must be a map, is {}", map.type_name()));
}

void Fields::fail(std::string message) {
  if (!failure_) failure_ = where_.empty() ? std::move(message) : format("{}: {}", where_, message);
}

void Fields::absorb(Fields& other) {
  const auto result = other.done();
  if (!result && !failure_) failure_ = result.error().message;
}

std::string Fields::where(std::string_view key) const {
  return where_.empty() ? std::string(key) : format("{}: {}", where_, key);
}

bool Fields::has(std::string_view key) const { return map_->find(key) != nullptr; }

const Json* Fields::member(std::string_view key, bool required) {
  asked_.emplace_back(key);
  const Json* found = map_->find(key);
  if (found != nullptr && !found->is_null()) return found;
  if (required) fail(format("'{}' is missing", key));
  return nullptr;
}

double Fields::number(std::string_view key, std::optional<double> fallback, double lowest) {
  const Json* found = member(key, !fallback);
  if (found == nullptr) return fallback.value_or(lowest);
  const double value = found->as_double(std::nan(""));
  if (!found->is_number() || !(value >= lowest)) {
    fail(format("'{}' must be a number of at least {}", key, lowest));
    return fallback.value_or(lowest);
  }
  return value;
}

double Fields::seconds(std::string_view key, std::optional<double> fallback) {
  const Json* found = member(key, !fallback);
  if (found == nullptr) return fallback.value_or(0);
  if (found->is_number()) return std::max(0.0, found->as_double());
  const auto parsed = parse_duration(found->as_string(), 1_s);
  if (!parsed) {
    fail(format("'{}' must be a duration such as 250us, 50ms or 1.5s", key));
    return fallback.value_or(0);
  }
  return parsed->seconds();
}

std::uint32_t Fields::count(std::string_view key, std::optional<std::uint32_t> fallback) {
  const Json* found = member(key, !fallback);
  if (found == nullptr) return fallback.value_or(0);
  const double value = found->as_double(-1);
  if (!found->is_number() || value < 0 || value > 4e9 || value != std::floor(value)) {
    fail(format("'{}' must be a whole number of at least 0", key));
    return fallback.value_or(0);
  }
  return static_cast<std::uint32_t>(value);
}

bool Fields::flag(std::string_view key, std::optional<bool> fallback) {
  const Json* found = member(key, !fallback);
  if (found == nullptr) return fallback.value_or(false);
  if (!found->is_bool()) fail(format("'{}' must be true or false", key));
  return found->as_bool(fallback.value_or(false));
}

std::string Fields::text(std::string_view key, std::optional<std::string> fallback) {
  const Json* found = member(key, !fallback);
  if (found == nullptr) return fallback.value_or(std::string());
  if (found->is_string()) return std::string(found->as_string());
  if (found->is_number()) return found->dump();
  fail(format("'{}' must be text", key));
  return fallback.value_or(std::string());
}

std::size_t Fields::choice(std::string_view key, const std::vector<std::string_view>& words,
                           std::optional<std::size_t> fallback) {
  const Json* found = member(key, !fallback);
  if (found == nullptr) return fallback.value_or(0);
  const std::string_view word = found->as_string();
  const auto at = std::find(words.begin(), words.end(), word);
  if (at != words.end()) return static_cast<std::size_t>(at - words.begin());
  std::string all;
  for (const std::string_view candidate : words) {
    all += all.empty() ? "" : ", ";
    all += candidate;
  }
  fail(format("'{}': unknown value '{}'; one of: {}", key, word, all));
  return fallback.value_or(0);
}

std::vector<std::string> Fields::texts(std::string_view key) {
  std::vector<std::string> out;
  const Json* found = member(key, false);
  if (found == nullptr) return out;
  if (!found->is_array()) fail(format("'{}' must be a list", key));
  for (const Json& item : found->items()) out.emplace_back(item.as_string());
  return out;
}

const Json& Fields::value(std::string_view key) {
  const Json* found = member(key, false);
  return found == nullptr ? nothing() : *found;
}

Fields Fields::map(std::string_view key, bool required) {
  const Json* found = member(key, required);
  return Fields(found == nullptr ? nothing() : *found, where(key));
}

Result<void> Fields::done() {
  if (failure_) return invalid(*failure_);
  std::vector<std::string_view> known(asked_.begin(), asked_.end());
  for (const auto& [key, value] : map_->members()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const std::string_view near = nearest(key, known);
    return invalid(format("{}unknown key '{}'{}", where_.empty() ? "" : where_ + ": ", key,
                          near.empty() ? "" : format("; did you mean '{}'?", near)));
  }
  return {};
}

}  // namespace assay::sim
