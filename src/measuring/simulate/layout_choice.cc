#include "simulate/layout_choice.h"

#include <algorithm>

#include "base/result.h"

namespace assay::simulate {

report::LayoutsTried tried_of(const sim::Catalogue& catalogue, const sim::LayoutSearch& found) {
  report::LayoutsTried out{.fit = found.fit};
  for (const sim::LaidOut& one : found.best) {
    const auto spec = sim::make_cluster_spec(catalogue, one.scenario);
    if (spec) out.best.push_back({sim::layout_text(*spec), one.point});
  }
  return out;
}

Result<LayoutChoice> choose_layout(const sim::Catalogue& catalogue, const sim::Scenario& scenario,
                                   const sim::Workload& workload,
                                   const std::vector<std::uint32_t>& levels) {
  if (!scenario.parallel.empty() || !scenario.disagg.empty()) return LayoutChoice{scenario, {}};
  sim::SimulateOptions options{.queries_per_slot = 6};
  options.seed = scenario.seed;
  const sim::LayoutSearch found =
      levels.empty()
          ? sim::best_offline(catalogue, scenario, workload, false, options)
          : sim::best_at(catalogue, scenario, workload, std::ranges::max(levels), options);
  if (found.best.empty()) {
    // The reason why the simplest layout does not fit.
    TRY(sim::make_cluster_spec(catalogue, scenario));
    return LayoutChoice{scenario, {}};
  }
  return LayoutChoice{found.best.front().scenario, tried_of(catalogue, found)};
}

}  // namespace assay::simulate
