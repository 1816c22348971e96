#include "endpoint/event_writer.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "endpoint/sse_frame.h"

namespace assay::endpoint {
namespace {

constexpr Duration kLateDone = 250_ms;
constexpr std::uint32_t kInflation = 1000;
constexpr std::uint32_t kFirstBurst = 8;
constexpr std::uint32_t kCommentEvery = 2;
constexpr std::uint32_t kPingEvery = 3;
constexpr std::size_t kModelsMax = 256;  // names that get templates of their own

bool has_clean_frames(const Quirks& quirks) {
  return !quirks.has(Quirk::crlf) && !quirks.has(Quirk::no_space) &&
         !quirks.has(Quirk::spaced_json) && !quirks.has(Quirk::multi_data) &&
         !quirks.has(Quirk::sse_fields) && !quirks.has(Quirk::comments) &&
         !quirks.has(Quirk::pings);
}

std::uint32_t said_for_each(const Quirks& quirks) {
  if (quirks.has(Quirk::usage_inflated)) return kInflation;
  return quirks.has(Quirk::usage_zero) ? 0 : 1;
}

}  // namespace

EventWriter::EventWriter(const Quirks& quirks, Duration stall, std::string_view served_model,
                         const DescribedKind* described)
    : quirks_(quirks),
      stall_(stall),
      served_model_(served_model),
      clean_frames_(has_clean_frames(quirks)),
      described_(described) {}

// Gives a dialect's events to the writer.
class EventWriter::NamedEvents final : public DialectOut {
 public:
  NamedEvents(EventWriter& writer, EventBatch& batch, Reply& reply)
      : writer_(writer), batch_(batch), reply_(reply) {}
  void event(std::string_view name, std::string_view json, Category category,
             std::uint32_t tokens) override {
    writer_.put_named(batch_, reply_, name, json, category, tokens);
  }

