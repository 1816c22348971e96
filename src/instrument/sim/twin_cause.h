// Cause: what would explain the difference between a twin and the measured curve.
//
// A twin's five factors are fixed costs. What they cannot explain is asked of the model: the same
// system with one thing changed (prompts not cut into chunks, half the cards, few sequences at a
// time, a smaller KV cache, …) is fitted to the same points, and the change that takes most of the
// misfit away is named, with both errors. It is a guess with its evidence, not a finding: another
// cause may look the same. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "sim/twin.h"

namespace assay::sim {

struct TwinCause {
  std::string as_if{};    // "prompts were not cut into chunks"
  double tpot_error = 0;  // median errors of the twin with that change
  double ttft_error = 0;
  double misfit = 0;  // a share of the twin's without the change
};

// Whether the twin follows its curve so closely that nothing has to be explained.
bool is_near(const Twin& twin);

// Those that leave at most half of the misfit, the best first, at most three; none where the twin
// is_near() its curve.
std::vector<TwinCause> causes_of(const ClusterSpec& spec, const Workload& workload,
                                 const std::vector<MeasuredPoint>& measured, const Twin& twin);

// "TTFT is 0.4 to 3.1 times the twin's, most at 64 in flight": the larger of the two residuals.
std::string residual_text(const std::vector<MeasuredPoint>& measured, const Twin& twin);

}  // namespace assay::sim
