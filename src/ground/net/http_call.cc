#include "net/http_call.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/check.h"
#include "base/format.h"
#include "net/http1_response.h"
#include "net/http2_client.h"
#include "net/receive.h"
#include "net/socket.h"
#include "net/tls.h"

namespace assay::net {
namespace {

constexpr std::size_t kPiece = 64U << 10;

// Bytes to and from one peer, through TLS where the URL asks for it.
class Line {
 public:
  Line(const HttpCall& call, const Clock& clock, bool http2 = false)
      : call_(call), clock_(clock), end_(clock.now() + call.timeout), http2_(http2) {}

  Result<void> open() {
    std::vector<Address> addresses;
    if (call_.url.unix_path.empty()) {
      ASSIGN_OR_RETURN(addresses, resolve(call_.url.host, call_.url.port));
    } else {
      ASSIGN_OR_RETURN(const Address address, Address::unix_path(call_.url.unix_path));
      addresses.push_back(address);
    }
    Error last{Code::refused, format("{}: no address", shown())};
    for (const Address& address : addresses) {
      auto fd = start_connect(address);
      if (!fd) {
        last = fd.error();
        continue;
      }
      fd_ = std::move(*fd);
      TRY(wait(POLLOUT));
      const int number = connect_result(fd_);
      if (number == 0) return call_.url.tls ? shake_hands() : Result<void>();
      errno = number;
      last = errno_error(format("connect to {}", address.to_string()));
    }
    return last;
  }

  Result<void> send(std::string_view bytes) {
    if (tls_ == nullptr) return send_plain(bytes);
    if (!tls_->write(bytes)) return tls_error();
    return flush_tls();
  }

  // What came next; empty at the end of the connection.
  Result<std::string> receive() {
    for (;;) {
      if (tls_ != nullptr) {
        std::string plain(kPiece, '\0');
        const std::ptrdiff_t n = tls_->read(plain.data(), plain.size());
        if (n < 0) return tls_error();
        if (n > 0) {
          plain.resize(static_cast<std::size_t>(n));
          return plain;
        }
        if (tls_->closed()) return std::string();
      }
      ASSIGN_OR_RETURN(std::string bytes, receive_plain());
      if (tls_ == nullptr || bytes.empty()) return bytes;
      tls_->feed(bytes);
    }
  }

 private:
  std::string shown() const { return format("{}:{}", call_.url.host, call_.url.port); }

  Error tls_error() const {
    return {Code::refused, format("TLS with {}: {}", shown(), tls_->error())};
  }

  Result<void> shake_hands() {
    ASSIGN_OR_RETURN(TlsContext context, TlsContext::client({.insecure = call_.insecure,
                                                             .offer_http2 = http2_,
                                                             .ca_file = call_.ca_file}));
    context_ = std::make_unique<TlsContext>(std::move(context));
    tls_ = std::make_unique<TlsSession>(*context_, call_.url.host);
    for (;;) {
      const TlsSession::Step step = tls_->handshake();
      if (step == TlsSession::Step::failed) return tls_error();
      TRY(flush_tls());
      if (step == TlsSession::Step::done) {
        if (!http2_ || tls_->application() == "h2") return {};
        return Error{Code::refused, format("{} does not speak HTTP/2 (ALPN)", shown())};
      }
      ASSIGN_OR_RETURN(const std::string bytes, receive_plain());
      if (bytes.empty()) return Error{Code::io, format("{} closed the connection", shown())};
      tls_->feed(bytes);
    }
  }

  Result<void> flush_tls() {
    const std::string bytes(tls_->output());
    tls_->consume(bytes.size());
    return send_plain(bytes);
  }

  Result<void> wait(short events) const {
    for (;;) {
      const Duration left = end_ - clock_.now();
      pollfd entry{.fd = fd_.get(), .events = events, .revents = 0};
      const auto left_ms = std::clamp<std::int64_t>(left.ns / 1'000'000, 0, 3'600'000);
      if (::poll(&entry, 1, static_cast<int>(left_ms)) == 1) return {};
      if (left > Duration{}) continue;
      return Error{Code::timed_out, format("{}: nothing came in {:.0f} s", shown(),
                                           static_cast<double>(call_.timeout.ns) / 1e9)};
    }
  }

  Result<void> send_plain(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = send_some(fd_, bytes);
      if (n != -1) {
        bytes.remove_prefix(static_cast<std::size_t>(n));
        continue;
      }
      if (errno != EAGAIN) return errno_error(format("send to {}", shown()));
      TRY(wait(POLLOUT));
    }
    return {};
  }

  Result<std::string> receive_plain() {
    std::string bytes(kPiece, '\0');
    for (;;) {
      const Received got = net::receive(fd_, bytes.data(), bytes.size());
      if (got.bytes != -1) {
        bytes.resize(static_cast<std::size_t>(got.bytes));
        return bytes;
      }
      if (got.error != EAGAIN) return errno_error(format("receive from {}", shown()));
      TRY(wait(POLLIN));
    }
  }

