// The worker's realtime route: opens sessions, and makes a reply of each turn.
#include "base/text.h"
#include "endpoint/worker.h"
#include "net/websocket_handshake.h"

namespace assay::endpoint {
namespace {

// The value of a parameter in a target's query string, as it stands there.
std::string_view target_parameter(std::string_view target, std::string_view name) {
  std::size_t at = target.find('?');
  while (at != std::string_view::npos) {
    const std::string_view rest = target.substr(at + 1);
    if (rest.starts_with(name) && rest.substr(name.size()).starts_with('=')) {
      const std::string_view value = rest.substr(name.size() + 1);
      return value.substr(0, value.find('&'));
    }
    at = target.find('&', at + 1);
  }
  return {};
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '%' && i + 2 < text.size() && hex_value(text[i + 1]) >= 0 &&
                        hex_value(text[i + 2]) >= 0;
    out +=
        escape ? static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2])) : text[i];
    if (escape) i += 2;
  }
  return out;
}

}  // namespace

void Worker::open_session(net::ConnectionId connection, const net::RequestHead& head) {
  std::string out;
  if (!net::wants_websocket(head)) {
    return respond_error(connection, head, {.status = 426, .message = "This route is a WebSocket."},
                         "Upgrade: websocket");
  }
  switch (net::answer_websocket(head, out)) {
    case net::Upgrade::accepted:
      break;
    case net::Upgrade::bad_version:
      return respond_error(connection, head,
                           {.status = 426, .message = "Use version 13 of WebSocket."},
                           "Sec-WebSocket-Version: 13");
    case net::Upgrade::bad_request:
      return respond_error(connection, head,
                           {.message = "The request is not a handshake of a WebSocket."});
  }
  const std::uint32_t slot = net::slot_of(connection);
  if (slot >= sessions_.size()) sessions_.resize(slot + 1);
  const std::string model = percent_decoded(target_parameter(head.target, "model"));
  const std::uint64_t number = sessions_opened_++ << 8 | thread_;
  sessions_[slot] = std::make_unique<Session>(connection, number, model);
  server_->upgrade(connection);
  out += sessions_[slot]->said.take_output();
  if (server_->send(connection, out) == net::HttpServer::Sent::gone) sessions_[slot].reset();
}

Worker::Session* Worker::session_of(net::ConnectionId connection) {
  const std::uint32_t slot = net::slot_of(connection);
  if (slot >= sessions_.size() || sessions_[slot] == nullptr) return nullptr;
  return sessions_[slot]->connection == connection ? sessions_[slot].get() : nullptr;
}

void Worker::on_bytes(net::ConnectionId connection, std::string_view bytes) {
  Session* const session = session_of(connection);
  if (session == nullptr) return;
  session->said.feed(bytes);
  const std::string out = session->said.take_output();
  if (!out.empty() && server_->send(connection, out) == net::HttpServer::Sent::gone) {
    return on_gone(connection);
  }
  if (session->said.closing()) {
    server_->close(connection);
    return on_gone(connection);
  }
  if (session->said.asked()) begin_turn(*session);
}

void Worker::begin_turn(Session& session) {
  session.said.begin_turn();
  net::RequestHead head;
  head.method = "GET";
  if (!session.said.turn_id().empty()) {
    head.headers.push_back({"x-request-id", session.said.turn_id()});
  }
  // The body must outlive the call, in which the session may end.
  std::string body(session.said.turn_body());
  body.reserve(body.size() + kAskPadding);
  answer(session.connection, head, body, Route::realtime);
}

// An error instead of a response; the session goes on.
void Worker::refuse_turn(const Stream& stream, const ApiError& error) {
  Session* const session = session_of(stream.out.connection);
  if (session == nullptr) return;
  session->said.error(error);
  server_->send(stream.out.connection, session->said.take_output());
}

}  // namespace assay::endpoint
