#include "rulebook/cohort.h"

#include <array>

#include "base/format.h"

namespace assay::rulebook {
namespace {

// Returns 0 for Sunday (Sakamoto).
int day_of_week(int year, int month, int day) {
  constexpr std::array kOffsets{0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4};
  const int y = month < 3 ? year - 1 : year;
  return ((y + y / 4 - y / 100 + y / 400 + kOffsets[static_cast<std::size_t>(month - 1)] + day) %
              7 +
          7) %
         7;
}

}  // namespace

std::optional<Cohort> Cohort::parse(std::string_view text) {
  constexpr std::string_view kShape = "dddd-dd-Cd";
  if (text.size() != kShape.size()) return std::nullopt;
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kShape[i] == 'd' ? !digit : text[i] != kShape[i]) return std::nullopt;
  }
  const auto digit = [text](std::size_t i) { return text[i] - '0'; };
  const int year = digit(0) * 1000 + digit(1) * 100 + digit(2) * 10 + digit(3);
  const int month = digit(5) * 10 + digit(6);
  const int half = digit(9);
  if (month < 1 || month > 12 || half > 1) return std::nullopt;
  return Cohort{(year * 12 + month - 1) * 2 + half};
}

std::string Cohort::text() const {
  return format("{:04}-{:02}-C{}", number / 24, number / 2 % 12 + 1, number % 2);
}

std::string Cohort::date() const {
  const int year = number / 24;
  const int month = number / 2 % 12 + 1;
  constexpr int kWednesday = 3;
  const int first = 1 + (kWednesday - day_of_week(year, month, 1) + 7) % 7;
  return format("{:04}-{:02}-{:02}", year, month, first + 14 * (number % 2));
}

}  // namespace assay::rulebook
