// The categories of MLPerf Client 2.0, by the names that its prompt files and its results use. The
// overall figures are geometric means over the five required ones; the others stand by themselves.
#pragma once

#include <array>
#include <string_view>

namespace assay::desk {

inline constexpr std::array<std::string_view, 5> kRequiredCategories{
    "Content Generation", "Creative Writing", "Structured Text", "Code Analysis",
    "Summarization, Intermediate"};

constexpr bool is_required(std::string_view category) {
  for (const std::string_view one : kRequiredCategories) {
    if (one == category) return true;
  }
  return false;
}

}  // namespace assay::desk
