// NVIDIA AIPerf, src/aiperf/metrics/types/{ttft,request_latency,inter_token_latency}_metric.py
// (2026): the first and the last response with content (text, reasoning or tool call; neither role
// nor usage). What others call TPOT is its inter token latency, one value a request; its gaps are
// another metric (inter_chunk_latency). It counts tokens with a client tokenizer by default. Rates
// are over the requests' span, as up to 0.12; 0.13 divides by its phase's wall time, which its
// records do not hold: 0.1 % more in a run of seconds.
#include "metrics/definitions/definition.h"

namespace assay::metrics {
namespace {

void measure_aiperf(const Reply& reply, Figures& out) {
  measure_responses(reply, is_fragment, out);
  if (!reply.event.streamed || out.end.known()) return;
  // Without content the request still ends with its last response.
  out.end = last_of(reply, is_line);
  out.latency = span(out.start, out.end);
}

}  // namespace

const Definition kAiperfDefinition{
    .name = "aiperf",
    .title = "NVIDIA AIPerf",
    .source = "ai-dynamo/aiperf, src/aiperf/metrics/types/ (58dd5dea, 4f7ccffd)",
    .ttft = "first response with content, reasoning too",
    .tpot = "none: its ITL is what others call TPOT",
    .itl = "(latency - TTFT) / (tokens - 1), one value a request",
    .latency = "to the last response with content",
    .failures = "dropped",
    .percentiles = PercentileRule::linear,
    .window = WindowRule::successes,
    .tokens = TokenRule::tokenizer,
    .measure = measure_aiperf,
};

}  // namespace assay::metrics
