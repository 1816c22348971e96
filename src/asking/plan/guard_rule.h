// Converts settings.guard into the rule that a run obeys (domain/plan.h). Pure.
#pragma once

#include "base/result.h"
#include "domain/plan.h"
#include "plan/config.h"

namespace assay::plan {

// An error if max_failures is neither a number nor a share.
Result<GuardRule> guard_rule(const Guarding& from);

}  // namespace assay::plan
