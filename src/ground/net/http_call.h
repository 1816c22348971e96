// HttpCall: one request to a server of HTTP/1.1, or of HTTP/2, and its whole reply, blocking, over
// a connection of its own: for a program that asks its server now and then. The measuring path is
// protocol/.
//
// The time limit is of the whole call. It follows no redirect, because a token would go along. Any
// thread.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "net/http1_request.h"
#include "net/url.h"

namespace assay::net {

struct HttpCall {
  std::string method = "GET";
  Url url{};
  std::vector<std::pair<std::string, std::string>> headers{};  // beside Host and Content-Length
  std::string body{};
  Duration timeout{30'000'000'000};
  std::string ca_file{};  // PEM; "" for the system's store
  std::size_t reply_bytes_max = std::size_t{16} << 20;
  bool insecure = false;  // no certificate checks
};

struct HttpCallReply {
  int status = 0;
  std::string body{};
  // As in ResponseHead.
  std::int32_t grpc_status = -1;
  std::string grpc_message{};
};

// Errors: refused or timed_out where no connection came, io where it broke, corrupt where the reply
// is no HTTP. A status is no error.
Result<HttpCallReply> http_call(const HttpCall& call, const Clock& clock);
// The same over HTTP/2: by prior knowledge, or with TLS by ALPN. A stream that the server resets is
// an error too.
Result<HttpCallReply> http2_call(const HttpCall& call, const Clock& clock);

}  // namespace assay::net
