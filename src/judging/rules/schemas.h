// The schema of each file of a point, with the conditions that a table cannot express.
#pragma once

#include <vector>

#include "rules/document.h"
#include "rules/schema.h"

namespace assay::rules {

std::vector<Issue> point_issues(const Json& point);
std::vector<Issue> description_issues(const Json& description);
std::vector<Issue> summary_issues(const Json& summary);
// Edition v0.7's point file, in its own layout.
std::vector<Issue> old_point_issues(const Json& point);
std::vector<Issue> old_description_issues(const Json& description);

// Returns a percentile of a stat block: "90", "90.0" and "90.00" are the same key.
std::optional<double> percentile(const Json& block, double at);

}  // namespace assay::rules
