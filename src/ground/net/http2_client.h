// Http2Client: the client's end of one HTTP/2 connection. The caller moves the bytes. nghttp2
// speaks the protocol (docs/decisions/0002); this class passes the body on without a copy and keeps
// flow control from holding a stream back: windows are as large as HTTP/2 allows. Heads are
// bounded, and so are frames that carry nothing of a reply (kHeadBytesMax, kIdleFramesMax,
// kIdleBytesMax): beyond a limit the connection breaks, and error() names the limit.
//
// The caller feeds what it received and sends what output() gives, until over(); the last output
// may be a GOAWAY of ours where the peer broke the protocol. One thread. Not re-entrant: from a
// callback only cancel() may be called.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "net/http1_response.h"

namespace assay::net {

// How a stream ended.
struct Http2End {
  std::uint32_t code = 0;     // 0 complete, else the HTTP/2 error code with which it was reset
  bool unprocessed = false;   // the server did not process the request, or never got it
  std::string_view broken{};  // how the server broke HTTP/2, where that ended the stream
  // As in ResponseHead.
  std::int32_t grpc_status = -1;
  std::string_view grpc_message{};
};

class Http2Events {
 public:
  virtual ~Http2Events() = default;
  // `user` is the pointer that submit() got.
  virtual void on_head(void* user, const ResponseHead& head) = 0;
  // A piece of the body, in place; `rest` bytes of the fed bytes follow it.
  virtual void on_body(void* user, std::string_view piece, std::size_t rest) = 0;
  // The next output() contains the last byte of the request.
  virtual void on_request_out(void* user) = 0;
  virtual void on_end(void* user, const Http2End& end) = 0;
};

class Http2Client {
 public:
  using Header = std::pair<std::string_view, std::string_view>;  // names in lower case
  // Limit for one reply: its head, the interim ones before it and its trailers, together.
  static constexpr std::size_t kHeadBytesMax = 64 * 1024;
  // Limits for frames, and for their bytes, in a row that carry no byte of a reply or of a request.
  static constexpr std::uint32_t kIdleFramesMax = 10'000;
  static constexpr std::size_t kIdleBytesMax = std::size_t{16} << 20;

  explicit Http2Client(Http2Events& events);
  ~Http2Client();
  Http2Client(Http2Client&&) noexcept;
  Http2Client& operator=(Http2Client&&) noexcept;

  // Begins a request; copies `headers` (pseudo-headers first) and `body`. Returns the stream's id;
  // −1 when the connection takes no more.
  std::int32_t submit(std::span<const Header> headers, std::string_view body, void* user);
  // Resets the stream; on_end() follows when it is over.
  void cancel(std::int32_t stream);
  // Resets the stream; no callback follows.
  void forget(std::int32_t stream);

  // False when the connection is unusable; error() says why. After a protocol error of the peer,
  // output() holds a GOAWAY for it: send it, then ask over().
  bool feed(std::string_view bytes);
  // The bytes to send next; "" when there are none. Each call removes what it returns; the view is
  // valid until the next call of any function here.
  std::string_view output();

  // The peer's SETTINGS came.
  bool begun() const;
  // Streams that the peer allows at once.
  std::uint32_t streams_max() const;
  // The peer sent GOAWAY, or ids are used up: no new streams.
  bool going_away() const;
  // The peer broke the protocol, or exceeded a limit of ours; error() says how.
  bool broken() const;
  // There is nothing left to read or to send.
  bool over() const;
  // Why the connection is unusable; else the error of the peer's GOAWAY, if it has one; else "".
  std::string error() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The name of an HTTP/2 error code.
std::string_view http2_error_name(std::uint32_t code);

}  // namespace assay::net
