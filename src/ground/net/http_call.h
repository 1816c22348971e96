// HttpCall: one request to an HTTP/1.1 server and its whole reply, blocking, over a connection of
// its own: for a program that asks its server now and then. The measuring path is protocol/.
//
// The time limit is of the whole call. It follows no redirect, because a token would go along. Any
// thread.
#pragma once

#include <string>
#include <string_view>
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
};

struct HttpCallReply {
  int status = 0;
  std::string body{};
};

// Errors: refused or timed_out where no connection came, io where it broke, corrupt where the reply
// is no HTTP. A status is no error.
Result<HttpCallReply> http_call(const HttpCall& call, const Clock& clock);

}  // namespace assay::net
