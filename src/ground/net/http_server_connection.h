// What HttpServer keeps of a connection, and of a stream of one. Only for http_server*.cc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "net/http2_reply.h"
#include "net/http2_server.h"
#include "net/http_server.h"

namespace assay::net {

// A stream of HTTP/2: to the service it is a connection that carries one request.
struct HttpServer::OfStream {
  ConnectionId parent = 0;
  Http2Reply reply;
  bool lost = false;  // it ended while the service was in on_request() for it
};

struct HttpServer::Http2 {
  std::string opening{};  // the first bytes, while it is open which protocol they begin
  std::unique_ptr<Http2Server> session{};
  std::vector<ConnectionId> streams{};  // that live
  std::vector<ConnectionId> queued{};   // those that wait to be told that their bytes are out
  bool flushing = false;
};

struct HttpServer::Connection {
  Fd fd{};
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;
  State state = State::reading;
  bool readable = false;    // an edge came that was not yet read to its end
  bool peer_ended = false;  // the peer has closed its sending side
  bool keep_alive = true;   // as the request under way asked
  bool in_request = false;  // the service is in on_request() for it
  // With the fields above, these are what send() uses: next to each other, for prefetch().
  std::uint64_t accepted = 0;
  std::uint64_t handed = 0;
  std::unique_ptr<OfStream> of_stream{};  // of a stream of HTTP/2, which has no descriptor
  std::unique_ptr<TlsSession> tls{};
  std::size_t pending_at = 0;
  std::string pending{};  // accepted, and not yet taken by the kernel
  std::string ahead{};    // read, for requests after the current one
  RequestReader reader{};
  Instant active{};
  std::unique_ptr<Http2> http2{};  // of a connection that speaks it, or may begin to

  ConnectionId id() const { return ConnectionId{generation} << 32 | slot; }
  std::size_t waiting_bytes() {
    return tls != nullptr ? tls->output().size() : pending.size() - pending_at;
  }
  bool waiting() { return waiting_bytes() > 0; }
};

}  // namespace assay::net
