// OpenTelemetry's GenAI conventions (open-telemetry/semantic-conventions-genai, development, 2026):
// gen_ai.client.operation.time_to_first_chunk, .time_per_output_chunk (each chunk after the first,
// from the one before) and .duration, which has failed operations too, marked with error.type. A
// chunk is any event of the stream, also a role-only or usage chunk, but not [DONE]. A backend
// knows only bucket counts, so a percentile is interpolated within a bucket of the convention's (10
// ms and doubling). No rate is defined.
#include "metrics/definitions/definition.h"

namespace assay::metrics {
namespace {

void measure_otel(const Reply& reply, Figures& out) {
  const Event& event = reply.event;
  out.success = event.outcome == Outcome::ok;
  out.start = request_start(event);
  out.end = event.done;
  out.latency = span(out.start, out.end);
  take_tokens(reply, TokenRule::usage, out);
  if (!event.streamed) return;
  out.ttft = span(out.start, first_of(reply, is_chunk));
  gaps_of(reply, is_chunk, out.itl);
}

}  // namespace

const Definition kOtelDefinition{
    .name = "otel",
    .title = "OpenTelemetry GenAI",
    .source = "open-telemetry/semantic-conventions-genai, client metrics (development, 2026)",
    .ttft = "first chunk of any kind (time_to_first_chunk)",
    .tpot = "none on the client's side",
    .itl = "gaps between chunks of any kind, pooled (time_per_output_chunk)",
    .latency = "to the end of the operation, failures included",
    .failures = "in the series, marked with error.type",
    .percentiles = PercentileRule::buckets,
    .window = WindowRule::none,
    .measure = measure_otel,
};

}  // namespace assay::metrics
