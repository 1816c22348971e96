// Exchange: one query and its reply, as the bytes come in: milestones, stream events, outcome.
//
// It receives the reply's head and the pieces of its body, from any connection or HTTP version,
// each with the stamp of its read, and reports events to the sink. An Exchange is made once and
// reused, so that nothing is allocated in steady state. One thread.
#pragma once

#include <bitset>
#include <string>
#include <string_view>

#include "base/redact.h"
#include "domain/event_sink.h"
#include "net/http1_response.h"
#include "net/lines.h"
#include "net/sse.h"
#include "protocol/artefact_queue.h"
#include "protocol/codec.h"
#include "protocol/sound_meter.h"
#include "protocol/wake_watch.h"

namespace assay::protocol {

// When a read's bytes came: see domain/event.h for arrival and read.
struct Stamp {
  Instant arrival{};
  Instant read{};
  bool kernel = false;
  bool emptied = true;  // the read emptied the socket: the stamp is of its last byte
  // No byte of the read came before: the socket was empty then. none(): unknown.
  Instant not_before = Instant::none();
  // Reports how long the thread slept before the read; asked only if needed.
  WakeWatch* wake = nullptr;

  // Uncertainty of an event in this read; `exact`: the event ended with the read.
  Duration uncertainty(bool exact) const;
};

class Exchange {
 public:
  // `budget`: memory for its reply; null: only the limits of one event and one reply.
  explicit Exchange(MemoryBudget* budget = nullptr)
      : budget_(budget), sse_(budget), lines_(budget), state_(budget), body_(budget) {}

  // `redactor`: removes secrets from the server's text; null if there are none.
  void begin(const Query& query, Instant due, std::uint16_t endpoint, const Asked& asked,
             const Redactor* redactor = nullptr);
  // Gets the bytes of replies that are kept as files; null: none are.
  void keep_artefacts(ArtefactQueue* queue) { artefacts_ = queue; }
  // The connection was opened for this query.
  void set_connected(Duration connect_time);
  // The kernel got the request between these two instants.
  void set_sent(Instant before, Instant after) {
    event_.sent = before;
    event_.sent_uncertainty = after - before;
  }

  // The reply's content existed up to this long before it could be seen: a job is looked at only
  // now and then.
  void set_grain(Duration grain) { grain_ = grain; }

  // Bytes of the reply, with head and framing, came in a read.
  void on_bytes(std::size_t count, const Stamp& stamp);
  // Both return false when the rest of the reply is useless. End it then with cut_short(), or with
  // complete() if its end has come; the outcome is the one found before.
  bool on_head(const net::ResponseHead& head);
  // The reply comes as messages of a WebSocket instead, each an event. Call it before the first.
  void on_socket();
  // `behind` bytes of the same read follow it. kDecodePadding bytes behind it must be readable.
  void on_message(std::string_view event, std::size_t behind, const Stamp& stamp,
                  ReplyDecoder& decoder, EventSink& sink);
  // A piece of the body; `rest` bytes of the same read follow it. kSsePadding bytes behind it must
  // be readable.
  bool on_body(std::string_view piece, std::size_t rest, const Stamp& stamp, ReplyDecoder& decoder,
               EventSink& sink);

  // Call it before complete() with what gRPC's trailers say, as in net::ResponseHead.
  void set_grpc(std::int32_t status, std::string_view message) {
    head_.grpc_status = status;
    head_.grpc_message = message;
  }

  // The ends of a query; each calls sink.on_done exactly once.
  void complete(const Stamp& stamp, ReplyDecoder& decoder, EventSink& sink);
  // The body ended without its framing, or the connection failed: `outcome`, unless the reply's own
  // marks had completed it before.
  void cut_short(Outcome outcome, const Stamp& stamp, std::string_view detail,
                 ReplyDecoder& decoder, EventSink& sink);
  void fail(Outcome outcome, Instant at, std::string_view detail, EventSink& sink);

