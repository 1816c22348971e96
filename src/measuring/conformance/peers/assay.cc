#include "audit/loaded_run.h"
#include "base/format.h"
#include "campaign/run_folder.h"
#include "conformance/peer.h"
#include "metrics/definitions/definition_fold.h"
#include "record/event_log.h"

namespace assay::conformance {
namespace {

std::vector<std::string> assay_arguments(const Job& job) {
  return {"run",
          "--endpoint",
          job.url,
          "--model",
          job.model,
          "--concurrency",
          format("{}", job.streams),
          "--samples",
          format("{}", job.requests),
          "--dataset",
          job.prompts.string(),
          "--max-output-tokens",
          format("{}", job.tokens),
          "--no-preflight",
          "--allow-client-limited",
          "--quiet",
          "--report-dir",
          (job.folder / "run").string()};
}

Spread in_ms(const metrics::DefinedSeries& series) {
  constexpr double kNsToMs = 1e-6;
  constexpr std::size_t kP50 = 0;
  constexpr std::size_t kP99 = 2;
  static_assert(metrics::kDefinitionPercentiles[kP50] == 50.0);
  static_assert(metrics::kDefinitionPercentiles[kP99] == 99.0);
  return {series.percentiles[kP50] * kNsToMs, series.percentiles[kP99] * kNsToMs};
}

// From the event log, because the summary, which has the reference client's form, has no gaps.
Result<Figures> assay_figures(const Job& job) {
  const auto folder = job.folder / "run";
  ASSIGN_OR_RETURN(const auto logs, record::find_event_logs(campaign::log_folder(folder)));
  ASSIGN_OR_RETURN(const RunInfo info, record::read_run_info(logs.front()));
  const metrics::Definition* const ours = metrics::find_definition("assay");
  metrics::DefinitionFold fold(info, {ours});
  audit::LoadOptions how{.replies = &fold};
  TRY(campaign::load_run(folder, std::move(how)));
  const metrics::DefinedPoint point = fold.finish().front();
  return Figures{.ttft = in_ms(point.ttft), .itl = in_ms(point.itl), .completed = point.succeeded};
}

}  // namespace

Peer peer_assay() {
  return {.id = "assay",
          .title = "Assay",
          .gaps = Gaps::each,
          .arguments = assay_arguments,
          .read = assay_figures};
}

}  // namespace assay::conformance
