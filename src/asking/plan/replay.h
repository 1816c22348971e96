// make_replay: the phases of an agentic_inference run. The dataset's conversations become
// trajectories, as many as are asked for: the k-th is conversation k mod n, and what makes a repeat
// another one is written into its samples (its id, its salt), so a further pass has samples of its
// own behind the first's. Pure.
//
//   performance  until a slot has no trajectory left to begin
//   tail         what was under way then: asked to its end and scored with the rest, not measured
#pragma once

#include <vector>

#include "base/result.h"
#include "domain/plan.h"
#include "plan/config.h"

namespace assay::plan {

// Expands the dataset; returns the trajectories. Fails where a salt has no system message to go to.
Result<std::vector<Conversation>> make_trajectories(const AgenticConfig& config, Dataset& dataset);

}  // namespace assay::plan