  // [DONE], or the stream's own end, came: only framing follows.
  bool done_marker() const { return event_.done_marker; }
  // The outcome is known, and later bytes cannot change it.
  bool settled() const { return event_.done_marker || failure_ != Outcome::ok; }
  bool failed() const { return failure_ != Outcome::ok; }
  // on_head() or on_body() returned false.
  bool given_up() const { return given_up_; }
  // A stream event came.
  bool answered() const { return event_.first_event.known(); }
  bool reply_started() const { return event_.first_byte.known(); }
  const Query& query() const { return event_.query; }
  Instant due() const { return event_.due; }
  Instant sent() const { return event_.sent; }

 private:
  enum class Mode : std::uint8_t { undecided, events, lines, whole, error_body, sound, messages };

  void decide(std::string_view piece);
  bool feed_lines(std::string_view piece, std::size_t rest, const Stamp& stamp,
                  ReplyDecoder& decoder, EventSink& sink);
  void on_stream_data(std::string_view data, bool shares_read, const Stamp& stamp,
                      ReplyDecoder& decoder, EventSink& sink);
  void take_decoded(bool shares_read, const Stamp& stamp, EventSink& sink);
  void emit_decoded(bool shares_read, const Stamp& stamp, EventSink& sink);
  void emit(Category category, std::string_view text, bool shares_read, const Stamp& stamp,
            EventSink& sink);
  void keep_sound(std::string_view bytes);
  void on_sound(std::string_view piece, std::size_t rest, const Stamp& stamp, EventSink& sink);
  void hear_event(std::string_view base64, bool shares_read, const Stamp& stamp, EventSink& sink);
  void hear(std::uint64_t bytes, bool shares_read, const Stamp& stamp, EventSink& sink);
  void tell(Category category, std::uint64_t bytes, std::string_view text, bool shares_read,
            const Stamp& stamp, EventSink& sink);
  void note_end(const Stamp& stamp);
  void note_done_marker(bool shares_read, const Stamp& stamp, EventSink& sink);
  void note_usage(const DecodedEvent& decoded);
  bool end_failed_call(const Stamp& stamp, EventSink& sink);
  void complete_stream(const Stamp& stamp, EventSink& sink);
  void complete_whole(const Stamp& stamp, ReplyDecoder& decoder, EventSink& sink);
  void complete_sound(const Stamp& stamp, EventSink& sink);
  bool give_up(Outcome outcome, std::string_view words);
  bool give_up_for_memory();
  std::string failure_words() const;
  void end(Outcome outcome, const Stamp& stamp, std::string_view detail, EventSink& sink);

  MemoryBudget* budget_;
  ArtefactQueue* artefacts_ = nullptr;
  Event event_{};
  Duration uncertainty_{};  // of the current stream event
  Duration grain_{};
  Mode mode_ = Mode::undecided;
  bool given_up_ = false;
  Outcome failure_ = Outcome::ok;  // known before the reply's end
  bool has_choice_ = false;        // an event of the stream had a choice
  // Choices of the stream with a fragment, and with a finish reason. None above these is judged:
  // 128 are the most that OpenAI's API allows.
  static constexpr std::size_t kChoicesJudged = 128;
  std::bitset<kChoicesJudged> begun_{};
  std::bitset<kChoicesJudged> finished_{};
  std::uint32_t malformed_ = 0;      // events of the stream that could not be read
  std::string unread_{};             // the first of them, for a person
  std::int32_t tokens_so_far_ = -1;  // by the usage of the current event
  net::ResponseHead head_{};
  net::SseParser sse_;
  net::LineParser lines_;
  StreamState state_;
  DecodedEvent decoded_{};
  std::string error_words_{};  // of an event named error; decoded_ points into it
  BudgetedText body_;          // of a reply that is not streamed, or of an error; a sound to keep
  std::string found_{};        // the server's error, or the fault of the reply
  SoundMeter sound_{};
  Instant plays_until_{};  // what a player has of the sound so far
  const Redactor* redactor_ = nullptr;
  Redactor::State redacting_ = 0;  // between the fragments of this reply
  std::string redacted_{};
};

}  // namespace assay::protocol
