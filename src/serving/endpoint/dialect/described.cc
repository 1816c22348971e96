// A kind that a file describes: each fact is written where the file says that it is read.
#include <algorithm>
#include <string>
#include <string_view>

#include "base/json.h"
#include "endpoint/dialect/kinds.h"

namespace assay::endpoint {
namespace {

constexpr std::string_view kHole = "@@a piece of text@@";

bool is_index(const std::string& step) {
  return step.size() < 3 && step.find_first_not_of("0123456789") == std::string::npos;
}

// Writes a value at a path; makes the objects and arrays above it.
void set_at(Json& to, const std::vector<std::string>& path, std::size_t depth, Json value) {
  if (depth == path.size()) {
    to = std::move(value);
    return;
  }
  const std::string& step = path[depth];
  if (to.is_array() || (to.is_null() && is_index(step))) {
    const std::size_t index = is_index(step) ? std::stoul(step) : 0;
    while (to.size() <= index) to.push_back(Json());
    return set_at(to.make_array()[index], path, depth + 1, std::move(value));
  }
  if (!to.is_object()) to = Json::object();
  if (to.find(step) == nullptr) to.set(step, Json());
  set_at(*to.find(step), path, depth + 1, std::move(value));
}

class Described final : public Dialect {
 public:
  Described(const DescribedKind& kind, const DialectOptions& options)
      : kind_(kind), options_(options) {
    cut(event_of(kind.event, kind.event.text, kHole), text_);
    if (kind.event.reasoning.known()) {
      cut(event_of(kind.event, kind.event.reasoning, kHole), reasoning_);
    }
  }

  bool lines() const override { return kind_.stream == KindStream::lines; }
  void opening(DialectOut&, const ReplyState&, DialectState&) const override {}

  void fragment(DialectOut& out, const ReplyState&, DialectState& own, Category category,
                std::string_view json, std::uint32_t tokens) const override {
    const bool thinks = category == Category::reasoning;
    const Halves& around = thinks ? reasoning_ : text_;
    if (kind_.text_so_far && !thinks) {
      own.said += json;
      json = own.said;
    }
    out.event("", around.before + std::string(json) + around.behind, category, tokens);
  }

  void tool_opening(DialectOut&, const ReplyState&, DialectState&,
                    std::string_view) const override {}  // no such kind has tools

  void tail(DialectOut& out, const ReplyState& state, DialectState& own,
            FinishReason finish) const override {
    const KindReply& reply = kind_.event;
    Json event;
    if (reply.text.known() && kind_.text_so_far) {
      // A server that repeats its text does so in its last event too.
      const auto said = Json::parse("\"" + own.said + "\"");
      if (said) event = event_of(reply, reply.text, said->as_string());
    }
    put_finish(event, reply, finish);
    put_usage(event, reply, state);
    const bool ends = reply.end.place >= 0;
    const bool apart = ends && conflict(event, reply);
    if (apart || (!ends && !event.is_null())) {
      out.event("", event.dump(), Category::finish, 0);
      event = Json();
    }
    if (options_.no_end) return;
    if (ends) {
      put_condition(event, reply, reply.end);
      out.event("", event.dump(), apart ? Category::marker : Category::finish, 0);
    } else if (!lines()) {
      out.event("", "[DONE]", Category::marker, 0);
    }
  }

  void error(DialectOut& out, const ReplyState&, DialectState&,
             std::string_view message) const override {
    const Json event = event_of(kind_.event, kind_.event.error, message);
    out.event("", event.dump(), Category::error, 0);
  }

  std::string plain(const ReplyState& state, const DialectState& own,
                    const Wire::Plain& reply) const override {
    const KindReply& places = kind_.whole;
    Json body;
    if (places.units >= 0) {
      Json items = Json::array();
      for (std::size_t i = 0; i < own.vectors.inputs.size(); ++i) items.push_back(i);
      set_at(body, places.places[static_cast<std::size_t>(places.units)], 0, std::move(items));
    }
    put_text(body, places, places.text, reply.text);
    put_text(body, places, places.reasoning, reply.reasoning);
    if (kind_.unit.empty()) {
      put_finish(body, places, reply.finish);
      put_usage(body, places, state);
    }
    return body.is_null() ? "{}" : body.dump();
  }

 private:
  struct Halves {
    std::string before{};
    std::string behind{};
  };

  static void cut(const Json& event, Halves& to) {
    const std::string text = event.dump();
    const std::size_t at = std::min(text.find(kHole), text.size());
    to.before = text.substr(0, at);
    to.behind = text.substr(std::min(at + kHole.size(), text.size()));
  }

  static void put_condition(Json& event, const KindReply& reply, const KindCondition& condition) {
    if (condition.place < 0) return;
    set_at(event, reply.places[static_cast<std::size_t>(condition.place)], 0,
           condition.is.empty() ? Json(true) : condition.is.front());
  }
  static void put_field(Json& event, const KindReply& reply, const KindField& field, Json value) {
    if (!field.known()) return;
    put_condition(event, reply, field.when);
    set_at(event, reply.places[field.places.front()], 0, std::move(value));
  }
  static Json event_of(const KindReply& reply, const KindField& field, std::string_view value) {
    Json event;
    put_field(event, reply, field, value);
    return event.is_null() ? Json::object() : event;
  }

  // `json`: as in a JSON string.
  static void put_text(Json& body, const KindReply& reply, const KindField& field,
                       std::string_view json) {
    const auto text = Json::parse("\"" + std::string(json) + "\"");
    if (text && (!json.empty() || !body.is_object())) put_field(body, reply, field, *text);
  }

  static void put_finish(Json& event, const KindReply& reply, FinishReason finish) {
    put_field(event, reply, reply.finish, finish == FinishReason::length ? "length" : "stop");
  }

  void put_usage(Json& event, const KindReply& reply, const ReplyState& state) const {
    if (options_.no_usage) return;
    const auto put = [&](int place, std::uint64_t count) {
      if (place >= 0) set_at(event, reply.places[static_cast<std::size_t>(place)], 0, count);
    };
    put(reply.prompt_tokens, state.prompt_tokens);
    put(reply.output_tokens, std::uint64_t{state.made} * options_.said_for_each);
    put(reply.reasoning_tokens, state.reasoning_made);
  }

  // Whether the event already has another value where the end has its mark.
  static bool conflict(const Json& event, const KindReply& reply) {
    const Json* at = &event;
    for (const std::string& step : reply.places[static_cast<std::size_t>(reply.end.place)]) {
      at = at->is_array() && is_index(step) ? &(*at)[std::stoul(step)] : &(*at)[step];
    }
    return !at->is_null();
  }

  const DescribedKind& kind_;
  DialectOptions options_;
  Halves text_{};
  Halves reasoning_{};
};

}  // namespace

std::unique_ptr<Dialect> make_described(const DescribedKind& kind, const DialectOptions& options) {
  return std::make_unique<Described>(kind, options);
}

}  // namespace assay::endpoint
