// Safety as a function of concurrency and of precision, on the curves of performance: two curves of
// one model in one page without external resources, each point with its grade; safe replies and
// failed queries over concurrency; what the pairs say; a table. All text from outside is escaped.
// Grades are by Assay's own rule set. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "metrics/curve.h"

namespace assay::report {

struct SafetyPageSide {
  std::string name{};       // where it is kept
  std::string precision{};  // "" where it is not said
  const metrics::Curve* curve = nullptr;
};

// `sentences`: of the pairs. REQUIRES: at most four sides.
std::string safety_page(const std::vector<SafetyPageSide>& sides, std::string_view note,
                        const std::vector<std::string>& sentences);

}  // namespace assay::report
