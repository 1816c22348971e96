// plan_caching_phase: one phase of the output caching test that a config's `audit` block asks for
// (metrics/caching_audit.h), as the reference client runs it: the config's own load, a number of
// queries instead of a duration, and no accuracy. The first phase asks distinct rows (`samples`),
// the second repeats one row (`audit_samples`). No salts: a cache could not answer. Pure.
#pragma once

#include "base/result.h"
#include "domain/sample.h"
#include "plan/config.h"
#include "plan/make_plan.h"

namespace assay::plan {

struct CachingPhasePlan {
  Config config{};  // as written beside the phase
  PlanBundle bundle{};
};

// Returns the number of queries in each of the two phases.
std::uint64_t caching_queries(const Audit& audit, bool repeated);

// `dataset`: the performance dataset's rows. REQUIRES: config.audit.
Result<CachingPhasePlan> plan_caching_phase(const Config& config, const Dataset& dataset,
                                            bool repeated);

}  // namespace assay::plan
