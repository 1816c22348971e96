// The quality gate: do the scores of a run reach the demands of its workload? A demand names a
// metric (workloads/*.yaml, `quality`). The gate finds the scorer's figure for it in the accuracy
// results and compares. If several datasets have the metric, their mean by samples counts, as in
// the suites' checkers. Pure; any thread.
#pragma once

#include <string_view>
#include <vector>

#include "base/json.h"

namespace assay::score {

// The scorers that compute this metric; empty: no scorer does, and a workload must not ask for it.
// "" among them: any scorer, since the replies' tokens give it.
std::vector<std::string_view> scorers_of_metric(std::string_view metric);

// The metric's value in accuracy_results.json, in the unit of the workload's thresholds; null if it
// was not measured.
Json metric_value(const Json& results, std::string_view metric);

// {"workload", "edition", "scenario", "verdict", "complete", "items": [{"metric", "of", "value",
// "reference", "at_least", "at_most", "verdict"}], "notes": [text]}, or null where `workload`
// (plan::scenario_facts) has no demands. A verdict is passed, failed or not_measured. The whole has
// passed if every demand has; if demands are `of` several targets, all those of one target are
// enough.
Json quality_gate(const Json& results, const Json& workload);

// True if the gate passed on every row of the workload's dataset, as --require-accuracy asks.
bool gate_is_passed(const Json& gate);

}  // namespace assay::score
