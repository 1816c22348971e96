#include "campaign/run_audit.h"

#include "base/format.h"
#include "campaign/caching_files.h"

namespace assay::campaign {

Result<std::optional<PlannedAudit>> plan_audit(const plan::Config& config,
                                               const plan::PlanBundle& main) {
  if (!config.audit) return std::optional<PlannedAudit>();
  PlannedAudit out{.wish = *config.audit};
  const Dataset* dataset = nullptr;
  for (const PhasePlan& phase : main.plan.phases) {
    if (phase.kind == PhaseKind::performance) dataset = &main.datasets[phase.dataset].dataset;
  }
  if (dataset == nullptr) {
    return invalid(
        "audit: asks rows of the performance dataset, which --mode acc leaves out\n"
        "  --mode perf or both, or delete the block");
  }
  const plan::LoadPattern& load = config.settings.load_pattern;
  if (load.type == plan::Pattern::concurrency) out.concurrency = *load.target_concurrency;
  for (const bool repeated : {false, true}) {
    ASSIGN_OR_RETURN(out.phases[repeated ? 1 : 0],
                     plan::plan_caching_phase(config, *dataset, repeated));
  }
  return std::optional(std::move(out));
}

Result<metrics::CachingAudit> record_audit(PlannedAudit& audit, const ClientOptions& client,
                                           const std::filesystem::path& folder,
                                           const std::vector<std::string>& command,
                                           Preflight& preflight, run::Control& control) {
  const std::filesystem::path below = folder / "audit";
  std::array<metrics::CachingPhase, 2> phases{};
  for (const bool repeated : {false, true}) {
    const std::size_t at = repeated ? 1 : 0;
    RunRequest request{.config = &audit.phases[at].config,
                       .bundle = &audit.phases[at].bundle,
                       .folder = below / caching_folder(repeated)};
    request.facts = Json().set("steady_state", Json());
    request.command = command;
    request.preflight = &preflight;
    ASSIGN_OR_RETURN(const RecordedRun run, record_run(request, client, LiveView(), control));
    if (run.run.point.end.state != RunState::complete) {
      return Error{run.run.point.end.out_of_space ? Code::exhausted : Code::refused,
                   format("the output caching audit was stopped: {}", run.run.point.end.reason)};
    }
    phases[at] = metrics::caching_phase(run.run.point, plan::caching_queries(audit.wish, repeated));
  }
  ASSIGN_OR_RETURN(const metrics::CachingAudit verdict,
                   metrics::judge_caching(phases[0], phases[1], audit.wish.sample_index,
                                          audit.concurrency, audit.wish.threshold));
  TRY(write_caching_files(below, verdict));
  return verdict;
}

}  // namespace assay::campaign
