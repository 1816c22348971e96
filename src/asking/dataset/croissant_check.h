// Checks a Croissant file: lists every finding, each with a rule's name and the place by its ids.
// Errors are what mlcroissant refuses. Warnings are what the specification asks for in addition, or
// what works but may surprise a user. Pure, except for `check_rows`.
// docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace assay::dataset::croissant {

struct Finding {
  bool error = true;
  std::string rule{};   // "file-checksum"; the same in every version
  std::string where{};  // "recordSet 'r' > field 'r/id'"
  std::string what{};
};

// Whose rules decide what is an error.
enum class Profile : std::uint8_t {
  mlcroissant,  // as found: what the library refuses
  spec,         // what the specification requires, too
  assay,        // what reading the rows here needs; what only describes the data is left out
};
std::optional<Profile> profile_from(std::string_view name);
void judge_for(Profile profile, std::vector<Finding>& findings);

// Checks the document. A text that is not JSON gives one finding.
std::vector<Finding> check_document(std::string_view text);

// Reads up to `rows_max` rows of each record set. Missing files are warnings; wrong checksums,
// columns, types and joins are errors. Nothing is fetched.
std::vector<Finding> check_rows(const std::filesystem::path& file, std::uint64_t rows_max);

}  // namespace assay::dataset::croissant