  const HttpCall& call_;
  const Clock& clock_;
  Instant end_;
  bool http2_;
  Fd fd_{};
  std::unique_ptr<TlsContext> context_{};
  std::unique_ptr<TlsSession> tls_{};
};

std::string request_of(const HttpCall& call) {
  std::string out =
      format("{} {}{}{} HTTP/1.1\r\nHost: {}\r\n", call.method, call.url.path,
             call.url.query.empty() ? "" : "?", call.url.query, host_header(call.url));
  for (const auto& [name, value] : call.headers) out += format("{}: {}\r\n", name, value);
  if (call.method != "GET" || !call.body.empty()) {
    out += format("Content-Length: {}\r\n", call.body.size());
  }
  return out + "Connection: close\r\n\r\n" + call.body;
}

// The reply on the only stream of a connection.
class OnlyStream final : public Http2Events {
 public:
  explicit OnlyStream(std::size_t bytes_max) : bytes_max_(bytes_max) {}
  void on_head(void*, const ResponseHead& head) override { reply.status = head.status; }
  void on_body(void*, std::string_view piece, std::size_t) override {
    too_long = too_long || reply.body.size() + piece.size() > bytes_max_;
    if (!too_long) reply.body += piece;
  }
  void on_request_out(void*) override {}
  void on_end(void*, const Http2End& end) override {
    ended = true;
    reply.grpc_status = end.grpc_status;
    reply.grpc_message = end.grpc_message;
    if (end.code != 0) trouble = format("HTTP/2 stream reset: {}", http2_error_name(end.code));
  }

  HttpCallReply reply{};
  std::string trouble{};
  bool too_long = false;
  bool ended = false;

 private:
  std::size_t bytes_max_;
};

std::vector<Http2Client::Header> http2_fields(const HttpCall& call, const std::string& target,
                                              const std::string& authority) {
  std::vector<Http2Client::Header> out{{":method", call.method},
                                       {":scheme", call.url.tls ? "https" : "http"},
                                       {":authority", authority},
                                       {":path", target}};
  for (const auto& [name, value] : call.headers) out.emplace_back(name, value);
  return out;
}

}  // namespace

Result<HttpCallReply> http2_call(const HttpCall& call, const Clock& clock) {
  Line line(call, clock, true);
  TRY(line.open());
  OnlyStream stream(call.reply_bytes_max);
  Http2Client client(stream);
  const std::string target =
      call.url.query.empty() ? call.url.path : call.url.path + "?" + call.url.query;
  const std::string authority = host_header(call.url);
  const std::int32_t id = client.submit(http2_fields(call, target, authority), call.body, &stream);
  CHECK(id > 0);  // a new connection takes a request
  while (!stream.ended && !stream.too_long) {
    std::string out;
    for (std::string_view more = client.output(); !more.empty(); more = client.output()) {
      out += more;
    }
    TRY(line.send(out));
    ASSIGN_OR_RETURN(const std::string bytes, line.receive());
    if (bytes.empty()) {
      const std::string why = client.error();
      return Error{Code::io, format("{}: {}", call.url.host,
                                    why.empty() ? "the connection ended inside the reply" : why)};
    }
    if (!client.feed(bytes) && !stream.ended) {
      return Error{Code::corrupt, format("{}: {}", call.url.host, client.error())};
    }
  }
  if (!stream.trouble.empty()) {
    return Error{Code::io, format("{}: {}", call.url.host, stream.trouble)};
  }
  if (stream.too_long) {
    return Error{Code::corrupt,
                 format("{}: a reply of more than {} bytes", call.url.host, call.reply_bytes_max)};
  }
  return std::move(stream.reply);
}

Result<HttpCallReply> http_call(const HttpCall& call, const Clock& clock) {
  Line line(call, clock);
  TRY(line.open());
  TRY(line.send(request_of(call)));
  HttpCallReply reply;
  bool too_long = false;
  ResponseParser parser;
  while (parser.state() != ResponseParser::State::complete) {
    ASSIGN_OR_RETURN(const std::string bytes, line.receive());
    if (bytes.empty()) {
      if (parser.end_of_input() == ResponseParser::State::complete) break;
      return Error{Code::io, format("{}: the connection ended inside the reply", call.url.host)};
    }
    std::string_view left = bytes;
    parser.feed(
        left, [&reply](const ResponseHead& head) { reply.status = head.status; },
        [&](std::string_view piece) {
          too_long = too_long || reply.body.size() + piece.size() > call.reply_bytes_max;
          if (!too_long) reply.body += piece;
        });
    if (parser.state() == ResponseParser::State::failed) {
      return Error{Code::corrupt, format("{}: {}", call.url.host, parser.error())};
    }
    if (too_long) {
      return Error{Code::corrupt, format("{}: a reply of more than {} bytes", call.url.host,
                                         call.reply_bytes_max)};
    }
  }
  return reply;
}

}  // namespace assay::net
