// Our own definition (metrics/point.h). It is here for a row in the table, and for a test that
// compares the table with the report.
#include "metrics/definitions/definition.h"

namespace assay::metrics {
namespace {

// Gaps between neighbours of one choice. Before an event that is no fragment came none.
void gaps_of_choices(const Reply& reply, std::vector<double>& out) {
  ReplyEvidence evidence;
  for (const StreamEvent& event : reply.events) {
    const Came before = evidence.add(event);
    if (const auto gap = span(before.arrival, event.arrival)) out.push_back(*gap);
  }
}

void measure_assay(const Reply& reply, Figures& out) {
  const Event& event = reply.event;
  out.success = out.measured = event.outcome == Outcome::ok;
  out.start = event.sent;
  out.end = event.done;
  const TokenTruth& truth = *reply.truth;
  if (truth.count.output >= 0) {
    out.tokens = truth.count.output;
    out.basis = truth.basis;
  }
  out.latency = span(event.sent, event.done);
  if (!event.streamed || !event.first_token.known()) return;
  out.ttft = span(event.sent, event.first_token);
  gaps_of_choices(reply, out.itl);
  if (truth.choices.empty() && event.fragments >= 2) {
    out.tpot = per_token(event.first_token, event.done, tokens_after_first(reply, out));
  }
  for (const ChoiceTruth& choice : truth.choices) {
    if (choice.after_first < 1) continue;
    const double tpot = *span(choice.first.arrival, choice.last.arrival) / choice.after_first;
    if (!out.tpot) {
      out.tpot = tpot;
    } else {
      out.more_tpot.push_back(tpot);
    }
  }
}

}  // namespace

const Definition kAssayDefinition{
    .name = "assay",
    .title = "Assay",
    .source = "src/instrument/metrics/point.h",
    .ttft = "first fragment of any kind, from the last request byte",
    .tpot = "(done - first fragment) / tokens after it, each choice",
    .itl = "gaps between fragments of a choice, pooled",
    .latency = "last request byte to reply complete",
    .failures = "counted and classified; in no series",
    .percentiles = PercentileRule::lower,
    .window = WindowRule::run,
    .tokens = TokenRule::tokenizer,
    .measure = measure_assay,
};

}  // namespace assay::metrics
