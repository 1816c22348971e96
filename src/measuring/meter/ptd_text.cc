#include "meter/ptd_text.h"

#include <cmath>
#include <vector>

#include "base/format.h"
#include "base/text.h"

namespace assay::meter {
namespace {

constexpr std::uint64_t kSamplesMost = 500'000;  // the daemon keeps no more

std::optional<std::int64_t> digits(std::string_view text, std::size_t at, std::size_t size) {
  if (at + size > text.size()) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : text.substr(at, size)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

// Days since 1970-01-01 of the Gregorian calendar.
std::int64_t days_of(std::int64_t year, std::int64_t month, std::int64_t day) {
  const std::int64_t y = month <= 2 ? year - 1 : year;
  const std::int64_t era = y / 400;
  const std::int64_t of_era = y - era * 400;
  const std::int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146'097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719'468;
}

// "MM-DD-YYYY HH:MM:SS.mmm"
std::optional<Duration> stamp_of(std::string_view text) {
  const auto month = digits(text, 0, 2);
  const auto day = digits(text, 3, 2);
  const auto year = digits(text, 6, 4);
  const auto hour = digits(text, 11, 2);
  const auto minute = digits(text, 14, 2);
  const auto second = digits(text, 17, 2);
  if (!month || !day || !year || !hour || !minute || !second) return std::nullopt;
  if (*month < 1 || *month > 12 || *day < 1 || *day > 31 || *year < 1970) return std::nullopt;
  if (*hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  const std::int64_t ms = digits(text, 20, 3).value_or(0);
  const std::int64_t seconds =
      days_of(*year, *month, *day) * 86'400 + *hour * 3600 + *minute * 60 + *second;
  // Nanoseconds since 1970 fit until 2262.
  if (*year > 2200) return std::nullopt;
  return Duration{(seconds * 1000 + ms) * 1'000'000};
}

std::optional<double> number_of(std::string_view text) {
  const auto value = parse_double(trim(text));
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return *value;
}

}  // namespace

std::optional<PtdSample> read_ptd_sample(std::string_view line) {
  const std::vector<std::string_view> fields = split(trim(line), ',');
  std::optional<Duration> stamp;
  std::optional<double> watts;
  PtdSample out;
  // Behind Mark come the channels one by one, with the same names.
  for (std::size_t i = 0; i + 1 < fields.size() && fields[i] != "Mark"; i += 2) {
    const std::string_view name = trim(fields[i]);
    if (name == "Time") stamp = stamp_of(trim(fields[i + 1]));
    if (name == "Watts") watts = number_of(fields[i + 1]);
    if (name == "Volts") out.volts = number_of(fields[i + 1]);
    if (name == "Amps") out.amps = number_of(fields[i + 1]);
  }
  if (!stamp || !watts || !(*watts > 0)) return std::nullopt;
  if (out.volts && *out.volts < 0) out.volts.reset();
  if (out.amps && *out.amps < 0) out.amps.reset();
  out.stamp = *stamp;
  out.watts = *watts;
  return out;
}

Result<PtdRanges> read_ptd_ranges(std::string_view line) {
  const std::vector<std::string_view> fields = split(trim(line), ',');
  if (fields.size() != 5 || fields[0] != "Ranges") {
    return Error{Code::corrupt,
                 format("RR: expected Ranges and four values, found \"{}\"", line.substr(0, 100))};
  }
  const auto range = [](std::string_view automatic, std::string_view value) {
    return std::string(trim(automatic) == "1" ? "Auto" : trim(value));
  };
  return PtdRanges{.volts = range(fields[3], fields[4]), .amps = range(fields[1], fields[2])};
}

std::optional<std::uint64_t> read_ptd_count(std::string_view line) {
  const std::vector<std::string_view> words = split(trim(line), ' ');
  if (words.size() != 3 || words[0] != "Last" || !words[2].starts_with("sample")) {
    return std::nullopt;
  }
  const auto count = parse_uint(words[1]);
  if (!count || *count > kSamplesMost) return std::nullopt;
  return *count;
}

}  // namespace assay::meter
