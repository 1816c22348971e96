// vllm bench serve: --save-result writes one flat object, median_ttft_ms, p99_itl_ms, …
#include "base/format.h"
#include "conformance/peer.h"
#include "conformance/read_figures.h"

namespace assay::conformance {
namespace {

std::vector<std::string> vllm_arguments(const Job& job) {
  return {"bench",
          "serve",
          "--backend",
          "openai-chat",
          "--base-url",
          job.url,
          "--endpoint",
          "/v1/chat/completions",
          "--model",
          job.model,
          "--tokenizer",
          job.tokenizer.string(),
          "--dataset-name",
          "custom",
          "--dataset-path",
          job.prompts.string(),
          "--custom-output-len",
          format("{}", job.tokens),
          "--skip-chat-template",
          "--num-prompts",
          format("{}", job.requests),
          "--max-concurrency",
          format("{}", job.streams),
          "--percentile-metrics",
          "ttft,tpot,itl",
          "--metric-percentiles",
          "50,99",
          "--disable-tqdm",
          "--save-result",
          "--result-dir",
          job.folder.string(),
          "--result-filename",
          "vllm.json"};
}

Result<Figures> vllm_figures(const Job& job) {
  const auto file = job.folder / "vllm.json";
  ASSIGN_OR_RETURN(const Json json, read_json(file));
  const auto spread = [&](std::string_view series) -> Result<Spread> {
    ASSIGN_OR_RETURN(const double p50, number_at(json, file, {format("median_{}_ms", series)}));
    ASSIGN_OR_RETURN(const double p99, number_at(json, file, {format("p99_{}_ms", series)}));
    return Spread{p50, p99};
  };
  ASSIGN_OR_RETURN(const double completed, number_at(json, file, {"completed"}));
  Figures out{.completed = static_cast<std::uint64_t>(completed)};
  ASSIGN_OR_RETURN(out.ttft, spread("ttft"));
  ASSIGN_OR_RETURN(out.itl, spread("itl"));
  return out;
}

}  // namespace

Peer peer_vllm() {
  return {.id = "vllm",
          .title = "vllm bench",
          .program = "vllm",
          .package = "vllm",
          .gaps = Gaps::each,
          .arguments = vllm_arguments,
          .read = vllm_figures};
}

}  // namespace assay::conformance
