// SGLang's bench_serving.py at 0033168f, OpenAI chat backend: the first event with `content` stops
// the clock (reasoning is not read); latency is taken anew at every line, [DONE] included, so a
// late [DONE] is in it and in TPOT. Without a stream TTFT is the latency. A new connection is
// opened for each request there; here the connection counts where the query really opened one.
// Divides gaps by the accepted tokens on its own /generate API only.
#include "metrics/definitions/definition.h"

namespace assay::metrics {
namespace {

void measure_sglang(const Reply& reply, Figures& out) {
  const Event& event = reply.event;
  out.success = out.measured =
      event.outcome == Outcome::ok || event.outcome == Outcome::stream_error;
  out.start = request_start(event);
  take_tokens(reply, TokenRule::usage, out);
  if (!event.streamed) {
    out.end = event.done;
    out.latency = out.ttft = span(out.start, out.end);
    return;
  }
  const Instant first = first_of(reply, is_text);
  out.end = last_of(reply, is_line);
  out.latency = span(out.start, out.end);
  out.ttft = span(out.start, first);
  out.tpot = per_later_token(first, out.end, out.tokens);
  gaps_of(reply, is_text, out.itl);
}

}  // namespace

const Definition kSglangDefinition{
    .name = "sglang",
    .title = "SGLang bench_serving",
    .source = "sgl-project/sglang 0033168f, python/sglang/bench_serving.py",
    .ttft = "first event with text; reasoning is not read",
    .tpot = "(latency - TTFT) / (tokens - 1)",
    .itl = "gaps between text events, pooled",
    .latency = "to the last line, [DONE] included",
    .failures = "dropped; their time stays in the window",
    .percentiles = PercentileRule::linear,
    .window = WindowRule::run,
    .measure = measure_sglang,
};

}  // namespace assay::metrics
