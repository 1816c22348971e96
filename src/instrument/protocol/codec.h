// Codecs: what turns a sample into the bytes of a request, and the bytes of a reply into facts.
//
// Requests are made once per sample, before the run (RequestTemplate): the sending path copies two
// strings and fills two holes of fixed width, a salt and a request id. Replies are read where they
// lie in the receive buffer (ReplyDecoder): no allocation in steady state, no copy unless a string
// holds escapes (docs/decisions/0004).
//
// One decoder serves every API: an event's shape says what it is, and servers mix shapes (an error
// frame in a chat stream, SGLang's meta_info).
//
// Threads: make_* are pure. A ReplyDecoder and a StreamState belong to one thread.
#pragma once

#include <array>
#include <cstdint>
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
// A salt in token ids: eight ids of four digits, one a byte of the salt, and the commas between.
// Ids from 1000 to 1255 are plain tokens in every common vocabulary.
inline constexpr std::int32_t kSaltFirstId = 1000;
inline constexpr std::size_t kSaltIds = 8;
inline constexpr std::size_t kSaltIdBytes = kSaltIds * 5 - 1;
enum class SaltForm : std::uint8_t { hex, ids };
inline constexpr std::size_t kRequestIdDigits = 32;

// One request of HTTP/1.1: `head` (request line to blank line), then `body`.
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

// The whole request for one sample at one of the endpoints. `salted`: what the user says first
// begins with "[<16 hex>] ", after the system prompt, be it a prompt, a message or a content part;
// token ids get marker tokens at Sample::salt_position. The error says which field of the sample,
// the generation or the endpoint cannot be asked this way, and what to do.
Result<RequestTemplate> make_request(const Endpoints& endpoints, std::size_t endpoint,
                                     const Generation& generation, const Sample& sample,
                                     bool salted);

// What a body asks for that a reply is held against.
struct Asked {
  bool stream = true;
  std::int32_t tokens_max = -1;  // of each choice; -1: no limit
  std::uint16_t choices = 1;
};

// The same in two parts, for several endpoints that share bodies and for HTTP/2.
struct RequestBody {
  std::string bytes{};
  Asked asked{};
  std::size_t salt_offset = kNoHole;
  SaltForm salt_form = SaltForm::hex;
};
Result<RequestBody> make_body(Api api, const Generation& generation, const Sample& sample,
                              bool salted);

using Header = std::pair<std::string, std::string>;
// All headers of a request but Host and Content-Length, in order. A header that the user names
// replaces ours of the same name.
Result<std::vector<Header>> request_headers(const Endpoints& endpoints, bool stream,
                                            const std::string& session);
// Request line, Host, `headers`, Content-Length and the blank line.
std::string request_head(const net::Url& url, std::string_view target,
                         const std::vector<Header>& headers, std::size_t body_bytes);

// Where the 32 digits of a request's id stand in its head, or in a beginning of it; kNoHole: none
// is sent.
std::size_t request_id_offset(const Endpoints& endpoints, std::string_view head);

// Path and query of the API's route below the endpoint's URL. A URL that ends in /v1, or that names
// the route already, is understood.
std::string request_target(const net::Url& url, Api api);

// ---- replies --------------------------------------------------------------------------------

// Bytes that must be readable (whatever they hold) behind every text given to a ReplyDecoder.
inline constexpr std::size_t kDecodePadding = 64;

struct Fragment {
  Category category = Category::text;  // text, reasoning or tool_call
  // UTF-8 as the server sent it, JSON escapes undone. Lone surrogates and raw control bytes become
  // U+FFFD; a character that the server split between two events stays split. A tool call's text:
  // domain/tool_call.h.
  std::string_view text{};
};

// What one event of a stream, or one whole reply, says. Views live until the decoder's next call,
// or as long as its input, whichever is shorter.
struct DecodedEvent {
  // That of the first fragment; without any: error, finish, usage, role, marker or other.
  Category category = Category::other;
  std::uint8_t fragment_count = 0;
  bool malformed = false;   // no JSON; everything else is empty
  bool no_room = false;     // malformed only because the memory budget did not allow to read it
  bool has_choice = false;  // choices[0] (or SGLang's text or output_ids) is there, empty or not
  bool has_usage = false;
  FinishReason finish = FinishReason::none;
  std::uint16_t choice = 0;             // of the fragments and the finish reason
  std::array<Fragment, 3> fragments{};  // in the order reasoning, text, tool_call
  Usage usage{};
  std::string_view error{};         // the server's words, where category is error
  std::string_view more_choices{};  // of an event of several: for next_choice(); else empty
};

