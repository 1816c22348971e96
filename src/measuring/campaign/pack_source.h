// What `assay pack` packs: the points of a curve's folder, or single runs taken together as one.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "interchange/submission.h"
#include "rulebook/edition.h"

namespace assay::campaign {

struct PackSource {
  interchange::PackedCurve curve{};
  std::vector<interchange::PackedPoint> points{};
  std::vector<std::filesystem::path> runs{};         // beside `points`
  std::vector<std::filesystem::path> audit_files{};  // of the caching audit; may be none
  std::string edition = "v1.0";
  std::vector<std::string> command{};  // that measured it
  std::vector<std::string> notes{};    // what keeps it from being official
};

// `c_max`: of single runs; 0 takes their highest level. Fails where there is nothing to pack.
Result<PackSource> pack_source(const std::vector<std::string>& folders, std::int64_t c_max);

}  // namespace assay::campaign
