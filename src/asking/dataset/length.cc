#include "dataset/length.h"

#include <cmath>
#include <vector>

#include "base/check.h"
#include "base/enum_name.h"
#include "base/format.h"
#include "base/text.h"

namespace assay::dataset {
namespace {

constexpr std::string_view kForms =
    "write 512, fixed:512, uniform:100-200, normal:512,64 or lognormal:512,0.5";

Error wrong_length(std::string_view text, std::string_view why) {
  return invalid(format("'{}' is not a length: {}; {}", text, why, kForms));
}

std::int64_t cut(double length) {
  if (!(length >= 1)) return 1;
  if (length >= static_cast<double>(kLengthMax)) return kLengthMax;
  return std::llround(length);
}

bool is_count(double value) {
  return value >= 1 && value <= static_cast<double>(kLengthMax) && std::trunc(value) == value;
}

// Returns the shortest text that reads back as the same number.
std::string number(double value) {
  return value == std::trunc(value) ? format("{:.0f}", value) : format("{}", value);
}

Result<LengthSpec> check(LengthSpec spec, std::string_view text) {
  const double most = static_cast<double>(kLengthMax);
  switch (spec.kind) {
    case LengthSpec::Kind::fixed:
      if (!is_count(spec.a)) {
        return wrong_length(text, format("it must be a whole number from 1 to {}", kLengthMax));
      }
      break;
    case LengthSpec::Kind::uniform:
      if (!is_count(spec.a) || !is_count(spec.b)) {
        return wrong_length(text, "both ends must be whole numbers of at least 1");
      }
      if (spec.a > spec.b) return wrong_length(text, "the first end is above the second");
      break;
    case LengthSpec::Kind::normal:
    case LengthSpec::Kind::lognormal:
      if (!(spec.a >= 1 && spec.a <= most))
        return wrong_length(text, "its middle must be at least 1");
      if (!(spec.b >= 0 && spec.b <= most))
        return wrong_length(text, "its width must not be negative");
      break;
  }
  return spec;
}

std::string_view name(LengthSpec::Kind kind) { return enum_name(kind); }

}  // namespace

Result<LengthSpec> parse_length(std::string_view text) {
  const std::string_view whole = trim(text);
  const std::size_t colon = whole.find(':');
  LengthSpec spec;
  std::string_view arguments = whole;
  if (colon != std::string_view::npos) {
    const std::string kind = lower(trim(whole.substr(0, colon)));
    arguments = whole.substr(colon + 1);
    const auto known = enum_named<LengthSpec::Kind>(kind);
    if (!known) return wrong_length(text, format("there is no distribution '{}'", kind));
    spec.kind = *known;
  }
  // A range may be written with either sign between its ends.
  char separator = ',';
  if (spec.kind == LengthSpec::Kind::uniform && arguments.find(',') == std::string_view::npos) {
    separator = '-';
  }
  const std::vector<std::string_view> parts = split(arguments, separator);
  const std::size_t wanted = spec.kind == LengthSpec::Kind::fixed ? 1 : 2;
  if (parts.size() != wanted) {
    return wrong_length(text, format("{} takes {}", name(spec.kind), counted(wanted, "number")));
  }
  const Result<double> a = parse_double(parts[0]);
  const Result<double> b = wanted == 2 ? parse_double(parts[1]) : Result<double>(0.0);
  if (!a || !b) return wrong_length(text, (a ? b : a).error().message);
  spec.a = *a;
  spec.b = *b;
  return check(spec, text);
}

std::string to_string(const LengthSpec& spec) {
  switch (spec.kind) {
    case LengthSpec::Kind::fixed:
      return number(spec.a);
    case LengthSpec::Kind::uniform:
      return format("uniform:{}-{}", number(spec.a), number(spec.b));
    case LengthSpec::Kind::normal:
    case LengthSpec::Kind::lognormal:
      return format("{}:{},{}", name(spec.kind), number(spec.a), number(spec.b));
  }
  CHECK(false && "no such Kind");
  return "";
}

std::int64_t draw_length(const LengthSpec& spec, Rng& rng) {
  switch (spec.kind) {
    case LengthSpec::Kind::fixed:
      return cut(spec.a);
    case LengthSpec::Kind::uniform:
      return cut(spec.a) +
             static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(spec.b - spec.a) + 1));
    case LengthSpec::Kind::normal:
      return cut(spec.a + spec.b * rng.normal());
    case LengthSpec::Kind::lognormal:
      return cut(spec.a * std::exp(spec.b * rng.normal()));
  }
  CHECK(false && "no such Kind");
  return 1;
}

double mean(const LengthSpec& spec) {
  switch (spec.kind) {
    case LengthSpec::Kind::fixed:
    case LengthSpec::Kind::normal:
      return spec.a;
    case LengthSpec::Kind::uniform:
      return (spec.a + spec.b) / 2;
    case LengthSpec::Kind::lognormal:
      return spec.a * std::exp(spec.b * spec.b / 2);
  }
  CHECK(false && "no such Kind");
  return 0;
}

}  // namespace assay::dataset
