// A reply whose body is there at once, as answer to a request of HttpServer. On the server's
// thread.
#pragma once

#include <string_view>

#include "net/http_reply.h"
#include "net/http_server.h"

namespace assay::net {

// `reply` has the status, the type and the extra headers; its length and what it says of the
// connection follow from the request and the body. A HEAD request gets the head alone.
void send_whole(HttpServer& server, ConnectionId connection, const RequestHead& request,
                ReplyHead reply, std::string_view body);

}  // namespace assay::net
