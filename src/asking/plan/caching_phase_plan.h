// plan_caching_phase: one phase of the output caching test that a config's `audit` block asks for
// (metrics/caching_audit.h), as the reference client runs it: the config's own load, with a number
// of queries in place of a length, and no accuracy. First distinct rows (`samples`), then one row
// again and again (`audit_samples`). Never salted: no cache would be seen. Pure.
#pragma once

#include <vector>

#include "base/result.h"
#include "domain/sample.h"
#include "plan/config.h"
#include "plan/make_plan.h"

namespace assay::plan {

struct CachingPhasePlan {
  Config config{};  // as it is written beside the phase
  PlanBundle bundle{};
};

// The queries of each of the two phases.
std::uint64_t caching_queries(const Audit& audit, bool repeated);

// `dataset`: the performance dataset's rows. REQUIRES: config.audit.
Result<CachingPhasePlan> plan_caching_phase(const Config& config, const Dataset& dataset,
                                            bool repeated);

}  // namespace assay::plan
