// genai-perf over perf_analyzer (2025-12): responses without text are dropped before anything is
// timed, so role, reasoning, finish, usage and [DONE] do not exist for it; responses that came in
// one read are one response. ITL is one value a request. perf_analyzer stamps with the wall clock;
// the recording is monotonic. Tokens are counted with a client tokenizer.
#include "metrics/definitions/definition.h"

namespace assay::metrics {
namespace {

void measure_genai_perf(const Reply& reply, Figures& out) {
  measure_responses(reply, is_text, out);
}

}  // namespace

const Definition kGenaiPerfDefinition{
    .name = "genai-perf",
    .title = "genai-perf",
    .source = "triton-inference-server/perf_analyzer, genai-perf/genai_perf (2025-12)",
    .ttft = "first response with text; reasoning is not read",
    .tpot = "none: its ITL is what others call TPOT",
    .itl = "(latency - TTFT) / (tokens - 1), one value a request",
    .latency = "to the last response with text",
    .failures = "dropped",
    .percentiles = PercentileRule::linear,
    .window = WindowRule::successes,
    .tokens = TokenRule::tokenizer,
    .measure = measure_genai_perf,
};

}  // namespace assay::metrics
