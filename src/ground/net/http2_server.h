// Http2Server: the server's end of one HTTP/2 connection. The caller moves the bytes, takes whole
// requests and gives the parts of their replies. nghttp2 speaks the protocol
// (docs/decisions/0002).
//
// After feed(), take what take_gone() and take_request() have; after any other call, send what
// output() gives. Calls for a stream that has ended do nothing. One thread; no callbacks.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "net/http1_request.h"

namespace assay::net {

// What a client without TLS sends first, up to the end of its first line: no HTTP/1.1 request
// begins so.
inline constexpr std::string_view kHttp2Opening = "PRI * HTTP/2.0\r\n";

// The views are valid until the next call of feed() or take_request(). Behind the body,
// kRequestPadding zeros may be read.
struct Http2Request {
  std::int32_t stream = 0;
  RequestHead head{};  // with `host` from :authority; other pseudo-headers are in method and target
  std::string_view body{};
};

class Http2Server {
 public:
  static constexpr std::uint32_t kStreamsMax = 1000;

  explicit Http2Server(const RequestLimits& limits);
  ~Http2Server();
  Http2Server(Http2Server&&) noexcept;
  Http2Server& operator=(Http2Server&&) noexcept;

  // False when the bytes are no HTTP/2: send output() and close.
  bool feed(std::string_view bytes);
  // Nothing is left to read or to send: the peer broke the protocol, or went away. Close.
  bool over() const;
  // A stream that the peer gave up before its reply was complete; 0: none.
  std::int32_t take_gone();
  const Http2Request* take_request();
  // The bytes to send next; "" when there are none. The view is valid until the next call.
  std::string_view output();

  // A reply: interim heads (1xx), a head, pieces of the body, the end. `last`: the head is all.
  void head(std::int32_t stream, int status, std::span<const HttpHeader> headers, bool last);
  void body(std::int32_t stream, std::string_view bytes);
  void end(std::int32_t stream, std::span<const HttpHeader> trailers);
  // Ends the stream as a failure.
  void reset(std::int32_t stream);
  // Bytes of the reply's body that output() has not given yet: the peer's windows hold them back.
  std::size_t waiting_bytes(std::int32_t stream) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace assay::net
