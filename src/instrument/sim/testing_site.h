// One card with a load of some hundred tokens, and for tests of the twin a measured curve that is
// none: a system whose fixed costs are not the catalogue's, simulated. One thread.
#pragma once

#include "sim/twin.h"

namespace assay::sim {

inline Workload hundreds() {
  return {[](Rng& rng) { return 500 + static_cast<std::uint32_t>(rng.below(300)); },
          [](Rng& rng) { return 100 + static_cast<std::uint32_t>(rng.below(100)); }};
}

inline Scenario one_card() {
  Scenario out;
  out.model = "llama3.1-8b";
  out.hardware = "h100-sxm";
  out.precision = "fp8";
  out.parallel = "tp=1";
  return out;
}

// The points of a measured curve of this system.
inline std::vector<MeasuredPoint> measure(const ClusterSpec& truth, const Workload& workload,
                                          const std::vector<std::uint32_t>& levels) {
  std::vector<MeasuredPoint> out;
  for (const std::uint32_t c : levels) {
    const SimPoint p = simulate_closed(truth, workload, c);
    out.push_back({c, p.ttft_ms.mean, p.tpot_ms.mean, 0, p.system_tps});
  }
  return out;
}

// A site whose fixed costs are not the catalogue's.
inline ClusterSpec site(ClusterSpec spec) {
  spec.deployment.constants.layer_s *= 1.4;
  spec.deployment.constants.sequence_s *= 0.7;
  spec.deployment.constants.request_s *= 2;
  spec.deployment.constants.weight_bandwidth *= 0.9;
  return spec;
}

inline const std::vector<std::uint32_t> kTwinLevels = {1, 4, 16, 32, 64};

}  // namespace assay::sim
