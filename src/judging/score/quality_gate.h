// The quality gate: whether the scores of a run reach what its workload demands. A demand names a
// metric (workloads/*.yaml, `quality`); this says which scorer's figure that is, finds it in the
// accuracy results, and compares. Where several datasets have it, it is their mean by samples, as
// the suites' checkers have it. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace assay::score {

// The scorers that say this metric; none: nobody here does, and a workload must not ask for it.
// "" among them: any scorer, since it is counted from the replies' tokens.
std::vector<std::string_view> scorers_of_metric(std::string_view metric);

// The metric's value in accuracy_results.json, in the unit of the workload's thresholds; null where
// it was not measured.
Json metric_value(const Json& results, std::string_view metric);

// {"workload", "edition", "scenario", "verdict", "complete", "items": [{"metric", "of", "value",
// "reference", "at_least", "at_most", "verdict"}], "notes": [text]}, or null where `workload`
// (plan::scenario_facts) demands nothing. A verdict is passed, failed or not_measured. The whole
// has passed when every demand has; of demands that are `of` several targets, all those of one
// target.
Json quality_gate(const Json& results, const Json& workload);

// Passed, by every row of the dataset that the workload has. What --require-accuracy asks.
bool gate_is_passed(const Json& gate);

}  // namespace assay::score
