// A Point as report.txt, in the reference client's layout, for its tools and its users. The reports
// for people are in report/. Pure.
#pragma once

#include <string>

#include "metrics/point.h"

namespace assay::interchange {

// `accuracy`: accuracy_results.json; null: nothing was scored.
std::string report_text(const metrics::Point& point, const Json& accuracy = {});

}  // namespace assay::interchange
