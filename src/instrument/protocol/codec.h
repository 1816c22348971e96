// Codecs: make the bytes of a request from a sample, and facts from the bytes of a reply.
//
// Requests are made once per sample, before the run (RequestTemplate): the sending path copies two
// strings and fills two holes of fixed width, a salt and a request id. Replies are read in place in
// the receive buffer (ReplyDecoder): no allocation in steady state, no copy unless a string has
// escapes (docs/decisions/0004).
//
// What differs between the kinds of API (where a fact stands in a request or a reply) is one file a
// kind in kind/; kind/kind.h has the table. Within a kind an event's shape shows its meaning:
// servers mix shapes (an error frame in a chat stream, SGLang's meta_info).
//
// Threads: make_* are pure. A ReplyDecoder and a StreamState belong to one thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/memory_budget.h"
#include "base/result.h"
#include "domain/event.h"
#include "domain/request_spec.h"
#include "domain/sample.h"
#include "net/url.h"

namespace assay::protocol {

// ---- requests -------------------------------------------------------------------------------

inline constexpr std::size_t kNoHole = static_cast<std::size_t>(-1);
inline constexpr std::size_t kSaltDigits = 16;
// A salt as token ids: eight ids of four digits, one for each byte of the salt, with commas
// between. Ids from 1000 to 1255 are plain tokens in every common vocabulary.
inline constexpr std::int32_t kSaltFirstId = 1000;
inline constexpr std::size_t kSaltIds = 8;
inline constexpr std::size_t kSaltIdBytes = kSaltIds * 5 - 1;
enum class SaltForm : std::uint8_t { hex, ids };
inline constexpr std::size_t kRequestIdDigits = 32;

// One HTTP/1.1 request: `head` (request line to blank line), then `body`.
struct RequestTemplate {
  std::string head{};
  std::string body{};
  std::size_t salt_offset = kNoHole;        // of the salt in `body`; kNoHole: not salted
  SaltForm salt_form = SaltForm::hex;       // 16 hex digits, or kSaltIds token ids
  std::size_t request_id_offset = kNoHole;  // of 32 hex digits in `head`; kNoHole: none is sent
};

// Sixteen lower-case hex digits of `value`, big end first. A salt is one of them; a request id two.
void write_hex16(char* out, std::uint64_t value);
void write_salt(char* out, SaltForm form, std::uint64_t value);

// The whole request for one sample at one endpoint. `salted`: "[<16 hex>] " goes in front of the
// first user text, after the system prompt, in a prompt, a message or a content part; token ids get
// marker tokens at Sample::salt_position. The error names the field of the sample, the generation
// or the endpoint that the API cannot express, and the remedy.
Result<RequestTemplate> make_request(const Endpoints& endpoints, std::size_t endpoint,
                                     const Generation& generation, const Sample& sample,
                                     bool salted);

// What a body asks for; the reply is checked against it.
struct Asked {
  Spoken api{};
  bool stream = true;
  std::int32_t tokens_max = -1;  // of each choice; -1: no limit
  std::uint16_t choices = 1;     // or inputs, where a reply has units instead of tokens
  std::uint32_t sound_rate = 0;  // bytes of sound without a head that play in a second; 0: unknown
};

using Header = std::pair<std::string, std::string>;

// Body and head apart, for several endpoints that share bodies and for HTTP/2.
struct RequestBody {
  std::string bytes{};
  // Headers that belong to this body, in place of ours of the same name; for most kinds none.
  std::vector<Header> headers{};
  Asked asked{};
  std::size_t salt_offset = kNoHole;
  SaltForm salt_form = SaltForm::hex;
  // Where the bytes begin that a session lacks which has had the turn's history; 0: the turn has a
  // session of its own.
  std::size_t goes_on_at = 0;
};
Result<RequestBody> make_body(Spoken api, const Generation& generation, const Sample& sample,
                              bool salted);

// All headers of a request except Host and Content-Length, in order. `of_body`: as in RequestBody.
// A header from the user replaces ours of the same name.
Result<std::vector<Header>> request_headers(const Endpoints& endpoints, bool stream,
                                            const std::string& session,
                                            const std::vector<Header>& of_body = {});
// Request line, Host, `headers`, Content-Length and the blank line.
std::string request_head(const net::Url& url, std::string_view target,
                         const std::vector<Header>& headers, std::size_t body_bytes);
// The same for the GET that opens a WebSocket, without the headers that ask for one.
std::string socket_head(const net::Url& url, std::string_view target,
                        const std::vector<Header>& headers);

// Offset of the request id's 32 digits in its head, or in a beginning of it; kNoHole: none is sent.
std::size_t request_id_offset(const Endpoints& endpoints, std::string_view head);

// Path and query of the API's route below the endpoint's URL. The URL may end in /v1, beside which
// the routes without it stand, or already name the route. `model`: where it stands in the route;
// percent-encoded there.
std::string request_target(const net::Url& url, Spoken api, std::string_view model = {});

// ---- replies --------------------------------------------------------------------------------

// Bytes that must be readable (with any values) behind every text given to a ReplyDecoder.
inline constexpr std::size_t kDecodePadding = 64;

struct Fragment {
  Category category = Category::text;  // text, reasoning or tool_call; or sound
  // UTF-8 from the server, with JSON escapes undone. Lone surrogates and raw control bytes become
  // U+FFFD; a character that the server split between two events stays split. A tool call's text:
  // domain/tool_call.h.
  // A piece of sound is in base64.
  std::string_view text{};
};

// The content of one stream event, or of one whole reply. Views are valid until the decoder's next
// call, and only while its input exists.
struct DecodedEvent {
  // The category of the first fragment; without any: error, finish, usage, role, marker, unread or
  // other.
  Category category = Category::other;
  std::uint8_t fragment_count = 0;
  bool malformed = false;   // no JSON object; all other fields are empty
  bool no_room = false;     // malformed only because the memory budget did not allow to read it
  bool has_choice = false;  // choices[0] (or SGLang's text or output_ids) exists, maybe empty
  bool has_usage = false;
  bool ends = false;  // this event ends its stream, by its kind's own mark; never a whole reply
  FinishReason finish = FinishReason::none;
  std::uint32_t units = 0;              // of a whole reply without tokens (ApiRow::unit)
  std::uint16_t choice = 0;             // of the fragments and the finish reason
  std::array<Fragment, 3> fragments{};  // in the order reasoning, text, tool_call
  Usage usage{};
  std::string_view error{};         // the server's words, if category is error
  std::string_view unread{};        // the name, as it was sent, if category is unread
  std::string_view more_choices{};  // with several choices: for next_choice(); else empty
};

// Members whose values change from event to event and say nothing of the reply, with their quotes:
// "\"sequence_number\"". The learned template passes over them.
inline constexpr std::size_t kVaryingMax = 2;
using VaryingNames = std::array<std::string_view, kVaryingMax>;

// Where such a value stands in the template's bytes, and its form: digits, or a string's body.
struct TemplateGap {
  std::uint32_t at = 0;
  bool number = false;
};

// A decoder's memory between the events of one stream. reset() keeps its buffers.
struct StreamState {
  // `budget`: for the data that grow with the reply; null: no limit.
  explicit StreamState(MemoryBudget* budget = nullptr) : cumulative(budget) {}

