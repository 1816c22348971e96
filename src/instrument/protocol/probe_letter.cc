// The writing part of probe.h: the answer first, then the objections, then the numbers.
#include <algorithm>

#include "base/display.h"
#include "base/enum_name.h"
#include "base/format.h"
#include "base/text.h"
#include "protocol/probe.h"

namespace assay::protocol {
namespace {

constexpr std::size_t kColumns = 100;
constexpr std::size_t kTopicColumns = 14;

std::size_t count(const ProbeReport& report, Verdict verdict) {
  return static_cast<std::size_t>(std::ranges::count_if(
      report.findings, [&](const ProbeFinding& finding) { return finding.verdict == verdict; }));
}

std::string verdict_line(const ProbeReport& report) {
  const std::size_t bad = count(report, Verdict::bad);
  const std::size_t notes = count(report, Verdict::note);
  if (!report.answers) return "It does not answer as an endpoint should.";
  const std::string know =
      notes == 0 ? "" : format("{} to know", notes == 1 ? "one thing" : format("{} things", notes));
  if (bad == 0) {
    return format("It answers{}{}{}.", report.streamed.has_head ? ", and its stream is sane" : "",
                  know.empty() ? "" : "; ", know);
  }
  return format("It answers, but {} {} not sane{}.",
                bad == 1 ? std::string("one thing") : format("{} things", bad),
                bad == 1 ? "is" : "are", know.empty() ? "" : format("; {}", know));
}

std::string finding_lines(const ProbeFinding& finding) {
  const std::string start =
      "  " + pad_right(to_string(finding.verdict), 6) + pad_right(finding.topic, kTopicColumns);
  const std::string indent(2 + 6 + kTopicColumns, ' ');
  // wrap() sets its indent before each line; the first has ours instead.
  std::string text = wrap(finding.text, kColumns, indent);
  if (text.starts_with(indent)) text.erase(0, indent.size());
  return start + text + (text.ends_with('\n') ? "" : "\n");
}

std::string since(Instant at, Instant sent) {
  return at.known() ? human_duration(at - sent) : std::string("never");
}

std::string numbers(const ProbeReport& report) {
  const ReplyFacts& s = report.streamed;
  if (!s.streamed || s.fragments == 0) return "";
  std::string out = format(
      "\nOne streamed query, which shows but does not measure: first event after {},\n"
      "first token {}, last token {}; {} events, {} of them with text, in {} reads.\n",
      since(s.first_event, report.streamed_sent), since(s.first_token, report.streamed_sent),
      since(s.last_token, report.streamed_sent), s.events.size(), s.fragments, s.reads);
  const std::string words =
      printable(s.text.empty() ? (s.reasoning.empty() ? s.tool_calls : s.reasoning) : s.text);
  out += format("It said: {}\n", fit(words, kColumns - 9));
  return out;
}

Json milliseconds(Instant at, Instant sent) { return at.known() ? Json((at - sent).ms()) : Json(); }

Json usage_json(const ReplyFacts& facts) {
  if (facts.usage_events == 0) return {};
  Json out;
  const auto set = [&](std::string_view key, std::int32_t value) {
    out.set(key, value < 0 ? Json() : Json(value));
  };
  set("prompt_tokens", facts.usage.prompt_tokens);
  set("completion_tokens", facts.usage.completion_tokens);
  set("reasoning_tokens", facts.usage.reasoning_tokens);
  set("cached_tokens", facts.usage.cached_tokens);
  return out;
}

Json reply_json(const ReplyFacts& facts, Instant sent) {
  if (!facts.has_head) return {};
  Json out;
  out.set("http_status", facts.head.status);
  out.set("http_version", format("1.{}", facts.head.minor_version));
  out.set("content_type", printable(header_of(facts, "content-type")));
  out.set("server", printable(header_of(facts, "server")));
  out.set("complete", facts.complete);
  out.set("streamed", facts.streamed);
  out.set("reads", facts.reads);
  out.set("stream_events", facts.streamed ? Json(facts.events.size()) : Json());
  out.set("fragments", facts.fragments);
  out.set("reasoning_fragments", facts.reasoning_fragments);
  out.set("first_byte_ms", milliseconds(facts.first_byte, sent));
  if (facts.streamed) {
    out.set("first_event_ms", milliseconds(facts.first_event, sent));
    out.set("first_token_ms", milliseconds(facts.first_token, sent));
    out.set("first_visible_ms", milliseconds(facts.first_visible, sent));
    out.set("last_token_ms", milliseconds(facts.last_token, sent));
  }
  out.set("end_ms", milliseconds(facts.end, sent));
  out.set("done_marker", facts.done_marker.known());
  out.set("finish_reason", to_string(facts.finish));
  out.set("usage", usage_json(facts));
  out.set("error", facts.error.empty() ? Json() : Json(printable(facts.error)));
  return out;
}

}  // namespace

std::string_view to_string(Verdict verdict) { return enum_name(verdict); }

std::string to_text(const ProbeReport& report) {
  std::string out = format("assay probe   {}{}\n\n{}\n\n",
                           report.model.empty() ? "" : printable(report.model) + " @ ",
                           printable(report.url), verdict_line(report));
  for (const ProbeFinding& finding : report.findings) out += finding_lines(finding);
  out += numbers(report);
  return out;
}

Json to_json(const ProbeReport& report) {
  Json out;
  out.set("url", report.url);
  out.set("model", report.model.empty() ? Json() : Json(report.model));
  out.set("answers", report.answers);
  out.set("verdict", verdict_line(report));
  Json models = Json::array();
  for (const std::string& model : report.models) models.push_back(model);
  out.set("models", std::move(models));
  Json kinds = Json::array();
  for (const std::string& kind : report.kinds) kinds.push_back(kind);
  out.set("kinds", std::move(kinds));
  Json findings = Json::array();
  for (const ProbeFinding& finding : report.findings) {
    findings.push_back(Json::object()
                           .set("verdict", to_string(finding.verdict))
                           .set("topic", finding.topic)
                           .set("text", finding.text));
  }
  out.set("findings", std::move(findings));
  out.set("streamed", reply_json(report.streamed, report.streamed_sent));
  out.set("plain", reply_json(report.plain, report.plain_sent));
  return out;
}

}  // namespace assay::protocol
