// settings.guard as the rule that a run is held to (domain/plan.h). Pure.
#pragma once

#include "base/result.h"
#include "domain/plan.h"
#include "plan/config.h"

namespace assay::plan {

// An error where max_failures is neither a number nor a share.
Result<GuardRule> guard_rule(const Guarding& from);

}  // namespace assay::plan
