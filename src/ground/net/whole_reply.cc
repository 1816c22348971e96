#include "net/whole_reply.h"

#include <array>
#include <string>

namespace assay::net {

void send_whole(HttpServer& server, ConnectionId connection, const RequestHead& request,
                ReplyHead reply, std::string_view body) {
  reply.length = body.size();
  reply.keep_alive = request.keep_alive;
  reply.minor_version = request.minor_version;
  std::string head;
  append_head(head, reply);
  const bool bodiless = request.method == "HEAD";
  const std::array<std::string_view, 2> parts = {head, bodiless ? std::string_view() : body};
  if (server.send(connection, parts) != HttpServer::Sent::gone) {
    server.finish(connection, request.keep_alive);
  }
}

}  // namespace assay::net
