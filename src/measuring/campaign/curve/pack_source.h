// The input of `assay pack`: the points of a curve's folder, or single runs combined into one
// curve.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "interchange/submission.h"
#include "plan/curve_plan.h"
#include "rulebook/edition.h"

namespace assay::campaign {

struct PackSource {
  interchange::PackedCurve curve{};
  plan::CurvePlan plan{};
  std::vector<interchange::PackedPoint> points{};
  std::vector<std::filesystem::path> runs{};         // beside `points`
  std::vector<std::filesystem::path> audit_files{};  // of the caching audit; may be empty
  std::string edition = "v1.0";
  std::vector<std::string> command{};  // the command line that measured it
  std::vector<std::string> notes{};    // reasons why it is not official
};

// `folders`: a curve's, those of runs, or one that holds runs of the reference client. `c_max`: for
// single runs; 0 takes their highest level. Fails if there is nothing to pack.
Result<PackSource> pack_source(const std::vector<std::string>& folders, std::int64_t c_max);

}  // namespace assay::campaign
