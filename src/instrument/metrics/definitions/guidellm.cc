// GuideLLM 0.7, src/guidellm/schemas/request_stats.py and utils/statistics.py: TTFT to the first
// iteration with content (reasoning too), TPOT from the request's start and over all tokens, so
// that TTFT is in it; ITL one value a request; latency to the end of the stream. Percentiles are
// the least value whose share of the weight reaches p; a request's weight is its number of tokens
// in TPOT and one less in ITL. Without usage, an iteration counts as a token. It reads a wall
// clock; the recording is monotonic.
#include "metrics/definitions/definition.h"

namespace assay::metrics {
namespace {

void measure_guidellm(const Reply& reply, Figures& out) {
  const Event& event = reply.event;
  out.success = out.measured = event.outcome == Outcome::ok;
  out.start = request_start(event);
  out.end = event.done;
  out.latency = span(out.start, out.end);
  take_tokens(reply, TokenRule::usage, out);
  if (!event.streamed) return;
  if (out.basis != TokenBasis::usage) {
    out.tokens = static_cast<std::int64_t>(count_of(reply, is_fragment));
    out.basis = TokenBasis::fragments;
  }
  const Instant first = first_of(reply, is_fragment);
  const Instant last = last_of(reply, is_fragment);
  out.ttft = span(out.start, first);
  if (const auto each = per_later_token(first, last, out.tokens)) out.itl.push_back(*each);
  const auto whole = span(out.start, last.known() ? last : event.done);
  if (!whole || *out.tokens < 1) return;
  const auto tokens = static_cast<double>(*out.tokens);
  out.tpot = *whole / tokens;
  out.tpot_weight = tokens;
  out.itl_weight = tokens - 1;
}

}  // namespace

const Definition kGuidellmDefinition{
    .name = "guidellm",
    .title = "GuideLLM",
    .source = "vllm-project/guidellm 0.7, schemas/request_stats.py, utils/statistics.py",
    .ttft = "first iteration with content, reasoning too",
    .tpot = "(last token - start) / tokens: TTFT is in it, weighted by tokens",
    .itl = "(last token - first token) / (tokens - 1), weighted by tokens",
    .latency = "to the end of the stream",
    .failures = "kept apart",
    .percentiles = PercentileRule::inverse,
    .window = WindowRule::requests,
    .measure = measure_guidellm,
};

}  // namespace assay::metrics
