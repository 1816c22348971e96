// Layouts: how a model can be laid out on a number of accelerators, and which layout serves most.
//
// Every layout that fits is ranked by the fluid estimate (sim/fluid.h), and the leading ones are
// simulated: the estimate knows no queue and no burst.
#pragma once

#include <vector>

#include "sim/scenario.h"
#include "sim/simulate.h"
#include "sim/sizing.h"

namespace assay::sim {

// Layouts that fit, the user's own alone if the scenario names one: tensor parallelism, for a
// mixture of experts also attention DP with wide experts, and, where `apart`, splits into prefill
// and decode. With `gpus`, each fills them exactly. Without, workers of the fewest accelerators
// that hold the model; and for `apart` any size.
std::vector<Scenario> layouts_of(const Catalogue& catalogue, const Scenario& scenario, bool apart);

// Those whose estimate at `concurrency` is best; the best first, at most `count`.
std::vector<Scenario> leading_at(const Catalogue& catalogue, const std::vector<Scenario>& layouts,
                                 const Workload& workload, double concurrency, std::size_t count);
// The same for the most tokens a second within a TPOT, for each accelerator.
std::vector<Scenario> leading_within(const Catalogue& catalogue,
                                     const std::vector<Scenario>& layouts, const Workload& workload,
                                     double tpot_s, std::size_t count);

struct LaidOut {
  Scenario scenario{};
  SimPoint point{};
};
struct LayoutSearch {
  std::size_t fit = 0;          // how many layouts fit
  std::vector<LaidOut> best{};  // of these the leading ones, simulated, the best first
};
// By tokens a second with `concurrency` in flight.
LayoutSearch best_at(const Catalogue& catalogue, const Scenario& scenario, const Workload& workload,
                     std::uint32_t concurrency, const SimulateOptions& options);
// By the most tokens a second of any concurrency, as an Offline run; `apart`: also layouts whose
// prefill is apart.
LayoutSearch best_offline(const Catalogue& catalogue, const Scenario& scenario,
                          const Workload& workload, bool apart, const SimulateOptions& options);
// By the highest Poisson rate within the limits, to 2 %: a Server run; `apart` as above. Points of
// a layout that cannot keep the limits have no queries, and come last.
LayoutSearch best_within(const Catalogue& catalogue, const Scenario& scenario,
                         const Workload& workload, const Slo& slo, bool apart,
                         const SimulateOptions& options);

}  // namespace assay::sim
