// Recording: the raw bytes of one exchange and the time of each read. ReplyFacts: the facts that a
// reader can derive from it.
//
// For `assay probe`, for recorded fixtures and for other code that reads a reply twice. Measuring
// does not use it: HttpTarget keeps no bytes. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/redact.h"
#include "base/time.h"
#include "domain/described_kind.h"
#include "domain/event.h"
#include "net/http1_response.h"

namespace assay::protocol {

struct RecordedRead {
  Instant at{};
  std::string bytes{};
};

struct Recording {
  enum class Ending : std::uint8_t {
    open,       // the reply was complete and the connection stayed open
    closed,     // the peer, or a device between, reset it
    reset,      // the peer, or a device between, reset it
    timed_out,  // we stopped waiting
  };
  Instant sent{};
  std::vector<RecordedRead> reads{};
  Ending ending = Ending::open;
  Instant ended{};
};

// One stream event that owns its strings.
struct RecordedEvent {
  Instant at{};
  std::size_t read = 0;  // index of the read that completed it
  Category category = Category::other;
  bool malformed = false;
  bool has_choice = false;
  bool has_usage = false;
  FinishReason finish = FinishReason::none;
  Usage usage{};
  std::uint32_t units = 0;  // of a whole reply without tokens
  std::vector<std::pair<Category, std::string>> fragments{};
  std::string error{};
};

struct ReplyFacts {
  bool has_head = false;
  net::ResponseHead head{};
  std::string head_text{};  // status line and header fields, unchanged
  std::string body{};       // without its transfer coding
  bool complete = false;    // by its own framing
  std::string fault{};      // the fault of the HTTP, for a person
  // The body is server-sent events, for any Content-Type, or lines, or a sound without a length.
  bool streamed = false;
  bool is_sound = false;  // the body is a sound; its events have no text
  // A stream's events; for a whole reply one event with all its fragments.
  std::vector<RecordedEvent> events{};

  Instant first_byte = Instant::none();
  Instant first_event = Instant::none();
  Instant first_token = Instant::none();
  Instant first_visible = Instant::none();
  Instant last_token = Instant::none();
  Instant done_marker = Instant::none();
  Instant end = Instant::none();  // the last read

  std::size_t reads = 0;
  std::size_t fragments = 0;
  std::size_t reasoning_fragments = 0;
  std::size_t tool_fragments = 0;
  std::size_t sound_pieces = 0;
  std::uint64_t sound_bytes = 0;  // without the head of a file
  Duration sound_length{-1};      // how long they play; negative: not known
  Instant first_sound = Instant::none();
  std::size_t malformed = 0;
  std::size_t unread_events = 0;  // of Category::unread
  std::string unread{};           // the first one's DecodedEvent::unread
  std::size_t usage_events = 0;
  std::size_t comments = 0;           // lines that begin with a colon
  std::size_t joined_events = 0;      // events that share their read with the one before
  std::size_t split_characters = 0;   // fragments that end inside a character
  std::size_t events_after_done = 0;  // behind [DONE]
  bool usage_before_finish = false;   // counts came before, or with, the last fragment or finish
  bool carriage_returns = false;      // lines end in CR LF or CR
  FinishReason finish = FinishReason::none;
  Usage usage{};
  std::string error{};
  std::string text{};
  std::string reasoning{};
  std::string tool_calls{};  // as in domain/tool_call.h
};

// `stream_asked`: the query asked for a stream; else only server-sent events are taken for one.
// `sound_rate`: as in Asked.
ReplyFacts read_recording(const Recording& recording, Spoken api = {}, bool stream_asked = false,
                          std::uint32_t sound_rate = 0);

// Takes the secrets out of all texts. A stream may leak one letter by letter: only the joined text
// shows it.
void redact(ReplyFacts& facts, const Redactor& redactor);

// A header field of the reply, trimmed; "" when it is absent. `lower_name` in lower case.
std::string header_of(const ReplyFacts& facts, std::string_view lower_name);

}  // namespace assay::protocol