 private:
  EventWriter& writer_;
  EventBatch& batch_;
  Reply& reply_;
};

void EventWriter::choose(Reply& reply, Route route, std::string_view model) {
  reply.route = route;
  const auto index = static_cast<std::size_t>(route);
  std::unique_ptr<Dialect>& dialect = dialects_[index];
  if (dialect == nullptr) {
    dialect = make_dialect(route, {.summaries = quirks_.has(Quirk::reasoning_field),
                                   .no_end = quirks_.has(Quirk::no_done),
                                   .no_usage = quirks_.has(Quirk::no_usage),
                                   .said_for_each = said_for_each(quirks_),
                                   .described = described_});
  }
  reply.dialect = dialect.get();
  if (reply.dialect == nullptr) {
    reply.wire = wire(route, model);
  } else {
    reply.own = std::make_unique<DialectState>();
    reply.own->model = model.empty() ? served_model_ : std::string(model);
  }
}

const Wire* EventWriter::wire(Route route, std::string_view model) {
  const auto index = static_cast<std::size_t>(route);
  if (model.empty()) model = served_model_;
  if (model == last_model_ && last_wires_[index] != nullptr) return last_wires_[index];
  if (wires_.size() >= kModelsMax && !wires_.contains(std::string(model))) model = served_model_;
  std::unique_ptr<Wire>& made = wires_[std::string(model)][index];
  if (made == nullptr) {
    const WireOptions options{.reasoning_is_short = quirks_.has(Quirk::reasoning_field),
                              .said_for_each = said_for_each(quirks_)};
    made = std::make_unique<Wire>(route, model, options);
  }
  if (model != last_model_) last_wires_ = {};
  last_model_ = model;
  last_wires_[index] = made.get();
  return made.get();
}

ByteBuffer& EventWriter::begin_event(EventBatch& out, Reply& reply) {
  reply.state.usage_now = quirks_.has(Quirk::usage_every_event) || reply.continuous_usage;
  if (clean_frames_) {
    out.bytes.put("data: ");
    return out.bytes;
  }
  put_fillers(out, reply);
  json_.clear();
  return json_;
}

// Comments and pings between events.
void EventWriter::put_fillers(EventBatch& out, const Reply& reply) const {
  const std::string_view line_end = quirks_.has(Quirk::crlf) ? "\r\n" : "\n";
  if (quirks_.has(Quirk::comments) && reply.numbered % kCommentEvery == 0) {
    out.bytes.put(": keep-alive");
    out.bytes.put(line_end);
    out.bytes.put(line_end);
  }
  if (quirks_.has(Quirk::pings) && reply.numbered % kPingEvery == 1) {
    out.bytes.put("event: ping");
    out.bytes.put(line_end);
    put_event(out.bytes, R"({"type":"ping"})", reply.numbered, quirks_);
    out.mark(Category::other, 0);
  }
}

void EventWriter::end_event(EventBatch& out, Reply& reply, Category category,
                            std::uint32_t tokens) {
  if (clean_frames_) {
    out.bytes.put("\n\n");
  } else {
    put_event(out.bytes, json_.view(), reply.numbered, quirks_);
  }
  mark(out, reply, category, tokens);
}

void EventWriter::put_named(EventBatch& out, Reply& reply, std::string_view name,
                            std::string_view json, Category category, std::uint32_t tokens) {
  if (reply.dialect->raw(*reply.own)) {
    out.bytes.put(json);
  } else if (reply.dialect->messages()) {
    // The outlet frames it.
    out.bytes.put(quirks_.has(Quirk::spaced_json) ? spaced_json(json) : std::string(json));
  } else if (reply.dialect->lines()) {
    out.bytes.put(quirks_.has(Quirk::spaced_json) ? spaced_json(json) : std::string(json));
    out.bytes.put(quirks_.has(Quirk::crlf) ? "\r\n" : "\n");
  } else if (clean_frames_) {
    if (!name.empty()) {
      out.bytes.put("event: ");
      out.bytes.put(name);
      out.bytes.put("\n");
    }
    out.bytes.put("data: ");
    out.bytes.put(json);
    out.bytes.put("\n\n");
  } else {
    put_fillers(out, reply);
    put_event(out.bytes, json, reply.numbered, quirks_, name);
  }
  mark(out, reply, category, tokens);
}

void EventWriter::mark(EventBatch& out, Reply& reply, Category category, std::uint32_t tokens) {
  const bool stalls = quirks_.has(Quirk::stall) && !reply.stalled && is_fragment(category) &&
                      reply.state.made > reply.script.tokens / 2;
  reply.stalled = reply.stalled || stalls;
  ++reply.numbered;
  out.mark(category, tokens, stalls ? stall_ : Duration{});
}

void EventWriter::opening(EventBatch& out, Reply& reply) {
  if (reply.dialect != nullptr) {
    NamedEvents events(*this, out, reply);
    return reply.dialect->opening(events, reply.state, *reply.own);
  }
  if (reply.route == Route::generate) return;
  if (quirks_.has(Quirk::empty_first)) {
    reply.wire->empty_delta(begin_event(out, reply), reply.state, false);
    end_event(out, reply, Category::role, 0);
  }
  if (quirks_.has(Quirk::role_first) && reply.route == Route::chat) {
    reply.wire->empty_delta(begin_event(out, reply), reply.state, true);
    end_event(out, reply, Category::role, 0);
    reply.opened = true;
  }
}

std::string_view EventWriter::text_of(const Script& script, std::uint32_t from,
                                      std::uint32_t tokens) {
  if (tokens == 1) return script.word_of(from).json;
  text_.clear();
  for (std::uint32_t i = 0; i < tokens; ++i) text_.put(script.word_of(from + i).json);
  return text_.view();
}

std::string_view EventWriter::ids_of(const Script& script, std::uint32_t from,
                                     std::uint32_t tokens) {
  ids_.clear();
  for (std::uint32_t i = 0; i < tokens; ++i) {
    if (i > 0) ids_.put(',');
    ids_.put_decimal(kFirstTokenId + word_index(script.seed, from + i));
  }
  return ids_.view();
}

void EventWriter::tool_piece(EventBatch& out, Reply& reply, FinishReason finish) {
  const ToolScript& tool = *reply.script.tool;
  const std::uint32_t index = reply.state.made - reply.script.reasoning_tokens;
  ++reply.state.made;
  std::string quoted;
  if (index > 0) quoted = json_quote(tool.piece(index - 1));
  if (reply.dialect != nullptr) {
    NamedEvents events(*this, out, reply);
    if (index == 0) return reply.dialect->tool_opening(events, reply.state, *reply.own, tool.name);
    return reply.dialect->fragment(events, reply.state, *reply.own, Category::tool_call,
                                   std::string_view(quoted).substr(1, quoted.size() - 2), 1);
  }
  for (reply.state.choice = 0; reply.state.choice < reply.state.choices; ++reply.state.choice) {
    ByteBuffer& json = begin_event(out, reply);
    if (index == 0) {
      reply.wire->tool_opening(json, reply.state, tool.name, !reply.opened, finish);
    } else {
      const std::string_view inner = std::string_view(quoted).substr(1, quoted.size() - 2);
      reply.wire->fragment(json, reply.state, Category::tool_call, inner, "", !reply.opened,
                           finish);
    }
    end_event(out, reply, Category::tool_call, 1);
  }
  reply.opened = true;
}

// One event for each choice, with tokens of one category.
void EventWriter::fragment(EventBatch& out, Reply& reply, std::uint32_t tokens,
                           FinishReason finish) {
  const std::uint32_t from = reply.state.made;
  const Category category = reply.script.category(from);
  reply.state.made += tokens;
  if (category == Category::reasoning) reply.state.reasoning_made += tokens;
  if (category == Category::reasoning && quirks_.has(Quirk::hidden_reasoning)) return;
  if (quirks_.has(Quirk::empty_reply)) return;
  std::string_view text = text_of(reply.script, from, tokens);
  if (reply.dialect != nullptr) {
    NamedEvents events(*this, out, reply);
    return reply.dialect->fragment(events, reply.state, *reply.own, category, text, tokens);
  }
  std::string_view ids;
  if (reply.route == Route::generate) {
    reply.said += text;
    text = reply.said;
    ids = ids_of(reply.script, from, tokens);
  }
  for (reply.state.choice = 0; reply.state.choice < reply.state.choices; ++reply.state.choice) {
    reply.wire->fragment(begin_event(out, reply), reply.state, category, text, ids, !reply.opened,
                         finish);
    end_event(out, reply, category, tokens);
  }
  reply.opened = true;
}

std::uint32_t EventWriter::release(Reply& reply, std::uint32_t tokens, bool last) const {
  if (!quirks_.has(Quirk::first_burst) || reply.state.made > 0) return tokens;
  reply.held += tokens;
  if (reply.held < kFirstBurst && !last) return 0;
  return std::exchange(reply.held, 0);
}

void EventWriter::fragments(EventBatch& out, Reply& reply, std::uint32_t tokens, bool last) {
  tokens = release(reply, tokens, last);
  const bool finishes = reply.route == Route::generate || quirks_.has(Quirk::finish_with_last);
  while (tokens > 0) {
    const Category category = reply.script.category(reply.state.made);
    std::uint32_t run = tokens;
    if (category == Category::tool_call) {
      run = 1;
    } else if (category == Category::reasoning) {
      run = std::min(tokens, reply.script.reasoning_tokens - reply.state.made);
    }
    tokens -= run;
    const bool ends = last && tokens == 0 && finishes;
    const FinishReason finish = ends ? reply.script.finish : FinishReason::none;
    if (category == Category::tool_call) {
      tool_piece(out, reply, finish);
    } else {
      fragment(out, reply, run, finish);
    }
  }
}

void EventWriter::done(EventBatch& out, Reply& reply) {
  if (quirks_.has(Quirk::no_done)) return;
  begin_event(out, reply).put("[DONE]");
  end_event(out, reply, Category::marker, 0);
  if (quirks_.has(Quirk::late_done)) out.marks.back().wait = kLateDone;
}

void EventWriter::tail(EventBatch& out, Reply& reply) {
  if (reply.dialect != nullptr) {
    NamedEvents events(*this, out, reply);
    return reply.dialect->tail(events, reply.state, *reply.own, reply.script.finish);
  }
  if (reply.route != Route::generate) {
    const bool asked = reply.wants_usage && !quirks_.has(Quirk::no_usage);
    const bool with_finish = quirks_.has(Quirk::usage_with_finish);
    const bool finished = quirks_.has(Quirk::finish_with_last) && reply.opened;
    for (reply.state.choice = 0; !finished && reply.state.choice < reply.state.choices;
         ++reply.state.choice) {
      ByteBuffer& json = begin_event(out, reply);
      const bool last_choice = reply.state.choice + 1 == reply.state.choices;
      reply.state.usage_now = reply.state.usage_now || (with_finish && last_choice);
      reply.wire->finish(json, reply.state, reply.script.finish);
      end_event(out, reply, Category::finish, 0);
    }
    reply.state.choice = 0;
    if ((asked || quirks_.has(Quirk::always_usage)) && !with_finish) {
      reply.wire->usage(begin_event(out, reply), reply.state);
      end_event(out, reply, Category::usage, 0);
    }
  }
  done(out, reply);
  if (!quirks_.has(Quirk::goes_on_after_done) || reply.script.tool != nullptr) return;
  reply.state.choice = 0;
  reply.wire->fragment(begin_event(out, reply), reply.state, Category::text, " late", "", false,
                       FinishReason::none);
  end_event(out, reply, Category::other, 0);
}

void EventWriter::error(EventBatch& out, Reply& reply, std::string_view message) {
  if (reply.dialect != nullptr) {
    NamedEvents events(*this, out, reply);
    return reply.dialect->error(events, reply.state, *reply.own, message);
  }
  begin_event(out, reply)
      .put(error_body({.message = std::string(message),
                       .type = "internal_server_error",
                       .code = "internal_error"}));
  end_event(out, reply, Category::error, 0);
  done(out, reply);
}

void EventWriter::garbage(EventBatch& out, Reply& reply) {
  constexpr std::string_view kGarbage = R"({"id":"chatcmpl-0","object":"chat.comp)";
  if (reply.dialect != nullptr) {
    return put_named(out, reply, "message", kGarbage, Category::other, 0);
  }
  begin_event(out, reply).put(kGarbage);
  end_event(out, reply, Category::other, 0);
}

