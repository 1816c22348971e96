#include "base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/format.h"
#include "base/hash.h"

namespace assay {
namespace {

constexpr std::string_view kSpace = " \t\r\n\f\v";

template <typename T>
Result<T> parse_number(std::string_view text, std::string_view kind) {
  const std::string_view trimmed = trim(text);
  T value{};
  const auto [end, error] = std::from_chars(trimmed.data(), trimmed.data() + trimmed.size(), value);
  if (trimmed.empty() || error != std::errc{} || end != trimmed.data() + trimmed.size()) {
    return invalid(format("'{}' is not {}", text, kind));
  }
  return value;
}

// Edit distance with transpositions of neighbours; words here are short.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> two(b.size() + 1);
  std::vector<std::size_t> one(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) one[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = one[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({one[j] + 1, row[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], two[j - 2] + 1);
      }
    }
    std::swap(two, one);
    std::swap(one, row);
  }
  return one[b.size()];
}

}  // namespace

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view best;
  // At most a third of the word may be wrong, and always one letter.
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    const std::size_t d = distance(lower(word), lower(candidate));
    if (d < best_distance) {
      best = candidate;
      best_distance = d;
    }
  }
  return best;
}

Result<std::int64_t> parse_int(std::string_view text) {
  return parse_number<std::int64_t>(text, "a whole number");
}

Result<std::uint64_t> parse_uint(std::string_view text) {
  return parse_number<std::uint64_t>(text, "a whole number of 0 or more");
}

Result<double> parse_double(std::string_view text) {
  ASSIGN_OR_RETURN(const double value, parse_number<double>(text, "a number"));
  if (!std::isfinite(value)) return invalid(format("'{}' is not a finite number", text));
  return value;
}

Result<Duration> parse_duration(std::string_view text, Duration bare_unit) {
  struct Unit {
    std::string_view suffix;
    Duration value;
  };
  static constexpr std::array<Unit, 7> kUnits{{{"ns", 1_ns},
                                               {"us", 1_us},
                                               {"µs", 1_us},
                                               {"ms", 1_ms},
                                               {"s", 1_s},
                                               {"m", 60_s},
                                               {"h", 3600_s}}};
  std::string_view number = trim(text);
  Duration unit = bare_unit;
  for (const Unit& candidate : kUnits) {
    if (number.ends_with(candidate.suffix)) {
      number.remove_suffix(candidate.suffix.size());
      unit = candidate.value;
      break;
    }
  }
  const Result<double> value = parse_double(number);
  constexpr double kTooLong = 9.2e18;
  if (!value || *value < 0 || *value * static_cast<double>(unit.ns) > kTooLong) {
    return invalid(format("'{}' is not a duration (like 250us, 50ms, 10s, 1.5m or 2h)", text));
  }
  return Duration{std::llround(*value * static_cast<double>(unit.ns))};
}

std::string counted_text(std::int64_t count, std::string_view noun, std::string_view many) {
  std::string out = with_thousands(count) + " ";
  if (count == 1) return out.append(noun);
  return many.empty() ? out.append(noun) + "s" : out.append(many);
}

std::string with_thousands(std::int64_t value) {
  std::string digits = std::to_string(value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string count_text(std::uint64_t count) {
  return with_thousands(static_cast<std::int64_t>(count));
}

std::string p_text(double p) {
  constexpr double kLeastShown = 0.0001;
  return p < kLeastShown ? "p < 0.0001" : format("p = {:.4f}", p);
}

std::string three_digits(double value) {
  if (!std::isfinite(value)) return "–";
  const double magnitude = std::fabs(value);
  if (magnitude >= 99.95) return with_thousands(std::llround(value));
  if (magnitude >= 9.995) return format("{:.1f}", value);
  if (magnitude >= 0.9995 || magnitude == 0) return format("{:.2f}", value);
  if (magnitude >= 0.09995) return format("{:.3f}", value);
  if (magnitude >= 0.009995) return format("{:.4f}", value);
  if (magnitude >= 0.0009995) return format("{:.5f}", value);
  return format("{:.2e}", value);
}

std::string human_duration(Duration value) {
  const double ns = static_cast<double>(value.ns);
  const double magnitude = std::fabs(ns);
  if (magnitude >= 120e9) {
    const std::int64_t seconds = std::llround(ns / 1e9);
    if (magnitude >= 7200e9) return format("{} h {:02} min", seconds / 3600, seconds / 60 % 60);
    return format("{} min {:02} s", seconds / 60, std::abs(seconds % 60));
  }
  if (magnitude >= 999.5e6) return three_digits(ns / 1e9) + " s";
  if (magnitude >= 999.5e3) return three_digits(ns / 1e6) + " ms";
  if (magnitude >= 999.5) return three_digits(ns / 1e3) + " µs";
  return format("{} ns", value.ns);
}

std::string human_bytes(std::uint64_t bytes) {
  static constexpr std::array<std::string_view, 5> kUnits{"B", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  if (unit == 0) return format("{} B", bytes);
  return format("{} {}", three_digits(value), kUnits[unit]);
}

std::size_t character_count(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

bool is_plain_id(std::string_view text) {
  constexpr std::size_t kIdMax = 128;
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  if (text.empty() || text.size() > kIdMax || !is_letter(text.front())) return false;
  if (text.find("..") != std::string_view::npos) return false;
  for (const char c : text) {
    if (!is_letter(c) && c != '.' && c != '-' && c != '_') return false;
  }
  return true;
}

std::string plain_id_from(std::string_view text) {
  if (is_plain_id(text)) return std::string(text);
  constexpr std::size_t kWordsMax = 96;
  constexpr std::size_t kHashDigits = 8;
  std::string out;
  for (const char c : text) {
    const char kept = is_plain_id(std::string_view(&c, 1)) || c == '.' || c == '_' ? c : '-';
    const bool again = !out.empty() && (kept == '-' || kept == '.') && out.back() == kept;
    const bool first = out.empty() && !is_plain_id(std::string_view(&kept, 1));
    if (!again && !first && out.size() < kWordsMax) out += kept;
  }
  while (!out.empty() && !is_plain_id(std::string_view(&out.back(), 1))) out.pop_back();
  return (out.empty() ? "submission" : out) + "-" + sha256_hex(text).substr(0, kHashDigits);
}

bool valid_utf8(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    std::uint64_t eight = 0;
    if (i + sizeof(eight) <= text.size()) {
      std::memcpy(&eight, text.data() + i, sizeof(eight));
      if ((eight & 0x8080808080808080u) == 0) {
        i += sizeof(eight);
        continue;
      }
    }
    const unsigned char c = byte(i);
    if (c < 0x80) {
      ++i;
      continue;
    }
    const std::size_t length = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
    if (c < 0xC2 || c > 0xF4 || i + length > text.size()) return false;
    for (std::size_t k = 1; k < length; ++k) {
      if ((byte(i + k) & 0xC0) != 0x80) return false;
    }
    if (c == 0xE0 && byte(i + 1) < 0xA0) return false;
    if (c == 0xED && byte(i + 1) > 0x9F) return false;
    if (c == 0xF0 && byte(i + 1) < 0x90) return false;
    if (c == 0xF4 && byte(i + 1) > 0x8F) return false;
    i += length;
  }
  return true;
}

}  // namespace assay
