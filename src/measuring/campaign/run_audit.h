// The `audit` block of a config, for `assay run`: after the main run, or without it (`only`), the
// two phases of the output caching test in audit/ of the run's folder, and the verdict.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "campaign/recorded_run.h"
#include "metrics/caching_audit.h"
#include "plan/caching_phase_plan.h"

namespace assay::campaign {

// Both phases, planned before the first query. nullopt if the config has no audit.
struct PlannedAudit {
  plan::Audit wish{};
  std::int64_t concurrency = 0;  // 0: all at once
  std::array<plan::CachingPhasePlan, 2> phases{};
};
Result<std::optional<PlannedAudit>> plan_audit(const plan::Config& config,
                                               const plan::PlanBundle& main);

// Fails if a phase was stopped, or the reference phase got no reply.
Result<metrics::CachingAudit> record_audit(PlannedAudit& audit, const ClientOptions& client,
                                           const std::filesystem::path& folder,
                                           const std::vector<std::string>& command,
                                           Preflight& preflight, run::Control& control);

}  // namespace assay::campaign
