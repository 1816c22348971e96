// A pipeline's plan for people and for programs: its steps in their order, what follows each, and
// what was read and has no effect. Pure; any thread.
#pragma once

#include <string>

#include "base/json.h"
#include "pipeline/pipeline.h"

namespace assay::pipeline {

std::string plan_text(const Pipeline& pipeline);
// {pipeline, steps: [{id, type, partition, limit, next: [{to, when, back}]}], notes}
Json plan_json(const Pipeline& pipeline);

}  // namespace assay::pipeline
