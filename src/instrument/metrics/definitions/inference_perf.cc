// inference-perf (kubernetes-sigs, 2026-08), inference_perf/reportgen/base.py: role-only, usage and
// [DONE] chunks are left out of the timing. TPOT is between the first and the last token; ITL gives
// every token its chunk's instant, so that tokens which came together are 0 apart: a reply of N
// tokens in K chunks has K − 1 gaps and N − K zeros. Chunks are tokenised again there; where
// the run's tokens were not counted, the server's count is taken.
#include "metrics/definitions/definition.h"

namespace assay::metrics {
namespace {

// A reply that claims more is not believed.
constexpr std::int64_t kTokensMax = 10'000'000;

void measure_inference_perf(const Reply& reply, Figures& out) {
  const Event& event = reply.event;
  out.success = out.measured = event.outcome == Outcome::ok;
  out.start = request_start(event);
  out.end = event.done;
  out.latency = span(out.start, out.end);
  take_tokens(reply, TokenRule::tokenizer, out);
  if (!event.streamed) return;
  const Instant first = first_of(reply, is_fragment);
  const Instant last = last_of(reply, is_fragment);
  out.ttft = span(out.start, first);
  out.tpot = per_later_token(first, last, out.tokens);
  gaps_of(reply, is_fragment, out.itl);
  const auto chunks = static_cast<std::int64_t>(count_of(reply, is_fragment));
  if (chunks > 0 && out.tokens > chunks && out.tokens <= kTokensMax) {
    out.itl.resize(out.itl.size() + static_cast<std::size_t>(*out.tokens - chunks), 0.0);
  }
}

}  // namespace

const Definition kInferencePerfDefinition{
    .name = "inference-perf",
    .title = "inference-perf",
    .source = "kubernetes-sigs/inference-perf 010d12fb, inference_perf/reportgen/base.py",
    .ttft = "first chunk with content; role and usage are left out",
    .tpot = "(last token - first token) / (tokens - 1)",
    .itl = "gaps between tokens, pooled: 0 inside a chunk",
    .latency = "to the end of the reply",
    .failures = "a latency block of their own",
    .percentiles = PercentileRule::linear,
    .window = WindowRule::requests,
    .tokens = TokenRule::tokenizer,
    .measure = measure_inference_perf,
};

}  // namespace assay::metrics
