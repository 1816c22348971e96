// What a modelled system would reach in a suite's scenario, as text and JSON. It is no result of
// that suite. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "report/simulated.h"

namespace assay::report {

struct SuiteAsked {
  std::string workload{};
  std::string edition{};
  std::string scenario{};
  std::string limits{};     // "ttft_p99=2000ms,tpot_p99=80ms"; "" where the scenario has none
  std::string software{};   // the generation of stacks; "": those of the fit
  unsigned drawn_from = 0;  // entries of the vocabulary, where each token is drawn from all
  std::string lengths{};    // "" for a model without tokens
  std::string basis{};      // where the lengths come from
  bool tokens = true;       // the metric: tokens a second, else queries
};

// Layouts whose points have no queries cannot keep the limits.
Json suite_json(const SuiteAsked& asked, const LayoutsTried& tried);
std::string suite_text(const SuiteAsked& asked, const LayoutsTried& tried);

// The best layout after each lever; the first step is where they begin.
struct LeverStep {
  std::string lever{};
  TriedLayout best{};
};
Json levers_json(const SuiteAsked& asked, const std::vector<LeverStep>& steps);
std::string levers_text(const SuiteAsked& asked, const std::vector<LeverStep>& steps);

}  // namespace assay::report
