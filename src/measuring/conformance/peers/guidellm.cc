// GuideLLM 0.8: benchmarks[0].metrics has each series by outcome; percentiles are named p50, p99.
// Its inter_token_latency_ms is a reply's mean, weighted by tokens.
#include "base/format.h"
#include "conformance/peer.h"
#include "conformance/read_figures.h"

namespace assay::conformance {
namespace {

std::vector<std::string> guidellm_arguments(const Job& job) {
  return {"run",
          "--backend",
          format("kind=openai_http,target={},model={}", job.url, job.model),
          "--profile",
          format("kind=concurrent,streams={}", job.streams),
          "--constraint",
          format("kind=max_requests,count={}", job.requests),
          "--data",
          format("kind=json_file,path={}", job.prompts.string()),
          "--data-column-mapper",
          "kind=generative_column_mapper,column_mappings.text_column=prompt",
          "--tokenizer",
          format("kind=huggingface_auto,model={}", job.tokenizer.string()),
          "--output",
          format("kind=json,path={}", (job.folder / "guidellm.json").string()),
          "--disable-console"};
}

Result<Figures> guidellm_figures(const Job& job) {
  const auto file = job.folder / "guidellm.json";
  ASSIGN_OR_RETURN(const Json json, read_json(file));
  const Json& metrics = json["benchmarks"][0]["metrics"];
  const auto spread = [&](std::string_view series) -> Result<Spread> {
    ASSIGN_OR_RETURN(const double p50,
                     number_at(metrics, file, {series, "successful", "percentiles", "p50"}));
    ASSIGN_OR_RETURN(const double p99,
                     number_at(metrics, file, {series, "successful", "percentiles", "p99"}));
    return Spread{p50, p99};
  };
  ASSIGN_OR_RETURN(const double completed,
                   number_at(metrics, file, {"request_totals", "successful"}));
  Figures out{.completed = static_cast<std::uint64_t>(completed)};
  ASSIGN_OR_RETURN(out.ttft, spread("time_to_first_token_ms"));
  ASSIGN_OR_RETURN(out.itl, spread("inter_token_latency_ms"));
  return out;
}

}  // namespace

Peer peer_guidellm() {
  return {.id = "guidellm",
          .title = "GuideLLM",
          .program = "guidellm",
          .package = "guidellm",
          .gaps = Gaps::mean_of_reply,
          .arguments = guidellm_arguments,
          .read = guidellm_figures};
}

}  // namespace assay::conformance
