// Http2Client: the client's end of one HTTP/2 connection, over bytes that somebody else moves. The
// protocol is nghttp2's (docs/decisions/0002); ours is that nothing is copied on the way to the
// body's reader and that flow control never holds a stream back: windows are as large as HTTP/2
// allows. Heads are bounded, and so are frames that bring nothing of a reply (kHeadBytesMax,
// kIdleFramesMax, kIdleBytesMax): a peer that goes beyond breaks the connection, by name.
//
// The caller feeds what it received and sends what output() gives, until over() says that there is
// nothing more to say: by a GOAWAY of ours where the peer broke the protocol. One thread. Not
// re-entrant: from a callback only cancel() may be called.
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
  bool unprocessed = false;   // the server did nothing with the request, or never got it
  std::string_view broken{};  // what the server did that HTTP/2 forbids, where that ended it
};

class Http2Events {
 public:
  virtual ~Http2Events() = default;
  // `user` is what submit() was given.
  virtual void on_head(void* user, const ResponseHead& head) = 0;
  // A piece of the body, in place; `rest` bytes of what was fed follow it.
  virtual void on_body(void* user, std::string_view piece, std::size_t rest) = 0;
  // The last byte of the request is in what output() gives next.
  virtual void on_request_out(void* user) = 0;
  virtual void on_end(void* user, const Http2End& end) = 0;
};

class Http2Client {
 public:
  using Header = std::pair<std::string_view, std::string_view>;  // names in lower case
  // Of one reply: its head, the interim ones before it and its trailers, together.
  static constexpr std::size_t kHeadBytesMax = 64 * 1024;
  // Frames, and their bytes, in a row without a byte of a reply or of a request between them.
  static constexpr std::uint32_t kIdleFramesMax = 10'000;
  static constexpr std::size_t kIdleBytesMax = std::size_t{16} << 20;

  explicit Http2Client(Http2Events& events);
  ~Http2Client();
  Http2Client(Http2Client&&) noexcept;
  Http2Client& operator=(Http2Client&&) noexcept;

  // Begins a request; `headers` (pseudo-headers first) and `body` are copied. The stream's id; −1
  // when the connection takes no more.
  std::int32_t submit(std::span<const Header> headers, std::string_view body, void* user);
  // Resets the stream; on_end tells when it is over.
  void cancel(std::int32_t stream);
  // Resets the stream and never speaks of it again.
  void forget(std::int32_t stream);

  // False when the connection is of no more use; error() says why. A peer that broke the protocol
  // is told so first: send output(), then ask over().
  bool feed(std::string_view bytes);
  // What is to be sent next; "" when nothing is. Each call takes what it returns, which is good
  // until the next call of anything here.
  std::string_view output();

  // The peer has begun: its SETTINGS came.
  bool begun() const;
  // Streams that the peer allows at once.
  std::uint32_t streams_max() const;
  // The peer has said GOAWAY, or ids are used up: no new streams.
  bool going_away() const;
  // The peer broke the protocol, or went beyond a limit of ours; error() says how.
  bool broken() const;
  // Nothing is left to be read or to be sent.
  bool over() const;
  // Why the connection is of no use; else the peer's GOAWAY, where it named an error; else "".
  std::string error() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The name of an HTTP/2 error code.
std::string_view http2_error_name(std::uint32_t code);

}  // namespace assay::net
