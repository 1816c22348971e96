// The MLPerf reference client for endpoints (mlcommons/endpoints), as read on 2026-11-20: worker
// and main process (load_generator/session.py, openai/accumulator.py), rollups in metrics/.
//
// There a failed request is completed and in the latency series; a stream that breaks off and an
// error object inside a stream are successes. TPOT divides by the tokens of the text after the
// first chunk, tokenised again; where the run's tokens were not counted, the first chunk's usage is
// subtracted from the server's count instead, or one where the first chunk has no usage. A
// role-only chunk makes no chunk; a chunk with tool calls makes one only if it is the first.
#include "metrics/definitions/definition.h"

namespace assay::metrics {
namespace {

constexpr bool is_words(Category c) { return c == Category::text || c == Category::reasoning; }

// The events that its accumulator forwards.
bool is_forwarded(const Reply& reply, std::size_t i, bool any) {
  const Category category = reply.events[i].category;
  return is_words(category) || (category == Category::tool_call && !any);
}

void measure_endpoints(const Reply& reply, Figures& out) {
  const Event& event = reply.event;
  out.success = event.outcome == Outcome::ok || event.outcome == Outcome::truncated ||
                event.outcome == Outcome::stream_error;
  out.measured = event.sent.known();
  out.start = event.sent;
  out.end = event.done;
  take_tokens(reply, TokenRule::tokenizer, out);
  out.latency = span(event.sent, event.done);
  if (!event.streamed) return;
  Instant first = Instant::none();
  Instant last = Instant::none();
  for (std::size_t i = 0; i < reply.events.size(); ++i) {
    if (!is_forwarded(reply, i, first.known())) continue;
    const Instant at = reply.events[i].arrival;
    if (last.known()) out.itl.push_back(static_cast<double>((at - last).ns));
    if (!first.known()) first = at;
    last = at;
  }
  out.ttft = span(event.sent, first);
  out.tpot = per_token(first, event.done, tokens_after_first(reply, out));
}

}  // namespace

const Definition kEndpointsDefinition{
    .name = "endpoints",
    .title = "MLPerf endpoints client",
    .source = "mlcommons/endpoints, load_generator/session.py and openai/accumulator.py (2026-11)",
    .ttft = "first text or reasoning chunk (a tool call if nothing came before)",
    .tpot = "(complete - first chunk) / tokens of the text after it",
    .itl = "gaps between chunks, pooled (chunk_delta)",
    .latency = "issued to complete, failures included",
    .failures = "in the series; a broken stream is a success",
    .percentiles = PercentileRule::lower,
    .window = WindowRule::run,
    .loadgen_of_poisson = true,
    .tokens = TokenRule::tokenizer,
    .measure = measure_endpoints,
};

}  // namespace assay::metrics
