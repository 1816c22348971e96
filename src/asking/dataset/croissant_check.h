// What is wrong in a Croissant file: every finding, not only the first, each with a rule's name and
// the place by its ids. Errors are what mlcroissant refuses; warnings are what the specification
// asks for beside that, or what works and will surprise somebody. Pure, but for `check_rows`.
// docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace assay::dataset::croissant {

struct Finding {
  bool error = true;
  std::string rule{};   // "file-checksum"; stays the same from version to version
  std::string where{};  // "recordSet 'r' > field 'r/id'"
  std::string what{};
};

// What the document says. Of a text that is no JSON, one finding.
std::vector<Finding> check_document(std::string_view text);

// Reads up to `rows_max` rows of each record set: files that are not there (warnings), checksums,
// columns, types, joins (errors). Nothing is fetched.
std::vector<Finding> check_rows(const std::filesystem::path& file, std::uint64_t rows_max);

}  // namespace assay::dataset::croissant