// What a decoder remembers between the events of one stream. reset() keeps its memory.
struct StreamState {
  // `budget`: of what grows with the reply; null: no limit.
  explicit StreamState(MemoryBudget* budget = nullptr) : cumulative(budget) {}

  void reset() {
    prefix_bytes = 0;
    template_hits = 0;
    cumulative.release();
    tool_index = -1;
    deltas = false;
  }

  // The learned template: an event's bytes before its one fragment, opening quote included, and
  // behind it, closing quote included. An event that begins and ends with the same bytes, with a
  // sound string body between them, differs only in the fragment.
  std::string prefix_and_suffix{};
  std::size_t prefix_bytes = 0;     // 0: nothing learned
  std::uint32_t template_hits = 0;  // events of this stream that the template decoded
  Category category = Category::text;
  std::uint16_t choice = 0;

  // What of SGLang's cumulative text (or token ids) was seen; empty with every other server.
  BudgetedText cumulative;
  std::int32_t tool_index = -1;  // of the call whose pieces come now
  bool deltas = false;  // this server sends pieces instead (--incremental-streaming-output)
};

// Where a decoder lays down what it had to change: as large as the largest event needs, made
// smaller again behind one that was out of the ordinary.
class DecodeRoom {
 public:
  explicit DecodeRoom(MemoryBudget* budget);
  ~DecodeRoom();
  DecodeRoom(const DecodeRoom&) = delete;
  DecodeRoom& operator=(const DecodeRoom&) = delete;

  // False where the budget does not allow so much. What lay there is gone.
  bool fit(std::size_t bytes);
  char* data() { return bytes_.data(); }
  std::size_t size() const { return bytes_.size(); }

 private:
  bool replace(std::size_t bytes);

  MemoryBudget* budget_;
  std::string bytes_{};
  std::uint64_t taken_ = 0;
};

class ReplyDecoder {
 public:
  // `budget`: what it may take of memory for one event; null: no limit.
  explicit ReplyDecoder(MemoryBudget* budget = nullptr) : room_(budget) {}

  // One SSE event's data. REQUIRES: kDecodePadding readable bytes behind `data`.
  void decode(std::string_view data, StreamState& state, DecodedEvent& out);

  // The same without the learned template: what decode() must agree with.
  void decode_slowly(std::string_view data, StreamState& state, DecodedEvent& out);

  // The next choice of an event of several, in its place; no usage: that was the event's. `state`:
  // as of the event; null for a whole reply. REQUIRES: event.more_choices is not empty, and what
  // was decoded is still there.
  void next_choice(StreamState* state, DecodedEvent& event);

  // A whole reply that was not streamed. Same requirement; `message` stands where a stream has
  // `delta`. No choice and no error: has_choice is false and the reply is none of this API.
  void decode_reply(std::string_view body, DecodedEvent& out);

 private:
  DecodeRoom room_;
  StreamState whole_{};
};

// A whole reply with strings of its own, for callers off the measuring path.
struct DecodedReply {
  std::string text{};
  std::string reasoning{};
  std::string tool_calls{};  // as domain/tool_call.h has it
  FinishReason finish = FinishReason::none;
  Usage usage{};
  std::string error{};  // an error object instead of a reply
};
// Fails with Code::corrupt when the body is no reply of an API that we know.
Result<DecodedReply> decode_whole(std::string_view body);

// One line for a person from the body of a reply that is not 200: the message of an error object in
// any of the field's shapes, else the body's beginning.
std::string error_text(std::string_view body);

// Makes an error of an event that the stream names one (`event: error`), whatever its data are.
// `words` keeps what event.error points into.
void take_as_error(std::string_view data, std::string& words, DecodedEvent& event);

// What to do about a connection that could not be made for this reason: a line of its own, or "".
std::string_view connect_door(std::string_view why);

}  // namespace assay::protocol
