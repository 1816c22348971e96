// What a modelled system would reach in a suite's scenario, as text and JSON. It is no result of
// that suite. Pure; any thread.
#pragma once

#include <string>

#include "report/simulated.h"

namespace assay::report {

struct SuiteAsked {
  std::string workload{};
  std::string edition{};
  std::string scenario{};
  std::string limits{};   // "ttft_p99=2000ms,tpot_p99=80ms"; "" where the scenario has none
  std::string lengths{};  // "" for a model without tokens
  std::string basis{};    // where the lengths come from
  bool tokens = true;     // the metric: tokens a second, else queries
};

// Layouts whose points have no queries cannot keep the limits.
Json suite_json(const SuiteAsked& asked, const LayoutsTried& tried);
std::string suite_text(const SuiteAsked& asked, const LayoutsTried& tried);

}  // namespace assay::report
