// What if: a measured curve as it would be after one change of its system: more cards, another
// precision, drafts.
//
// The twin is asked twice, for the system as it is and as it would be, and the measured figure is
// multiplied by the ratio, so that what the twin gets wrong at a level cancels. The five factors of
// the site are kept by the changed system.
//
// The range of each figure has two parts, added as squares of logarithms: how far the held-out
// points of this very curve lay from the twin, and how far measured points like the changed system
// lay from this model (sim/doubt.h). Where either is unknown there is no range. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/twin.h"

namespace assay::sim {

// "cards=16,tp=8,mtp=2", of: cards, tp, dp, ep, pp, mtp, hardware, precision, backend, software,
// backend_version, router, disagg, decode_batch. A layout that is not changed stays, and so does
// the number of cards unless it no longer holds the layout.
Result<Scenario> changed_scenario(const Scenario& scenario, std::string_view changes);

struct Estimate {
  double value = 0;  // 0: unknown
  double low = 0;    // 0: no range is known
  double high = 0;
};

struct WhatIfPoint {
  MeasuredPoint measured{};
  Estimate tpot_ms{};
  Estimate ttft_ms{};
  Estimate system_tps{};
  Trust trust{};           // of the changed system
  std::string unsteady{};  // why the changed system has no steady state here; "" if it has
};

struct WhatIf {
  std::string system{};  // the changed system, as describe() writes it
  unsigned gpus = 0;
  std::vector<WhatIfPoint> points{};
};

// `then`: the changed system, without the twin's factors. REQUIRES: twin was fitted to `measured`.
WhatIf ask_what_if(const ClusterSpec& then, const Workload& workload,
                   const std::vector<MeasuredPoint>& measured, const Twin& twin);

}  // namespace assay::sim
