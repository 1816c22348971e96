// HTTP/1.1 requests as a server reads them (RFC 9112), in pieces of any size.
//
// Strict where leniency has been an attack: CRLF line ends only, no folded headers, no space before
// a colon, one Content-Length, never both a length and chunks, one Host. A RequestReader is what
// one connection keeps between reads. In the common case a request comes in one piece: the reader
// is empty, parses in place and copies nothing. Pure: no I/O. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::net {

struct HttpHeader {
  std::string_view name{};
  std::string_view value{};  // without white space around it
};

// Views into the bytes that were parsed.
struct RequestHead {
  std::string_view method{};
  std::string_view target{};
  int minor_version = 1;  // of HTTP/1
  std::vector<HttpHeader> headers{};
  // What the headers say about the body and the connection.
  bool keep_alive = true;
  bool chunked = false;
  bool expects_continue = false;
  std::uint64_t content_length = 0;

  // The first header of that name, in any case; "" if it is missing.
  std::string_view find(std::string_view name) const;
  // The target's path: without query string, scheme and host.
  std::string_view path() const;
};

// Why a request was refused; the value is the HTTP status of the reply.
enum class RequestError : std::uint16_t {
  none = 0,
  bad_request = 400,
  body_too_large = 413,
  head_too_large = 431,
  not_implemented = 501,  // a transfer coding other than chunked
  bad_version = 505,
};

enum class ReadStatus : std::uint8_t { need_more, ready, bad };

struct HeadResult {
  ReadStatus status = ReadStatus::need_more;
  RequestError error = RequestError::none;
  std::size_t size = 0;  // bytes of the head, its blank line included
};

// Parses the head at the start of `bytes`; refuses a head of more than `bytes_max`. `searched` is
// how far an earlier call on the same bytes looked for the end; the call moves it forward, so that
// a head which comes byte by byte costs linear time.
HeadResult parse_request_head(std::string_view bytes, std::size_t bytes_max, std::size_t& searched,
                              RequestHead& head);

// The body of a chunked message, decoded piece by piece.
class ChunkedDecoder {
 public:
  // Decodes from `bytes` and appends the data to `out`. Returns how many bytes it used; fewer than
  // all only when finished() or failed().
  std::size_t feed(std::string_view bytes, std::string& out);
  bool finished() const { return state_ == State::done; }
  bool failed() const { return state_ == State::bad; }

 private:
  enum class State : std::uint8_t {
    size_first,  // at least one digit must come
    size,
    extension,
    size_lf,
    data,
    data_cr,
    data_lf,
    trailer_start,
    trailer_name,
    trailer_value,
    trailer_lf,
    end_lf,
    done,
    bad,
  };
  State step(char c);
  State line_byte(char c, State more, State line_end);

  State state_ = State::size_first;
  std::uint16_t line_bytes_ = 0;  // of the extension or trailers; limited
  std::uint64_t left_ = 0;        // of the chunk
};

struct RequestLimits {
  std::size_t head_bytes_max = 64 << 10;
  std::size_t body_bytes_max = 64 << 20;
};

inline constexpr std::size_t kRequestPadding = 64;

class RequestReader {
 public:
  struct Step {
    ReadStatus status = ReadStatus::need_more;
    RequestError error = RequestError::none;
    std::size_t used = 0;     // bytes of `bytes` that belong to this request
    bool wants_body = false;  // head complete and body not: the moment to send 100 Continue
    std::string_view body{};
  };

  // Takes the bytes of the next read. When ready, `head` and the body are views into `bytes` or
  // into this reader, valid until the next call of either function. Behind a body in the reader,
  // kRequestPadding zeros may be read; behind one in `bytes`, the caller provides the padding.
  Step feed(std::string_view bytes, const RequestLimits& limits, RequestHead& head);
  // Forgets the request that was ready, and frees the memory of a large one.
  void reset();
  // Bytes of memory it holds, between requests too.
  std::size_t memory_bytes() const { return kept_.capacity(); }
  // No byte of a request has been read yet.
  bool idle() const { return kept_.empty(); }

 private:
  Step take_body(std::string_view bytes, std::size_t used, const RequestLimits& limits,
                 RequestHead& head);
  Step take_chunks(std::string_view bytes, std::size_t used, const RequestLimits& limits,
                   RequestHead& head);
  Step ready_from_kept(std::size_t used, RequestHead& head);

  std::string kept_;  // the head, then the body so far, of a request in pieces
  std::size_t searched_ = 0;
  std::size_t head_bytes_ = 0;  // 0: the head is not complete
  std::uint64_t content_length_ = 0;
  bool chunked_ = false;
  bool expects_continue_ = false;
  ChunkedDecoder chunks_{};
};

bool equals_ignoring_case(std::string_view a, std::string_view b);

}  // namespace assay::net
