// Our own: metrics/point.h. Here so that it stands in the table beside the others, and so that a
// test can hold the table against the report.
#include "metrics/definitions/definition.h"

namespace assay::metrics {
namespace {

void measure_assay(const Reply& reply, Figures& out) {
  const Event& event = reply.event;
  out.success = out.measured = event.outcome == Outcome::ok;
  out.start = event.sent;
  out.end = event.done;
  // Of a run whose tokens were counted the server's word is taken for no reply.
  const bool counted = reply.counted == nullptr || reply.counted->output >= 0;
  if (counted) take_tokens(reply, TokenRule::tokenizer, out);
  out.latency = span(event.sent, event.done);
  if (!event.streamed || !event.first_token.known()) return;
  out.ttft = span(event.sent, event.first_token);
  gaps_of(reply, is_fragment, out.itl);
  if (event.fragments >= 2) {
    out.tpot = per_token(event.first_token, event.done, tokens_after_first(reply, out));
  }
}

}  // namespace

const Definition kAssayDefinition{
    .name = "assay",
    .title = "Assay",
    .source = "src/metrics/point.h",
    .ttft = "first fragment of any kind, from the last request byte",
    .tpot = "(done - first fragment) / tokens after it",
    .itl = "gaps between fragments, pooled",
    .latency = "last request byte to reply complete",
    .failures = "counted and classified; in no series",
    .percentiles = PercentileRule::lower,
    .window = WindowRule::run,
    .tokens = TokenRule::tokenizer,
    .measure = measure_assay,
};

}  // namespace assay::metrics
