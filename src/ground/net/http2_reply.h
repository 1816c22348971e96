// Http2Reply: carries a reply that is written as HTTP/1.1 over a stream of HTTP/2, so that a
// service writes its replies once. A head becomes HEADERS, the body DATA, and the trailers behind
// the last chunk become trailers. Fields of a connection (Connection, Transfer-Encoding, …) are
// left out, as RFC 9113, 8.2.2 demands.
//
// One reply, and one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "net/http2_server.h"

namespace assay::net {

class Http2Reply {
 public:
  // `bodiless`: the reply to HEAD.
  Http2Reply(std::int32_t stream, bool bodiless) : stream_(stream), bodiless_(bodiless) {}

  std::int32_t stream() const { return stream_; }
  // The next bytes of the reply, in any pieces. What is no HTTP/1.1 resets the stream.
  void feed(std::string_view bytes, Http2Server& server);
  // The service writes no more: ends a body without a length, and resets a stream whose reply is
  // not complete.
  void close(Http2Server& server);
  bool complete() const { return state_ == State::complete; }

 private:
  enum class State : std::uint8_t {
    head,
    length,
    until_close,
    size,
    data,
    data_end,
    trailers,
    complete
  };
  bool take_line(std::string_view& bytes);
  void take_head(Http2Server& server);
  void take_body(std::string_view& bytes, Http2Server& server);
  void take_chunk_line(Http2Server& server);
  void end(Http2Server& server);
  void fail(Http2Server& server);

  std::int32_t stream_;
  bool bodiless_;
  State state_ = State::head;
  std::uint64_t left_ = 0;  // of the body, or of the chunk
  std::string text_{};      // the head so far, the line so far, or the trailers
  std::size_t line_at_ = 0;
};

}  // namespace assay::net
