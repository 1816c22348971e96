// EventWriter writes the events of a streamed reply one after another, with the quirks of their
// content and of their framing as server-sent events or as lines. It decides what an event says,
// not when it is sent. One thread.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <unordered_map>

#include "endpoint/dialect/dialect.h"
#include "endpoint/outlet.h"
#include "endpoint/script.h"
#include "endpoint/wire.h"

namespace assay::endpoint {

// One reply during its generation.
struct Reply {
  Route route = Route::chat;
  bool streamed = false;
  bool wants_usage = false;
  bool opened = false;  // a fragment or a role has been written
  // One of the two says the reply's events.
  const Wire* wire = nullptr;
  const Dialect* dialect = nullptr;
  std::unique_ptr<DialectState> own{};  // the dialect's; null for a wire, whose streams stay small
  ReplyState state{};
  Script script{};
  bool continuous_usage = false;
  bool stalled = false;        // the quirk has been applied
  std::uint32_t numbered = 0;  // events so far
  std::uint32_t held = 0;      // tokens held back (first_burst)
  std::string said{};          // generate: the text so far, as in a JSON string
};

class EventWriter {
 public:
  // `described`: the kind of the described routes, or null; it must outlive the writer.
  EventWriter(const Quirks& quirks, Duration stall, std::string_view served_model,
              const DescribedKind* described = nullptr);

  // Sets what says the events of a reply by this route; `model` as the request names it.
  void choose(Reply& reply, Route route, std::string_view model);

  // Events before the first token: none, except with quirks.
  void opening(EventBatch& out, Reply& reply);
  // The next `tokens` tokens: one event, or one for each category that they span.
  void fragments(EventBatch& out, Reply& reply, std::uint32_t tokens, bool last);
  // Finish reason, usage and [DONE].
  void tail(EventBatch& out, Reply& reply);
  void error(EventBatch& out, Reply& reply, std::string_view message);
  // Bytes that look like an event and are not JSON.
  void garbage(EventBatch& out, Reply& reply);

  // The whole body of a reply that is not streamed.
  void plain(ByteBuffer& out, Reply& reply);

 private:
  class NamedEvents;

  const Wire* wire(Route route, std::string_view model);
  // An event of a dialect.
  void put_named(EventBatch& out, Reply& reply, std::string_view name, std::string_view json,
                 Category category, std::uint32_t tokens);
  void put_fillers(EventBatch& out, const Reply& reply) const;
  void mark(EventBatch& out, Reply& reply, Category category, std::uint32_t tokens);

  // Returns the buffer for the next event's JSON; write nothing else to it until end_event().
  ByteBuffer& begin_event(EventBatch& out, Reply& reply);
  void end_event(EventBatch& out, Reply& reply, Category category, std::uint32_t tokens);

  // The number of `tokens` to send now: none while a first burst collects.
  std::uint32_t release(Reply& reply, std::uint32_t tokens, bool last) const;
  void fragment(EventBatch& out, Reply& reply, std::uint32_t tokens, FinishReason finish);
  void tool_piece(EventBatch& out, Reply& reply, FinishReason finish);
  void done(EventBatch& out, Reply& reply);
  // Tokens as in a JSON string.
  std::string_view text_of(const Script& script, std::uint32_t from, std::uint32_t tokens);
  std::string_view ids_of(const Script& script, std::uint32_t from, std::uint32_t tokens);

  Quirks quirks_;
  Duration stall_;
  std::string served_model_;
  bool clean_frames_;
  const DescribedKind* described_;
  std::unordered_map<std::string, std::array<std::unique_ptr<Wire>, kRoutes>> wires_{};
  std::string last_model_{};
  std::array<const Wire*, kRoutes> last_wires_{};
  std::array<std::unique_ptr<Dialect>, kRoutes> dialects_{};
  ByteBuffer json_{};  // an event's JSON, when its framing has a quirk
  ByteBuffer text_{};
  ByteBuffer ids_{};
};

}  // namespace assay::endpoint
