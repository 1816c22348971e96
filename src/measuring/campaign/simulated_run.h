// A run of a modelled server: the plan of a run's config, through the loop that measures, on a
// simulated clock. The queries, their instants, turns and classes are those of `assay run`; each
// body is read as the built-in endpoint reads it (endpoint/modelled_ask.h). So a trace, a
// conversation or a mix of classes has one answer here and against `assay endpoint --scenario`, but
// for the client's own time. docs/guide/serving_model.md.
#pragma once

#include <cstdint>

#include "audit/loaded_run.h"
#include "base/result.h"
#include "plan/config.h"
#include "plan/make_plan.h"
#include "sim/cluster.h"
#include "sim/workload.h"

namespace assay::campaign {

// The lengths that the plan's first queries ask, each as likely: for the search of a layout. Fails
// where the endpoint would refuse a query, and for an API without tokens.
Result<sim::Workload> lengths_asked(const plan::PlanBundle& bundle, std::uint64_t seed);

// Runs the plan's phases. The run has no folder, and nothing of a client; its facts say
// "simulated". `seed`: of replies without a limit in their request. Fails where the endpoint would
// refuse a query.
Result<audit::LoadedRun> simulate_run(const plan::Config& config, const plan::PlanBundle& bundle,
                                      const sim::ClusterSpec& spec, std::uint64_t seed);

}  // namespace assay::campaign
