#include "plan/schema_fields.h"

#include <algorithm>
#include <limits>

#include "base/format.h"
#include "base/json_list.h"
#include "base/text.h"

namespace assay::plan {
namespace {

// Returns the scalar's text; else reports an error and returns nullopt.
std::optional<std::string_view> text_of(const Spot& spot, std::string_view wanted) {
  if (spot.node.is_scalar()) return trim(spot.node.text);
  spot.wrong(format("expected {}, found {}", wanted, spot.node.kind_name()));
  return std::nullopt;
}

bool in_bounds(const Spot& spot, double value) {
  const Setting& setting = spot.setting;
  const bool low = setting.above ? value > setting.at_least : value >= setting.at_least;
  const bool high = setting.below ? value < setting.at_most : value <= setting.at_most;
  if (low && high) return true;
  return spot.wrong(format("must be {}, not {}", bounds_text(setting), trim(spot.node.text)));
}

// YAML 1.1 allows "10_000" for 10000.
std::string without_underscores(std::string_view text) {
  std::string out(text);
  std::erase(out, '_');
  return out;
}

template <typename T>
bool read_whole(const Spot& spot, T& out) {
  const auto text = text_of(spot, "a whole number");
  if (!text) return false;
  const std::string digits = without_underscores(*text);
  if constexpr (std::is_signed_v<T>) {
    if (const auto value = parse_int(digits)) {
      if (!in_bounds(spot, static_cast<double>(*value))) return false;
      out = *value;
      return true;
    }
  } else {
    if (const auto value = parse_uint(digits); value && *value <= std::numeric_limits<T>::max()) {
      if (!in_bounds(spot, static_cast<double>(*value))) return false;
      out = static_cast<T>(*value);
      return true;
    }
  }
  // 10.0 and 1e6 are whole too; a double holds them exactly up to 2^53.
  constexpr double kExact = 9007199254740992.0;
  if (const auto real = parse_double(digits); real && std::fabs(*real) <= kExact) {
    const bool fits = *real == std::trunc(*real) && (std::is_signed_v<T> || *real >= 0) &&
                      *real <= static_cast<double>(std::numeric_limits<T>::max());
    if (fits) {
      if (!in_bounds(spot, *real)) return false;
      out = static_cast<T>(*real);
      return true;
    }
  }
  const bool too_large = !digits.empty() && digits.find_first_not_of("0123456789") == digits.npos;
  if (too_large) {
    return spot.wrong(format("must be at most {}, not {}", std::numeric_limits<T>::max(), *text));
  }
  const std::string bounds = bounds_text(spot.setting);
  return spot.wrong(format("expected a whole number{}{}, found \"{}\"",
                           bounds.empty() ? "" : " of ", bounds, *text));
}

std::optional<bool> truth(std::string_view text) {
  const std::string word = lower(text);
  for (const std::string_view yes : {"true", "yes", "on", "1", "t", "y"}) {
    if (word == yes) return true;
  }
  for (const std::string_view no : {"false", "no", "off", "0", "f", "n"}) {
    if (word == no) return false;
  }
  return std::nullopt;
}

}  // namespace

bool read_field(const Spot& spot, std::string& out) {
  const auto text = text_of(spot, "text");
  if (!text) return false;
  out = *text;
  return true;
}

bool read_field(const Spot& spot, bool& out) {
  const auto text = text_of(spot, "true or false");
  if (!text) return false;
  const auto value = truth(*text);
  if (!value) return spot.wrong(format("expected true or false, found \"{}\"", *text));
  out = *value;
  return true;
}

bool read_field(const Spot& spot, double& out) {
  const auto text = text_of(spot, "a number");
  if (!text) return false;
  const auto value = parse_double(without_underscores(*text));
  if (!value) return spot.wrong(format("expected a number, found \"{}\"", *text));
  if (!in_bounds(spot, *value)) return false;
  out = *value;
  return true;
}

bool read_field(const Spot& spot, std::int64_t& out) { return read_whole(spot, out); }
bool read_field(const Spot& spot, std::uint64_t& out) { return read_whole(spot, out); }
bool read_field(const Spot& spot, std::uint32_t& out) { return read_whole(spot, out); }

bool read_field(const Spot& spot, Duration& out) {
  const auto text = text_of(spot, "a duration");
  if (!text) return false;
  const Duration unit = spot.setting.unit == Unit::ms ? 1_ms : 1_s;
  const auto value = parse_duration(without_underscores(*text), unit);
  if (!value) {
    return spot.wrong(
        format("expected a duration such as 500ms, 10s, 1.5m or 2h, found \"{}\"", *text),
        format("a bare number counts {}",
               spot.setting.unit == Unit::ms ? "milliseconds" : "seconds"));
  }
  if (spot.setting.zero_is_none && *value == Duration{}) {
    out = Duration::max();
    return true;
  }
  if (!in_bounds(spot, static_cast<double>(value->ns) / static_cast<double>(unit.ns))) return false;
  out = *value;
  return true;
}

bool read_field(const Spot& spot, Json& out) {
  if (!spot.node.is_map()) {
    return spot.wrong(format("expected a map, found {}", spot.node.kind_name()));
  }
  out = spot.node.to_json();
  return true;
}

bool read_field(const Spot& spot, dataset::LengthSpec& out) {
  const auto text = text_of(spot, "a length");
  if (!text) return false;
  const auto value = dataset::parse_length(*text);
  if (!value) return spot.wrong(value.error().message);
  out = *value;
  return true;
}

bool read_field(const Spot& spot, std::vector<std::string>& out) {
  out.clear();
  if (spot.node.is_scalar()) {  // a single item, without brackets
    out.emplace_back(trim(spot.node.text));
    return true;
  }
  if (!spot.node.is_list()) {
    return spot.wrong(format("expected a list of texts, found {}", spot.node.kind_name()));
  }
  bool fine = true;
  for (const yaml::Node& item : spot.node.items) {
    const std::string path = format("{}[{}]", spot.path, out.size());
    std::string text;
    if (item.is_null()) {
      fine = Spot{spot.setting, item, path, spot.reading}.wrong("expected text, found nothing");
    } else {
      fine = read_field(Spot{spot.setting, item, path, spot.reading}, text) && fine;
    }
    spot.reading.saw(path, item);
    out.push_back(std::move(text));
  }
  return fine;
}

bool read_field(const Spot& spot, std::vector<std::pair<std::string, std::string>>& out) {
  out.clear();
  if (!spot.node.is_map()) {
    return spot.wrong(format("expected a map of texts, found {}", spot.node.kind_name()));
  }
  bool fine = true;
  for (const auto& [key, value] : spot.node.members) {
    const std::string path = format("{}.{}", spot.path, key.name);
    std::string text;
    fine = read_field(Spot{spot.setting, value, path, spot.reading}, text) && fine;
    spot.reading.saw(path, value);
    out.emplace_back(key.name, std::move(text));
  }
  return fine;
}

bool read_word(const Spot& spot, std::span<const std::string_view> words, std::size_t& out) {
  const auto text = text_of(spot, one_of(words));
  if (!text) return false;
  auto found = std::find(words.begin(), words.end(), *text);
  // YAML 1.1 reads a bare `on` as true, and some writers write it back as true.
  if (found == words.end()) {
    if (const auto value = truth(*text); value && text->size() > 1) {
      found = std::find(words.begin(), words.end(), *value ? "on" : "off");
    }
  }
  if (found == words.end()) {
    const std::string_view near = nearest(*text, words);
    return spot.wrong(
        format("unknown value \"{}\"", *text),
        format("{}one of: {}", near.empty() ? "" : format("did you mean \"{}\"?   ", near),
               one_of(words)));
  }
  out = static_cast<std::size_t>(found - words.begin());
  return true;
}

std::string one_of(std::span<const std::string_view> words) {
  std::string out;
  for (const std::string_view word : words) {
    if (!out.empty()) out += ", ";
    out += word;
  }
  return out;
}

std::optional<Json> write_field(const Setting& setting, const Duration& value) {
  if (value == Duration::max()) {
    if (setting.zero_is_none) return Json(0);
    return Json();
  }
  const std::int64_t unit = setting.unit == Unit::ms ? 1'000'000 : 1'000'000'000;
  // Whole milliseconds are written as such; seconds are floats in the reference client's files.
  if (setting.unit == Unit::ms && value.ns % unit == 0) return Json(value.ns / unit);
  return Json(static_cast<double>(value.ns) / static_cast<double>(unit));
}

std::optional<Json> write_field(const Setting&, const dataset::LengthSpec& value) {
  if (value.is_fixed()) return Json(static_cast<std::int64_t>(value.a));
  return Json(dataset::to_string(value));
}

std::optional<Json> write_field(const Setting&, const std::string& value) {
  if (value.empty()) return std::nullopt;
  return Json(value);
}

std::optional<Json> write_field(const Setting& setting, const std::vector<std::string>& value) {
  // An empty list is written if the default is not empty.
  if (value.empty() && !setting.fallback) return std::nullopt;
  return json_list(value);
}

std::optional<Json> write_field(const Setting&,
                                const std::vector<std::pair<std::string, std::string>>& value) {
  if (value.empty()) return std::nullopt;
  Json out = Json::object();
  for (const auto& [name, text] : value) out.set(name, text);
  return out;
}

std::optional<Json> write_field(const Setting&, const Json& value) {
  if (value.is_null()) return std::nullopt;
  return value;
}

}  // namespace assay::plan
