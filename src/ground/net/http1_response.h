// ResponseParser: HTTP/1.1 responses (RFC 9112), incremental; the body is passed on in place.
//
// Feed it what a connection received, in any pieces. It understands Content-Length, chunked and
// close-delimited bodies, interim 1xx responses, and the header fields that a client of inference
// endpoints acts on. Lines may end in LF alone, which the RFC allows a recipient to accept. error()
// names what it refuses: conflicting lengths, a bad chunk size, heads (with interim ones and
// trailers) beyond kHeadBytesMax.
//
// One thread. Does not allocate when a head lies in one piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/memory_budget.h"
#include "net/retry_after.h"

namespace assay::net {

enum class ContentType : std::uint8_t { none, event_stream, json, text, other };
enum class ContentCoding : std::uint8_t { identity, gzip, deflate, br, zstd, other };

struct ResponseHead {
  std::uint16_t status = 0;
  std::uint8_t minor_version = 1;  // HTTP/1.x
  bool keep_alive = true;
  bool chunked = false;
  bool has_length = false;
  ContentType type = ContentType::none;
  ContentCoding coding = ContentCoding::identity;
  std::uint64_t length = 0;
  RetryAfter retry{};  // read only if the status is no success
  std::int32_t retry_after_s() const { return retry.seconds(); }
  std::string location{};  // of a redirect (3xx): where it points to
  // What gRPC says in the trailers, or in a head that is all; the message as it was sent. −1:
  // nothing came.
  std::int32_t grpc_status = -1;
  std::string grpc_message{};
};

class ResponseParser {
 public:
  static constexpr std::size_t kHeadBytesMax = 64 * 1024;

  enum class State : std::uint8_t {
    head,      // reading the status line and header fields
    body,      // between head and the end of the body
    complete,  // the whole response was fed; reset() before the next one
    failed,    // see error()
  };

  // `budget`: limits the memory of a head in pieces; null: no limit but kHeadBytesMax.
  explicit ResponseParser(MemoryBudget* budget = nullptr) : carry_(budget) {}

  // Prepares for the next response, on this connection or another; keeps memory.
  void reset();

  // Takes bytes from the front of `bytes` until none is left or the response is complete. Calls
  // on_head(const ResponseHead&) once and on_body(std::string_view piece) for each piece of the
  // body, both in place. Returns state().
  template <typename OnHead, typename OnBody>
  State feed(std::string_view& bytes, OnHead&& on_head, OnBody&& on_body) {
    if (state_ == State::head && !bytes.empty()) {
      if (!read_head(bytes)) return state_;
      on_head(static_cast<const ResponseHead&>(head_));
    }
    while (state_ == State::body && !bytes.empty()) {
      const std::string_view piece = next_body(bytes);
      if (!piece.empty()) on_body(piece);
    }
    return state_;
  }

  // The peer closed. This completes a close-delimited body; any other is cut short.
  State end_of_input();

  State state() const { return state_; }
  const ResponseHead& head() const { return head_; }
  // True once a byte of the response was fed.
  bool started() const { return state_ != State::head || !carry_.empty(); }
  std::string_view error() const { return error_; }
  // True when the bytes are no HTTP or break its rules; false when the end came too early or not at
  // all.
  bool malformed() const { return malformed_; }
  // The memory budget did not allow the head.
  bool no_room() const { return no_room_; }

 private:
  enum class Framing : std::uint8_t {
    none,
    length,
    until_close,
    chunk_size,
    chunk_data,
    chunk_end,
    trailers
  };

  bool read_head(std::string_view& bytes);  // true when a final head is complete
  bool parse_head(std::string_view text);
  bool parse_status_line(std::string_view line);
  bool parse_field(std::string_view line);
  bool parse_content_length(std::string_view value);
  void begin_body();
  std::string_view next_body(std::string_view& bytes);
  std::string_view take_counted(std::string_view& bytes, Framing after);
  void read_framing_line(std::string_view& bytes);
  void end_framing_line(std::string_view line);
  bool fail(std::string_view why);
  bool fail_opening(std::string_view bytes);
  bool carry(std::string_view bytes);
  bool count_head(std::size_t bytes);

  State state_ = State::head;
  Framing framing_ = Framing::none;
  std::uint64_t left_ = 0;  // bytes left of the body or the chunk
  ResponseHead head_{};
  std::size_t head_bytes_ = 0;  // of complete heads and trailers
  BudgetedText carry_;          // a piece of the head, or of a chunk's line
  std::string error_{};
  bool malformed_ = false;
  bool no_room_ = false;
};

}  // namespace assay::net
