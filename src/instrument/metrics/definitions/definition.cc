#include "metrics/definitions/definition.h"

#include <algorithm>
#include <array>

#include "base/enum_name.h"

namespace assay::metrics {

void Figures::clear() {
  itl.clear();
  more_tpot.clear();
  success = false;
  measured = true;
  start = end = Instant::none();
  ttft = tpot = latency = std::nullopt;
  tokens.reset();
  basis = TokenBasis::none;
  tpot_weight = itl_weight = 1;
}

std::span<const Definition* const> definitions() {
  static const std::array<const Definition*, 9> kAll{
      &kAssayDefinition,         &kEndpointsDefinition, &kVllmDefinition,
      &kSglangDefinition,        &kAiperfDefinition,    &kGuidellmDefinition,
      &kInferencePerfDefinition, &kGenaiPerfDefinition, &kOtelDefinition};
  return kAll;
}

const Definition* find_definition(std::string_view name) {
  for (const Definition* definition : definitions()) {
    if (definition->name == name) return definition;
  }
  return nullptr;
}

std::string_view to_string(TokenRule rule) { return enum_name(rule); }

std::string_view to_string(PercentileRule rule) { return enum_name(rule); }

std::string_view to_string(WindowRule rule) { return enum_name(rule); }

Instant first_of(const Reply& reply, Wanted wanted) {
  for (const StreamEvent& event : reply.events) {
    if (wanted(event.category)) return event.arrival;
  }
  return Instant::none();
}

Instant last_of(const Reply& reply, Wanted wanted) {
  for (std::size_t i = reply.events.size(); i-- > 0;) {
    if (wanted(reply.events[i].category)) return reply.events[i].arrival;
  }
  return Instant::none();
}

std::uint64_t count_of(const Reply& reply, Wanted wanted) {
  return static_cast<std::uint64_t>(std::ranges::count_if(
      reply.events, [wanted](const StreamEvent& event) { return wanted(event.category); }));
}

void gaps_of(const Reply& reply, Wanted wanted, std::vector<double>& out) {
  Instant last = Instant::none();
  for (const StreamEvent& event : reply.events) {
    if (!wanted(event.category)) continue;
    if (last.known()) out.push_back(static_cast<double>((event.arrival - last).ns));
    last = event.arrival;
  }
}

Instant request_start(const Event& event) {
  if (!event.sent.known()) return event.due;
  if (!event.connected) return event.sent;
  // A connection may have been opened before the query was due.
  return std::min(std::max(event.sent - event.connect_time, event.due), event.sent);
}

void take_tokens(const Reply& reply, TokenRule rule, Figures& out) {
  const TokenTruth& truth = *reply.truth;
  const bool believed = truth.contradiction == Contradiction::none;
  const std::int64_t usage = believed ? reply.event.usage.completion_tokens : -1;
  std::int64_t counted = reply.counted == nullptr ? -1 : reply.counted->output;
  if (truth.tokenizer_above_limit && usage >= 0) counted = -1;
  const bool tokenizer = counted >= 0 && (rule == TokenRule::tokenizer || usage < 0);
  if (!tokenizer && usage < 0) {
    if (truth.basis != TokenBasis::fragments) return;
    out.tokens = truth.count.output;
    out.basis = truth.basis;
    return;
  }
  out.tokens = tokenizer ? counted : usage;
  out.basis = tokenizer ? TokenBasis::tokenizer : TokenBasis::usage;
}

std::optional<std::int64_t> tokens_after_first(const Reply& reply, const Figures& out) {
  if (!out.tokens) return std::nullopt;
  const TokenCount& count =
      out.basis == TokenBasis::tokenizer ? *reply.counted : reply.truth->count;
  if (count.after_first < 0) return std::nullopt;
  return count.after_first;
}

void measure_responses(const Reply& reply, Wanted wanted, Figures& out) {
  const Event& event = reply.event;
  out.success = out.measured = event.outcome == Outcome::ok;
  out.start = request_start(event);
  take_tokens(reply, TokenRule::tokenizer, out);
  if (!event.streamed) {
    out.end = event.done;
    out.latency = span(out.start, out.end);
    return;
  }
  const Instant first = first_of(reply, wanted);
  out.end = last_of(reply, wanted);
  out.latency = span(out.start, out.end);
  out.ttft = span(out.start, first);
  if (const auto each = per_later_token(first, out.end, out.tokens)) out.itl.push_back(*each);
}

std::optional<double> span(Instant begin, Instant end) {
  if (!begin.known() || !end.known()) return std::nullopt;
  return static_cast<double>((end - begin).ns);
}

std::optional<double> per_token(Instant begin, Instant end, std::optional<std::int64_t> tokens) {
  const std::optional<double> time = span(begin, end);
  if (!time || tokens.value_or(0) < 1) return std::nullopt;
  return *time / static_cast<double>(*tokens);
}

std::optional<double> per_later_token(Instant begin, Instant end,
                                      std::optional<std::int64_t> tokens) {
  return tokens ? per_token(begin, end, *tokens - 1) : std::nullopt;
}

}  // namespace assay::metrics
