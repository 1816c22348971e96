// AIPerf 0.13: profile_export_aiperf.json has each series as {"unit": "ms", "p50": …}. Its
// inter_token_latency is a reply's mean; inter_chunk_latency is of each gap.
#include "base/format.h"
#include "conformance/peer.h"
#include "conformance/read_figures.h"

namespace assay::conformance {
namespace {

std::vector<std::string> aiperf_arguments(const Job& job) {
  return {"profile",
          "--model",
          job.model,
          "--url",
          job.url,
          "--endpoint-type",
          "chat",
          "--streaming",
          "--concurrency",
          format("{}", job.streams),
          "--request-count",
          format("{}", job.requests),
          "--input-file",
          job.prompts.string(),
          "--custom-dataset-type",
          "single_turn",
          "--extra-inputs",
          format("max_tokens:{}", job.tokens),
          "--use-server-token-count",
          "--tokenizer",
          job.tokenizer.string(),
          "--artifact-dir",
          job.folder.string(),
          "--ui",
          "none"};
}

Result<Spread> aiperf_spread(const Json& json, const std::filesystem::path& file,
                             std::string_view series) {
  if (json[series]["unit"].as_string() != "ms") {
    return invalid(format("{}: {}.unit: must be ms", file.string(), series));
  }
  ASSIGN_OR_RETURN(const double p50, number_at(json, file, {series, "p50"}));
  ASSIGN_OR_RETURN(const double p99, number_at(json, file, {series, "p99"}));
  return Spread{p50, p99};
}

Result<Figures> aiperf_figures(const Job& job) {
  const auto file = job.folder / "profile_export_aiperf.json";
  ASSIGN_OR_RETURN(const Json json, read_json(file));
  ASSIGN_OR_RETURN(const double completed, number_at(json, file, {"request_count", "avg"}));
  Figures out{.completed = static_cast<std::uint64_t>(completed)};
  ASSIGN_OR_RETURN(out.ttft, aiperf_spread(json, file, "time_to_first_token"));
  ASSIGN_OR_RETURN(out.itl, aiperf_spread(json, file, "inter_chunk_latency"));
  return out;
}

}  // namespace

Peer peer_aiperf() {
  return {.id = "aiperf",
          .title = "AIPerf",
          .program = "aiperf",
          .package = "aiperf",
          .gaps = Gaps::each,
          .arguments = aiperf_arguments,
          .read = aiperf_figures};
}

}  // namespace assay::conformance
