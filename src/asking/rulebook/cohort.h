// Cohort: a publication date of the rules. C0 is the first Wednesday of a month, C1 the third; they
// alternate. Written 2026-10-C1. Pure; any thread.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace assay::rulebook {

struct Cohort {
  // Number of cohorts since the one of January of year 0, so a difference counts the cohorts
  // between two.
  int number = 0;

  // Returns nullopt unless the text is four digits, -, a month of two digits, -C0 or -C1.
  static std::optional<Cohort> parse(std::string_view text);
  std::string text() const;
  // The day of publication, as 2026-10-21.
  std::string date() const;
  auto operator<=>(const Cohort&) const = default;
};

}  // namespace assay::rulebook