  void reset() {
    prefix_bytes = 0;
    varying_count = 0;
    template_hits = 0;
    cumulative.release();
    tool_index = -1;
    deltas = false;
  }

  Spoken api{};  // what the stream's events speak; reset() keeps it

  // The learned template: an event's bytes before its one fragment, with the opening quote, and
  // behind it, with the closing quote. If an event begins and ends with the same bytes, and a valid
  // string body lies between, only its fragment is new. Values that vary are left out
  // (learned_template.h).
  std::string prefix_and_suffix{};
  std::size_t prefix_bytes = 0;     // 0: nothing learned
  std::uint32_t template_hits = 0;  // events of this stream that the template decoded
  std::array<TemplateGap, kVaryingMax> varying{};
  std::uint8_t varying_count = 0;
  Category category = Category::text;
  std::uint16_t choice = 0;

  // The part of SGLang's cumulative text (or token ids) seen so far; empty for other servers.
  BudgetedText cumulative;
  std::int32_t tool_index = -1;  // of the call whose pieces come now
  bool deltas = false;  // this server sends pieces instead (--incremental-streaming-output)
};

// A decoder's buffer for text that it had to change: as large as the largest event needs; it
// shrinks again after an unusually large one.
class DecodeRoom {
 public:
  explicit DecodeRoom(MemoryBudget* budget);
  ~DecodeRoom();
  DecodeRoom(const DecodeRoom&) = delete;
  DecodeRoom& operator=(const DecodeRoom&) = delete;

  // False where the budget does not allow `bytes`. The content is lost.
  bool fit(std::size_t bytes);
  char* data() { return bytes_.data(); }
  std::size_t size() const { return bytes_.size(); }

 private:
  bool replace(std::size_t bytes);

  MemoryBudget* budget_;
  std::string bytes_{};
  std::uint64_t taken_ = 0;
};

class LearnedReply;  // learned_reply.h

class ReplyDecoder {
 public:
  // `budget`: its memory for one event; null: no limit.
  explicit ReplyDecoder(MemoryBudget* budget = nullptr);
  ~ReplyDecoder();

  // One SSE event's data. REQUIRES: kDecodePadding readable bytes behind `data`.
  void decode(std::string_view data, StreamState& state, DecodedEvent& out);

  // The same result without the learned template; tests compare decode() with it.
  void decode_slowly(std::string_view data, StreamState& state, DecodedEvent& out);

  // Replaces an event with several choices by its next choice; without usage, which belongs to the
  // event. `state`: as for the event; null for a whole reply. REQUIRES: event.more_choices is not
  // empty, and the decoded text still exists.
  void next_choice(StreamState* state, DecodedEvent& event);

  // A whole reply that was not streamed. Same requirement. If has_choice is false and there is no
  // error, the reply is none of this API.
  void decode_reply(Spoken api, std::string_view body, DecodedEvent& out);

 private:
  DecodeRoom room_;
  StreamState whole_{};
  std::unique_ptr<LearnedReply> learned_;
};

// A whole reply that owns its strings, for callers off the measuring path.
struct DecodedReply {
  std::string text{};
  std::string reasoning{};
  std::string tool_calls{};  // as in domain/tool_call.h
  FinishReason finish = FinishReason::none;
  Usage usage{};
  std::string error{};  // an error object instead of a reply
};
// Fails with Code::corrupt when the body is no reply of a known API.
Result<DecodedReply> decode_whole(std::string_view body, Spoken api = {});

// One line for a person from the body of a reply that is not 200: the message of an error object in
// any common shape, else the body's beginning.
std::string error_text(std::string_view body);

// Turns an event that the stream names an error (`event: error`) into an error, for any data.
// event.error points into `words`.
void take_as_error(std::string_view data, std::string& words, DecodedEvent& event);

// A hint for a connection that failed for this reason: a line of its own, or "".
std::string_view connect_door(std::string_view why);

}  // namespace assay::protocol
