// The reference client of MLPerf Endpoints (inference-endpoint 0.1.0): performance/
// result_summary.json has nanoseconds by percentile. It has no gaps: its TPOT is a reply's mean,
// and absent where it could not count tokens.
#include <algorithm>

#include "base/format.h"
#include "base/latency_profile.h"
#include "conformance/peer.h"
#include "conformance/read_figures.h"

namespace assay::conformance {
namespace {

// Its own choice is 10 workers at least, which small machines do not start within its 60 seconds.
constexpr std::size_t kWorkersOfItsOwn = 10;

std::vector<std::string> reference_arguments(const Job& job) {
  const std::size_t cores = usable_cores().size();
  return {"benchmark",
          "online",
          "--model",
          job.model,
          "--endpoints",
          job.url,
          "--dataset",
          "perf:" + job.prompts.string(),
          "--load-pattern",
          "concurrency",
          "--concurrency",
          format("{}", job.streams),
          "--num-samples",
          format("{}", job.requests),
          "--streaming",
          "on",
          "--max-output-tokens",
          format("{}", job.tokens),
          "--tokenizer",
          job.tokenizer.string(),
          "--num-workers",
          cores < kWorkersOfItsOwn ? format("{}", std::max<std::size_t>(cores, 1)) : "-1",
          "--report-dir",
          job.folder.string()};
}

Result<Figures> reference_figures(const Job& job) {
  const auto file = job.folder / "performance/result_summary.json";
  ASSIGN_OR_RETURN(const Json json, read_json(file));
  const auto spread = [&](std::string_view series) -> Result<Spread> {
    constexpr double kMsPerNs = 1e-6;
    ASSIGN_OR_RETURN(const double p50, number_at(json, file, {series, "percentiles", "50.0"}));
    ASSIGN_OR_RETURN(const double p99, number_at(json, file, {series, "percentiles", "99.0"}));
    return Spread{p50 * kMsPerNs, p99 * kMsPerNs};
  };
  ASSIGN_OR_RETURN(const double completed, number_at(json, file, {"n_samples_completed"}));
  ASSIGN_OR_RETURN(const double failed, number_at(json, file, {"n_samples_failed"}));
  // Its count of completed includes the failed.
  Figures out{.completed = static_cast<std::uint64_t>(completed - failed)};
  ASSIGN_OR_RETURN(out.ttft, spread("ttft"));
  if (json["tpot"]["percentiles"].is_object()) {
    ASSIGN_OR_RETURN(out.itl, spread("tpot"));
  }
  return out;
}

}  // namespace

Peer peer_reference() {
  return {.id = "reference",
          .title = "reference client",
          .program = "inference-endpoint",
          .package = "a checkout of mlcommons/endpoints",
          .gaps = Gaps::mean_of_reply,
          .arguments = reference_arguments,
          .read = reference_figures};
}

}  // namespace assay::conformance
