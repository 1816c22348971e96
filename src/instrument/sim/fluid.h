// Fluid estimate: what a system would do if its batch were always the mean one: no queue, no burst,
// no draw. It costs microseconds, so hundreds of layouts can be ranked by it; the few that lead are
// then simulated. Its figures are never shown.
#pragma once

#include "sim/cluster.h"
#include "sim/workload.h"

namespace assay::sim {

// Means of the lengths that a workload draws.
struct MeanLoad {
  double input = 1;
  double output = 1;
  double held = 1;  // output tokens of a sequence met at random: E[output^2] / E[output]
};
MeanLoad mean_load(const Workload& workload);

struct Fluid {
  double tokens_per_s = 0;  // output, of the whole system; 0: nothing fits its memory
  double tpot_s = 0;
};

// `concurrency` queries in flight, over all workers; what the memory does not hold waits.
Fluid fluid_at(const ClusterSpec& spec, const MeanLoad& load, double concurrency);
// The most tokens a second whose TPOT is at most `tpot_s`.
Fluid fluid_within(const ClusterSpec& spec, const MeanLoad& load, double tpot_s);

// Queries in flight at that point, by Little's law over decoding alone.
double in_flight(const Fluid& at);

}  // namespace assay::sim
