// The records of a run. Event: all facts of one query, at its end. StreamEvent: one event of its
// reply's stream. Instants are of the run's Clock; Instant::none() where a reply did not get so
// far.
//
// Each arrival has two instants: `arrival`, the kernel's receive stamp, and `read`, when our reader
// had the bytes. Without a kernel stamp they are equal and `kernel_stamped` is false. A stamp
// belongs to the last byte of a read. So of several events in one read only the last has an exact
// arrival; the others are marked `shares_read`.
//
// An instant that is not exact has an uncertainty: the true arrival lies in [arrival − uncertainty,
// arrival], the true `sent` in [sent, sent + sent_uncertainty]. The client derives these limits
// from earlier observations: a socket that it emptied, a wait in which its thread slept
// (protocol/wake_watch.h). Zero: as exact as the kernel's stamp.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/time.h"
#include "domain/query.h"

namespace assay {

enum class Outcome : std::uint8_t {
  ok,
  connect_failed,  // no connection: refused, unreachable, no such host
  tls_failed,      // handshake or certificate
  reset,           // the peer reset the connection
  truncated,   // the reply ended before it was complete: no finish reason and no [DONE], or a short
               // body
  http_error,  // a status other than 200; see http_status
  stream_error,  // an error object inside a 200 stream
  bad_reply,     // bytes that are no valid reply of this API: HTTP, SSE, JSON or content type
  timed_out,     // the query's own time limit
  cancelled,     // the client ended it: interrupt, or the drain's time limit
  over_memory,   // its reply would have exceeded the memory budget of all connections
};
inline constexpr int kOutcomes = 11;
std::string_view to_string(Outcome outcome);

enum class FinishReason : std::uint8_t {
  none,
  stop,
  length,
  tool_calls,
  content_filter,
  function_call,
  other
};
inline constexpr int kFinishReasons = 7;
std::string_view to_string(FinishReason reason);
FinishReason finish_reason_from(std::string_view text);

enum class Category : std::uint8_t {
  text,  // visible content
  reasoning,
  tool_call,
  role,    // role only, or an empty delta: no fragment
  finish,  // carries a finish reason and no fragment
  usage,   // token counts only
  marker,  // [DONE]
  error,   // an error object
  other,   // well formed and none of the above
  sound,   // audio: `bytes` counts it without its container's head, and no text comes with it
  unread,  // words under a name that no reader knows: no fragment
};
inline constexpr int kCategories = 11;
std::string_view to_string(Category category);
constexpr bool is_fragment(Category category) { return category <= Category::tool_call; }
// Whether an event brings a part of the reply: words, or sound.
constexpr bool is_output(Category category) {
  return is_fragment(category) || category == Category::sound;
}

struct StreamEvent {
  Category category = Category::other;
  bool kernel_stamped = false;
  bool shares_read = false;  // not the last event of its read
  std::uint16_t choice = 0;  // which of the reply's choices, as the server numbers them
  std::uint32_t bytes = 0;   // length of the fragment, UTF-8; 0 when it is none
  // completion_tokens of the usage in this stream event, with Usage's special values. Where a usage
  // grows with the stream, it gives the size of each burst.
  std::int32_t tokens_so_far = -1;
  Instant arrival{};
  Instant read{};
  Duration uncertainty{};  // it may have come up to this much before `arrival`, never after
};

// Token counts as the server reported them. -1: not reported, or null. kNoCount: no valid count
// (negative, a fraction, above 2^31 - 1, a text).
inline constexpr std::int32_t kNoCount = -2;
struct Usage {
  std::int32_t prompt_tokens = -1;
  std::int32_t completion_tokens = -1;
  std::int32_t reasoning_tokens = -1;
  std::int32_t cached_tokens = -1;
  bool operator==(const Usage&) const = default;
};
// Takes over what `news` reports; what it does not report stays.
constexpr void take_counts(Usage& usage, const Usage& news) {
  const auto take = [](std::int32_t& mine, std::int32_t theirs) {
    if (theirs != -1) mine = theirs;
  };
  take(usage.prompt_tokens, news.prompt_tokens);
  take(usage.completion_tokens, news.completion_tokens);
  take(usage.reasoning_tokens, news.reasoning_tokens);
  take(usage.cached_tokens, news.cached_tokens);
}

// What a reply brought as sound, and what a player would have had of it that begins with the first
// piece and waits where it has none.
struct Sound {
  Instant first = Instant::none();  // first piece; none where the reply was not streamed
  Duration first_read_delay{};
  Duration first_uncertainty{};  // it may have come up to this much earlier
  std::uint64_t bytes = 0;       // without the container's head
  Duration length{-1};           // how long it plays; negative: not known
  std::uint32_t pieces = 0;
  std::uint32_t underruns = 0;  // how often the player had to wait
  Duration waited{};            // and how long, together
  bool operator==(const Sound&) const = default;
};

struct Event {
  Query query{};
  Outcome outcome = Outcome::ok;
  FinishReason finish = FinishReason::none;
  bool streamed = false;
  bool connected = false;  // this query had to open its connection
  bool kernel_stamped = false;
  bool done_marker = false;       // [DONE], or the own end of its kind of API, was seen
  std::uint16_t http_status = 0;  // 0: no head came
  std::uint16_t endpoint = 0;     // which of the target's endpoints

  Instant due{};                   // when the plan wanted it sent
  Instant sent = Instant::none();  // last request byte handed to the kernel; early answer: first
  Instant first_byte = Instant::none();
  Instant first_event = Instant::none();    // any stream event but a comment
  Instant first_token = Instant::none();    // first fragment of any category
  Instant first_visible = Instant::none();  // first fragment of text
  Instant last_token = Instant::none();
  Instant done = Instant::none();  // the reply is complete, or the failure was seen
  // When the target released the query: after `done` where a server ends its stream some time after
  // [DONE]. Not recorded; none where a target does not know it.
  Instant released = Instant::none();
  // How long the reply asks the client to wait (Retry-After); negative: it does not ask. Not
  // recorded.
  Duration retry_after{-1};
  Duration read_delay_first_token{};  // our read − arrival, for the two that metrics use
  Duration read_delay_done{};
  Duration connect_time{};             // where `connected`
  Duration sent_uncertainty{};         // `sent` may have been up to this much later
  Duration first_token_uncertainty{};  // and these up to this much earlier
  Duration first_visible_uncertainty{};
  Duration done_uncertainty{};

  std::uint32_t stream_events = 0;  // all categories
  std::uint32_t fragments = 0;
  std::uint32_t first_fragment_bytes = 0;
  std::uint64_t output_bytes = 0;    // fragments' bytes, together
  std::uint64_t received_bytes = 0;  // on the wire, head included
  Usage usage{};
  Sound sound{};

  // What the request asked for: whether to stream; the limit of tokens a choice (-1: unknown); the
  // number of choices.
  bool stream_asked = false;
  std::int32_t tokens_max = -1;
  std::uint16_t choices_asked = 1;  // or of inputs, for a kind of API without tokens (ApiRow::unit)
  std::uint32_t fragments_after_done = 0;  // came after [DONE]; in no other count
};

// The steps of a phase, in order.
enum class PhaseStep : std::uint8_t { started, issue_ended, drained };

struct PhaseMark {
  std::uint16_t phase = 0;
  PhaseStep step = PhaseStep::started;
  Instant at{};
};

}  // namespace assay
