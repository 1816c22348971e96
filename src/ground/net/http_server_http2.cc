// The part of HttpServer that carries streams of HTTP/2.
#include <algorithm>
#include <utility>

#include "net/http_server.h"
#include "net/http_server_connection.h"

namespace assay::net {
namespace {

// A peer that reads slowly holds frames in the session, where their order can still change, and not
// in the socket's queue.
constexpr std::size_t kFlushBytes = 256U << 10;

}  // namespace

bool HttpServer::may_begin_http2(const Connection& connection, std::string_view bytes) const {
  if (!options_.http2) return false;
  const std::string_view opening = bytes.substr(0, kHttp2Opening.size());
  return connection.accepted == 0 && connection.reader.idle() && kHttp2Opening.starts_with(opening);
}

bool HttpServer::carries_streams(const Connection& connection) {
  return connection.http2 != nullptr && !connection.http2->streams.empty();
}

bool HttpServer::begin_http2(Connection& connection) {
  if (connection.http2 == nullptr) connection.http2 = std::make_unique<Http2>();
  connection.http2->session = std::make_unique<Http2Server>(options_.limits);
  return flush_http2(connection);
}

void HttpServer::take_http2(Connection& connection, std::string_view bytes) {
  if (connection.http2 == nullptr) connection.http2 = std::make_unique<Http2>();
  std::string all;
  if (connection.http2->session == nullptr) {
    all = std::move(connection.http2->opening);
    all += bytes;
    if (all.size() < kHttp2Opening.size() && kHttp2Opening.starts_with(all)) {
      connection.http2->opening = std::move(all);
      return;
    }
    if (!all.starts_with(kHttp2Opening)) {
      connection.http2.reset();
      all.reserve(all.size() + kBodyPadding);
      return take(connection, all);
    }
    if (!begin_http2(connection)) return;
    bytes = all;
  }
  const ConnectionId id = connection.id();
  connection.in_request = true;  // so that nothing destroys the session meanwhile
  const bool sound = connection.http2->session->feed(bytes);
  answer_streams(connection);
  if (connection.fd.open()) go_on_http2(connection);  // a window may have opened
  connection.in_request = false;
  if (!connection.fd.open()) return destroy(connection);
  if (!sound || connection.http2->session->over()) close(id);
}

void HttpServer::answer_streams(Connection& connection) {
  Http2& http2 = *connection.http2;
  while (const std::int32_t gone = http2.session->take_gone()) {
    const auto same = [&](ConnectionId id) {
      const Connection* const stream = find(id);
      return stream != nullptr && stream->of_stream->reply.stream() == gone;
    };
    const auto found = std::ranges::find_if(http2.streams, same);
    if (found != http2.streams.end()) drop_stream(*find(*found), true);
  }
  while (connection.fd.open()) {
    const Http2Request* const request = http2.session->take_request();
    if (request == nullptr) return;
    Connection& stream = free_slot();
    free_.pop_back();
    stream.state = State::replying;
    stream.in_request = true;
    stream.of_stream = std::make_unique<OfStream>(
        OfStream{.parent = connection.id(),
                 .reply = Http2Reply(request->stream, request->head.method == "HEAD")});
    http2.streams.push_back(stream.id());
    service_.on_request(stream.id(), request->head, request->body);
    stream.in_request = false;
    if (stream.of_stream->lost) destroy(stream);
  }
}

HttpServer::Sent HttpServer::send_on_stream(Connection& stream,
                                            std::span<const std::string_view> parts,
                                            std::size_t total) {
  const ConnectionId id = stream.id();
  Connection& connection = *find(stream.of_stream->parent);
  Http2Reply& reply = stream.of_stream->reply;
  Http2Server& session = *connection.http2->session;
  if (session.waiting_bytes(reply.stream()) > options_.pending_bytes_max) {
    reset_stream(stream);
    return Sent::gone;
  }
  for (const std::string_view part : parts) reply.feed(part, session);
  const State before = std::exchange(stream.state, State::closing);  // our result tells the caller
  flush_http2(connection);
  if (find(id) == nullptr) return Sent::gone;
  stream.state = before;
  if (connection.waiting() || session.waiting_bytes(reply.stream()) > 0) {
    const bool waited = stream.handed + total != stream.accepted;
    if (!waited) connection.http2->queued.push_back(id);
    return Sent::queued;
  }
  stream.handed = stream.accepted;
  return Sent::handed;
}

bool HttpServer::flush_http2(Connection& connection) {
  const ConnectionId id = connection.id();
  Http2& http2 = *connection.http2;
  std::string bytes;
  while (!connection.waiting()) {
    bytes.clear();
    while (bytes.size() < kFlushBytes) {
      const std::string_view more = http2.session->output();
      if (more.empty()) break;
      bytes += more;
    }
    if (bytes.empty()) return true;
    if (send(id, bytes) == Sent::gone) return false;
  }
  return true;
}

// The socket took all, or the peer opened a window: what waited behind it follows, and the service
// learns which streams have nothing left.
bool HttpServer::go_on_http2(Connection& connection) {
  Http2& http2 = *connection.http2;
  if (http2.session == nullptr || std::exchange(http2.flushing, true)) return true;
  const ConnectionId id = connection.id();
  if (!flush_http2(connection)) return false;
  for (const ConnectionId each : std::exchange(http2.queued, {})) {
    Connection* const stream = find(each);
    if (stream == nullptr || stream->handed == stream->accepted) continue;
    const std::int32_t number = stream->of_stream->reply.stream();
    if (connection.waiting() || http2.session->waiting_bytes(number) > 0) {
      http2.queued.push_back(each);
      continue;
    }
    stream->handed = stream->accepted;
    service_.on_progress(each, stream->handed);
    if (find(id) == nullptr) return false;
  }
  http2.flushing = false;
  return true;
}

void HttpServer::end_stream(Connection& stream) {
  Connection& connection = *find(stream.of_stream->parent);
  stream.of_stream->reply.close(*connection.http2->session);
  drop_stream(stream, false);
  flush_http2(connection);
}

void HttpServer::reset_stream(Connection& stream) {
  Connection& connection = *find(stream.of_stream->parent);
  connection.http2->session->reset(stream.of_stream->reply.stream());
  drop_stream(stream, false);
  flush_http2(connection);
}

void HttpServer::drop_stream(Connection& stream, bool tell) {
  const ConnectionId id = stream.id();
  Connection* const connection = find(stream.of_stream->parent);
  if (connection != nullptr) std::erase(connection->http2->streams, id);
  const bool replying = stream.state == State::replying;
  stream.of_stream->lost = true;
  if (tell && replying) service_.on_gone(id);
  if (!stream.in_request) destroy(stream);
}

void HttpServer::lose_streams(Connection& connection) {
  for (const ConnectionId id : std::exchange(connection.http2->streams, {})) {
    if (Connection* const stream = find(id)) drop_stream(*stream, true);
  }
}

}  // namespace assay::net
