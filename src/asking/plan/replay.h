// make_replay: the phases of an agentic_inference run. The dataset's conversations become
// trajectories; the config gives their number. Trajectory k is conversation k mod n. A repeat's
// samples have an id and a salt of their own, so each further pass has its own samples after those
// of the first pass. Pure.
//
//   performance  until a slot has no trajectory left to begin
//   tail         the queries under way then: asked to the end and scored, not measured
#pragma once

#include <vector>

#include "base/result.h"
#include "domain/plan.h"
#include "plan/config.h"

namespace assay::plan {

// Expands the dataset; returns the trajectories. Fails if a salt has no system message.
Result<std::vector<Conversation>> make_trajectories(const AgenticConfig& config, Dataset& dataset);

}  // namespace assay::plan
