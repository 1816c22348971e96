// vLLM's `bench serve`, vllm/benchmarks/lib/endpoint_request_func.py (chat and completions) and
// vllm/benchmarks/serve.py at 02cfb534 (2026): the clock stops at the first event whose `choices`
// is not empty, so a role-only event is a first token; every later event with choices is a gap,
// the finishing one too; the request ends with the last of them, not with usage or [DONE]. An error
// object inside a stream has no choices and passes unseen: what came before makes a success.
// Without `usage` it tokenises the text.
#include "metrics/definitions/definition.h"

namespace assay::metrics {
namespace {

void measure_vllm(const Reply& reply, Figures& out) {
  const Event& event = reply.event;
  const Instant first = first_of(reply, has_choices);
  const bool ended = event.outcome == Outcome::ok || event.outcome == Outcome::stream_error;
  out.success = out.measured = ended && (first.known() || !event.streamed);
  out.start = request_start(event);
  take_tokens(reply, TokenRule::usage, out);
  if (!event.streamed) {
    out.end = event.done;
    out.latency = span(out.start, out.end);
    return;
  }
  out.end = last_of(reply, has_choices);
  out.latency = span(out.start, out.end);
  out.ttft = span(out.start, first);
  out.tpot = per_later_token(first, out.end, out.tokens);
  gaps_of(reply, has_choices, out.itl);
}

}  // namespace

const Definition kVllmDefinition{
    .name = "vllm",
    .title = "vLLM bench serve",
    .source = "vllm-project/vllm 02cfb534, benchmarks/lib/endpoint_request_func.py, serve.py",
    .ttft = "first event with choices: a role-only event counts",
    .tpot = "(latency - TTFT) / (tokens - 1)",
    .itl = "gaps between events with choices, pooled; the finish event is one",
    .latency = "to the last event with choices; usage and [DONE] do not count",
    .failures = "dropped; their time stays in the window",
    .percentiles = PercentileRule::linear,
    .window = WindowRule::run,
    .measure = measure_vllm,
};

}  // namespace assay::metrics
