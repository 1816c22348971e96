// Dialect: how one kind of API says a reply whose stream has events of several shapes: Responses,
// Messages, Ollama's lines. The older kinds, one shape repeated, are in wire.h.
//
// A dialect decides what each event says; the caller frames it. It keeps a reply's progress in
// DialectState and nothing in itself, so one object serves all replies of a thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "domain/event.h"
#include "endpoint/ask.h"
#include "endpoint/wire.h"

namespace assay::endpoint {

// The progress of one reply.
struct DialectState {
  std::string model{};
  Category open = Category::other;  // what the open item or block holds; other: none is open
  std::uint32_t items = 0;          // closed ones
  std::uint32_t sequence = 0;       // of the next event, where events are numbered
  std::uint32_t held = 0;           // tokens that no event has brought yet
  std::string said{};               // the open item's text so far, as in a JSON string
  std::string name{};               // of the open call
  std::string done{};               // the closed items as JSON, with commas between
  VectorAsk vectors{};              // what a reply without tokens is about
  TensorAsk tensors{};
  SpeechAsk speech{};
};

// Frames events. `name` is the event's type ("" where the kind has none); `tokens` come with it.
class DialectOut {
 public:
  virtual void event(std::string_view name, std::string_view json, Category category,
                     std::uint32_t tokens) = 0;

 protected:
  ~DialectOut() = default;
};

struct DialectOptions {
  bool summaries = false;           // reasoning comes as a summary
  bool no_end = false;              // the stream's last event is left out
  bool no_usage = false;            // no counts
  std::uint32_t said_for_each = 1;  // a factor on the tokens in usage
  // The kind of the described routes; it must outlive the dialect.
  const DescribedKind* described = nullptr;
};

class Dialect {
 public:
  virtual ~Dialect() = default;

  // A stream of JSON lines instead of server-sent events.
  virtual bool lines() const { return false; }
  // Each event is a message of a WebSocket.
  virtual bool messages() const { return false; }
  // The events' data is the body itself, without any framing as events.
  virtual bool raw(const DialectState&) const { return false; }
  // The reply's type; "": as other streams and whole replies have it.
  virtual std::string_view content_type(const DialectState&) const { return {}; }
  // What comes before the first token.
  virtual void opening(DialectOut& out, const ReplyState& state, DialectState& own) const = 0;
  // A piece of text or reasoning, or of a call's arguments; `json` as in a JSON string.
  virtual void fragment(DialectOut& out, const ReplyState& state, DialectState& own,
                        Category category, std::string_view json, std::uint32_t tokens) const = 0;
  virtual void tool_opening(DialectOut& out, const ReplyState& state, DialectState& own,
                            std::string_view name) const = 0;
  // What comes after the last token, to the stream's end.
  virtual void tail(DialectOut& out, const ReplyState& state, DialectState& own,
                    FinishReason finish) const = 0;
  // An error inside the stream, and its end.
  virtual void error(DialectOut& out, const ReplyState& state, DialectState& own,
                     std::string_view message) const = 0;
  // A whole reply.
  virtual std::string plain(const ReplyState& state, const DialectState& own,
                            const Wire::Plain& reply) const = 0;
  // How many bytes of that reply stand behind its JSON.
  virtual std::size_t bytes_behind(const DialectState&) const { return 0; }
};

// null for a route that wire.h writes.
std::unique_ptr<Dialect> make_dialect(Route route, const DialectOptions& options);

}  // namespace assay::endpoint
