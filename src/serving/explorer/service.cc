#include "explorer/service.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "base/hash.h"
#include "explorer/gzip.h"
#include "explorer/page.h"
#include "net/http_reply.h"
#include "net/whole_reply.h"

namespace assay::explorer {
namespace {

constexpr std::string_view kHtml = "text/html; charset=utf-8";
constexpr std::string_view kLocked =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Assay</title>"
    "<h1>This page needs its token</h1><p>Open the address that <code>assay serve</code> printed "
    "when it started; it ends in <code>?token=…</code></p></html>";

std::string event_text(std::string_view name, std::string_view data) {
  return format("event: {}\ndata: {}\n\n", name, data);
}

}  // namespace

void Service::send(net::ConnectionId connection, const net::RequestHead& head, const Reply& reply) {
  std::vector<net::HttpHeader> headers = {{"Content-Security-Policy", kPagePolicy},
                                          {"X-Content-Type-Options", "nosniff"},
                                          {"Referrer-Policy", "no-referrer"},
                                          {"Cross-Origin-Resource-Policy", "same-origin"},
                                          {"Cross-Origin-Opener-Policy", "same-origin"},
                                          {"Cache-Control", "private, no-cache"}};
  if (!reply.etag.empty()) headers.push_back({"ETag", reply.etag});
  if (!reply.location.empty()) headers.push_back({"Location", reply.location});
  if (!reply.cookie.empty()) headers.push_back({"Set-Cookie", reply.cookie});
  if (reply.gzipped) headers.push_back({"Content-Encoding", "gzip"});
  if (!reply.etag.empty()) headers.push_back({"Vary", "Accept-Encoding"});
  net::send_whole(*server_, connection, head,
                  {.status = reply.status, .content_type = reply.content_type, .headers = headers},
                  reply.body);
}

void Service::send_tagged(net::ConnectionId connection, const net::RequestHead& head, Reply reply) {
  // One tag for each form of the same content.
  reply.gzipped = reply.body.size() >= kGzipBytesMin && accepts_gzip(head.find("accept-encoding"));
  const std::string etag = format("\"{:016x}{}\"", xxh3(reply.body), reply.gzipped ? "-gzip" : "");
  reply.etag = etag;
  std::string shorter;
  if (head.find("if-none-match").find(etag) != std::string_view::npos) {
    reply.status = 304;
    reply.body = {};
    reply.gzipped = false;
  } else if (reply.gzipped) {
    reply.body = shorter = gzip(reply.body);
  }
  send(connection, head, reply);
}

void Service::refuse(net::ConnectionId connection, const net::RequestHead& head,
                     Access::Verdict verdict) {
  const bool api = head.path().starts_with("/api/");
  const auto say = [&](int status, std::string_view code, std::string_view message) {
    if (!api && status == 401) {
      return send(connection, head, {.status = status, .content_type = kHtml, .body = kLocked});
    }
    const ApiReply reply = api_error(status, code, message);
    send(connection, head, {.status = status, .body = reply.body});
  };
  switch (verdict) {
    case Access::Verdict::no_token:
      return say(401, "no_token", "open the address that assay serve printed");
    case Access::Verdict::wrong_token:
      return say(401, "wrong_token", "this token is not, or no longer, good here");
    case Access::Verdict::bad_host:
      return say(403, "host", "this server is not reached by that name");
    case Access::Verdict::cross_origin:
      return say(403, "cross_origin", "only this server's own page may post, as application/json");
    case Access::Verdict::read_only:
      return say(403, "read_only", "this server was started without --writable");
    case Access::Verdict::store_failed:
    case Access::Verdict::ok:
      return say(500, "store", "the store does not answer");
  }
}

bool Service::take_token(net::ConnectionId connection, const net::RequestHead& head) {
  const std::string token = Access::token_of_target(head.target);
  if (token.empty() || head.method != "GET") return false;
  const Access::Answer answer = access_.judge_token(token, store_);
  if (answer.verdict != Access::Verdict::ok) {
    refuse(connection, head, answer.verdict);
    return true;
  }
  send(connection, head,
       {.status = 303, .content_type = kHtml, .location = "/", .cookie = access_.cookie(token)});
  return true;
}

void Service::on_request(net::ConnectionId connection, const net::RequestHead& head,
                         std::string_view body) {
  const std::string_view path = head.path();
  Access::Answer answer = access_.judge(head, store_);
  // A link with a token is accepted before a missing cookie is refused; its Host and the other
  // checks still apply.
  const bool locked = answer.verdict == Access::Verdict::no_token ||
                      answer.verdict == Access::Verdict::wrong_token ||
                      answer.verdict == Access::Verdict::ok;
  if (path == "/" && locked && take_token(connection, head)) return;
  if (answer.verdict != Access::Verdict::ok) return refuse(connection, head, answer.verdict);
  if (path == "/api/v1/live" && head.method == "GET") return begin_live(connection, head);
  if (path.starts_with("/api/")) return answer_api(connection, head, body, answer.session);
  answer_page(connection, head);
}

void Service::answer_api(net::ConnectionId connection, const net::RequestHead& head,
                         std::string_view body, const Session& session) {
  const std::size_t at = head.target.find("/api/");
  const ApiReply reply =
      api_.answer({.method = head.method == "HEAD" ? std::string_view("GET") : head.method,
                   .target = head.target.substr(std::min(at, head.target.size())),
                   .body = body,
                   .session = session,
                   .writable = access_.writable()});
  if (reply.status == 200) return send_tagged(connection, head, {.body = reply.body});
  send(connection, head, {.status = reply.status, .body = reply.body});
}

void Service::answer_page(net::ConnectionId connection, const net::RequestHead& head) {
  if (head.method != "GET" && head.method != "HEAD") {
    const ApiReply reply = api_error(405, "method", "GET");
    return send(connection, head, {.status = 405, .body = reply.body});
  }
  const std::string_view path = head.path();
  // Names of embedded files; the disk is never searched.
  const EmbeddedFile* file = page_file(path == "/" ? "index.html" : path.substr(1));
  if (file == nullptr) {
    const ApiReply reply = api_error(404, "not_found", "no such address");
    return send(connection, head, {.status = 404, .body = reply.body});
  }
  send_tagged(connection, head, {.content_type = content_type_of(file->name), .body = file->bytes});
}

void Service::begin_live(net::ConnectionId connection, const net::RequestHead& head) {
  const std::array<net::HttpHeader, 3> headers = {{{"Cache-Control", "no-store"},
                                                   {"X-Content-Type-Options", "nosniff"},
                                                   {"Content-Security-Policy", kPagePolicy}}};
  std::string bytes;
  net::append_head(bytes, {.content_type = "text/event-stream",
                           .framing = net::BodyFraming::until_end,
                           .keep_alive = false,
                           .minor_version = head.minor_version,
                           .headers = headers});
  const auto revision = store_.revision();
  bytes += event_text("store", format("{{\"revision\":{}}}", revision.value_or(0)));
  for (const LiveEvent& event : live_.since(0).events) bytes += event_text(event.name, event.data);
  if (server_->send(connection, bytes) != net::HttpServer::Sent::gone) {
    streams_.push_back(connection);
  }
}

void Service::on_gone(net::ConnectionId connection) { std::erase(streams_, connection); }

Instant Service::on_turn(Instant now) {
  if (streams_.empty()) return now + 500_ms;
  if (now < next_look_) return next_look_;
  next_look_ = now + 300_ms;
  std::string bytes;
  const auto revision = store_.revision();
  if (revision && *revision != revision_) {
    if (revision_ >= 0) bytes += event_text("store", format("{{\"revision\":{}}}", *revision));
    revision_ = *revision;
  }
  const LiveRuns::News news = live_.since(live_seen_);
  live_seen_ = news.number;
  for (const LiveEvent& event : news.events) bytes += event_text(event.name, event.data);
  if (now >= next_comment_) {
    next_comment_ = now + 15_s;
    bytes += ": still here\n\n";
  }
  if (bytes.empty()) return next_look_;
  const std::vector<net::ConnectionId> streams = streams_;
  for (const net::ConnectionId stream : streams) {
    if (server_->send(stream, bytes) == net::HttpServer::Sent::gone) std::erase(streams_, stream);
  }
  return next_look_;
}

}  // namespace assay::explorer
