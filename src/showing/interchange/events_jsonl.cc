#include "interchange/events_jsonl.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/json.h"
#include "base/text.h"
#include "domain/tool_call.h"

namespace assay::interchange {
// A character split between two fragments goes with the second one.
void EventsJsonl::Words::add(std::string_view text) {
  if (any && rest.empty()) {
    std::size_t whole = first.size();
    while (whole > 0 && first.size() < whole + 3 && !valid_utf8({first.data(), whole})) --whole;
    if (valid_utf8({first.data(), whole})) {
      rest = first.substr(whole);
      first.resize(whole);
    }
  }
  (any ? rest : first) += text;
  any = true;
}

Result<EventsJsonl> EventsJsonl::create(const std::filesystem::path& path, const RunInfo& info,
                                        Asked asked) {
  ASSIGN_OR_RETURN(StagedFile file, StagedFile::create(path));
  return EventsJsonl(std::move(file), info, std::move(asked));
}

EventsJsonl::EventsJsonl(StagedFile file, const RunInfo& info, Asked asked)
    : file_(std::move(file)),
      info_(info),
      asked_(std::move(asked)),
      streamed_(info.facts["streaming"].as_bool(true)) {}

PhaseKind EventsJsonl::kind_of(std::uint16_t phase) const {
  return phase < info_.phases.size() ? info_.phases[phase].kind : PhaseKind::performance;
}

// Writes a line up to the value of "data". A null query means the session.
void EventsJsonl::begin(std::string_view type, Instant at, const Query* query) {
  last_ = std::max(last_, at);
  line_ = format(R"({{"event_type":"{}","timestamp_ns":{},"sample_uuid":")", type, at.ns);
  Place place;
  if (query != nullptr) {
    const QueryUuid uuid = query_uuid(info_.run_key, query->phase, query->index);
    line_.append(uuid.data(), uuid.size());
    if (asked_.place) place = asked_.place(*query);
  }
  line_ += R"(","conversation_id":)";
  append_json_quoted(line_, place.turn > 0 ? place.conversation : "");
  line_ += place.turn > 0 ? format(R"(,"turn":{},"data":)", place.turn) : R"(,"turn":null,"data":)";
}

void EventsJsonl::end_line() {
  line_ += "}\n";
  file_.append(line_);
}

void EventsJsonl::session(std::string_view type, Instant at) {
  begin(type, at, nullptr);
  line_ += "null";
  end_line();
}

void EventsJsonl::on_phase(const PhaseMark& mark) {
  if (!started_) {
    started_ = true;
    session("session.started", mark.at);
  }
  if (kind_of(mark.phase) != PhaseKind::performance) return;
  if (mark.step == PhaseStep::started) session("session.start_performance_tracking", mark.at);
  if (mark.step == PhaseStep::drained) session("session.stop_performance_tracking", mark.at);
}

void EventsJsonl::issued(const Query& query, Instant at, const Prompt& prompt) {
  begin("sample.issued", at, &query);
  line_ += R"(["PromptData")";
  for (const Json* const field :
       {&prompt.text, &prompt.token_ids, &prompt.messages, &prompt.tools,
        &prompt.chat_template_kwargs, &prompt.chat_template, &prompt.tool_choice}) {
    line_ += ',';
    line_ += field->dump();
  }
  line_ += ']';
  end_line();
}

void EventsJsonl::on_sent(const Query& query, Instant, Instant sent) {
  issued(query, sent, asked_.prompt ? asked_.prompt(query) : Prompt{});
}

void EventsJsonl::on_stream_event(const Query& query, const StreamEvent& event,
                                  std::string_view text) {
  if (!is_fragment(event.category)) return;
  Reply& reply = replies_.insert(query_key(query));
  if (streamed_) {
    begin(reply.any ? "sample.recv_non_first" : "sample.recv_first", event.arrival, &query);
    line_ += "null";
    end_line();
  }
  reply.any = true;
  if (event.category == Category::text) reply.text.add(text);
  if (event.category == Category::reasoning) reply.reasoning.add(text);
  if (event.category == Category::tool_call) reply.tool_calls += text;
}

// Writes [first, rest], without the parts that never arrived.
void EventsJsonl::append_words(const Words& words) {
  line_ += '[';
  if (words.any) append_json_quoted(line_, words.first);
  if (!words.rest.empty()) {
    line_ += ',';
    append_json_quoted(line_, words.rest);
  }
  line_ += ']';
}

void EventsJsonl::append_tool_calls(std::string_view text, bool streamed) {
  line_ += '[';
  std::string_view separator;
  for (const ToolCall& call : tool_calls_from(text)) {
    Json function = Json().set("name", call.name).set("arguments", call.arguments);
    Json json = Json::object();
    if (streamed) json.set("index", call.index);
    json.set("id", call.id).set("type", "function").set("function", std::move(function));
    line_ += separator;
    line_ += streamed ? "[" + json.dump() + "]" : json.dump();
    separator = ",";
  }
  line_ += ']';
}

void EventsJsonl::append_output(const Event& event, const Reply& reply) {
  line_ += R"(["TextModelOutput",)";
  const bool reasoned = reply.reasoning.any;
  if (event.streamed && !reasoned) {
    append_words(reply.text);
  } else {
    append_json_quoted(line_, reply.text.all());
  }
  line_ += ',';
  if (!reasoned) {
    line_ += "null";
  } else if (event.streamed) {
    append_words(reply.reasoning);
  } else {
    append_json_quoted(line_, reply.reasoning.all());
  }
  line_ += ',';
  if (reply.tool_calls.empty()) {
    line_ += "null";
  } else {
    append_tool_calls(reply.tool_calls, event.streamed);
  }
  line_ += ']';
}

void EventsJsonl::on_done(const Event& event, std::string_view detail) {
  const Instant at = event.done.known() ? event.done : last_;
  const bool ok = event.outcome == Outcome::ok;
  // The query was never sent, but the file counts it as issued. A turn that was cancelled has no
  // prompt.
  if (!event.sent.known()) {
    const bool given_up = event.outcome == Outcome::cancelled;
    issued(event.query, at, asked_.prompt && !given_up ? asked_.prompt(event.query) : Prompt{});
  }
  if (!ok) {
    begin("error.generic", at, &event.query);
    line_ += format(R"(["ErrorData","{}",)", to_string(event.outcome));
    append_json_quoted(line_, detail);
    line_ += ']';
    end_line();
  }
  if (kind_of(event.query.phase) != PhaseKind::warmup) {
    begin("sample.complete", at, &event.query);
    if (ok) {
      append_output(event, replies_.insert(query_key(event.query)));
    } else {
      line_ += "null";
    }
    if (event.finish != FinishReason::none) {
      line_ += format(R"(,"finish_reason":"{}")", to_string(event.finish));
    }
    end_line();
  }
  replies_.erase(query_key(event.query));
}

Result<void> EventsJsonl::close(const RunEnd& end) {
  if (end.state == RunState::interrupted) session("session.interrupted", last_);
  if (end.state != RunState::crashed) session("session.ended", last_);
  return file_.commit();
}

}  // namespace assay::interchange