void EventWriter::plain(ByteBuffer& out, Reply& reply) {
  const Script& script = reply.script;
  const bool hides = quirks_.has(Quirk::hidden_reasoning);
  const bool empty = quirks_.has(Quirk::empty_reply);
  const std::string reasoning(hides || empty ? std::string_view{}
                                             : text_of(script, 0, script.reasoning_tokens));
  const std::uint32_t rest = script.tokens - script.reasoning_tokens;
  reply.state.made = script.tokens;
  reply.state.reasoning_made = script.reasoning_tokens;
  Wire::Plain answer{.reasoning = reasoning, .finish = script.finish};
  if (empty) {
    answer.text = {};
  } else if (script.tool != nullptr && rest > 0) {
    answer.tool_name = script.tool->name;
    answer.tool_arguments = rest > 1 ? script.tool->first_pieces(rest - 1) : std::string_view{};
  } else if (rest > 0) {
    answer.text = text_of(script, script.reasoning_tokens, rest);
  }
  if (reply.route == Route::generate) answer.ids = ids_of(script, 0, script.tokens);
  if (reply.dialect != nullptr) {
    const std::string body = reply.dialect->plain(reply.state, *reply.own, answer);
    const bool json_too = !reply.dialect->raw(*reply.own);
    if (!json_too || !quirks_.has(Quirk::spaced_json)) return out.put(body);
    const std::size_t json = body.size() - reply.dialect->bytes_behind(*reply.own);
    out.put(spaced_json(std::string_view(body).substr(0, json)));
    return out.put(std::string_view(body).substr(json));
  }
  if (!quirks_.has(Quirk::spaced_json)) return reply.wire->plain(out, reply.state, answer);
  json_.clear();
  reply.wire->plain(json_, reply.state, answer);
  out.put(spaced_json(json_.view()));
}

}  // namespace assay::endpoint
