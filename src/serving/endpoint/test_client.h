// A blocking client for the endpoint's tests: sends bytes unchanged and returns all that came back.
// Its parsers are the client half of the room net, so the two halves check each other; where both
// could have the same fault, the tests compare with text written by hand.
#pragma once

#include <poll.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/format.h"
#include "base/json.h"
#include "net/http1_response.h"
#include "net/socket.h"
#include "net/sse.h"
#include "net/url.h"

namespace assay::endpoint {

enum class Ending : std::uint8_t { complete, closed, reset, timeout };

struct Exchange {
  Ending ending = Ending::timeout;
  int status = 0;
  std::string raw{};   // all bytes, with the head
  std::string body{};  // without chunk framing
  std::vector<std::string> events{};
  std::vector<std::size_t> reads{};  // size of each

  std::string head() const { return raw.substr(0, raw.find("\r\n\r\n")); }
  Json json() const {
    auto parsed = Json::parse(body);
    CHECK(parsed.has_value());
    return *parsed;
  }
  Json event(std::size_t i) const {
    auto parsed = Json::parse(events.at(i));
    CHECK(parsed.has_value());
    return *parsed;
  }
  // The text of a chat stream, all contents joined.
  std::string said(std::string_view field = "content") const {
    std::string text;
    for (const std::string& data : events) {
      const auto parsed = Json::parse(data);
      if (!parsed) continue;
      const Json& choice = (*parsed)["choices"][0];
      text += choice["delta"][field].as_string();
      if (field == "content") text += choice["text"].as_string();
    }
    return text;
  }
};

class TestClient {
 public:
  explicit TestClient(const std::string& url) {
    const auto parsed = net::parse_url(url);
    CHECK(parsed.has_value());
    const auto address = parsed->unix_path.empty()
                             ? net::Address::numeric(parsed->host, parsed->port)
                             : net::Address::unix_path(parsed->unix_path);
    auto fd = net::start_connect(*address);
    CHECK(fd.has_value());
    fd_ = std::move(*fd);
    CHECK(wait(POLLOUT));
  }

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n < 0 && errno == EAGAIN && wait(POLLOUT)) continue;
      CHECK(n > 0);
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  void post(std::string_view path, std::string_view body, std::string_view headers = "") {
    send(format("POST {} HTTP/1.1\r\nHost: test\r\nContent-Length: {}\r\n{}\r\n{}", path,
                body.size(), headers, body));
  }

  // Reads the next reply, up to its end or the connection's.
  Exchange reply() {
    Exchange out;
    net::ResponseParser parser;
    net::SseParser sse;
    const auto on_event = [&out](std::string_view data, std::size_t) {
      out.events.emplace_back(data);
    };
    const auto on_head = [&out](const net::ResponseHead& head) { out.status = head.status; };
    const auto on_body = [&](std::string_view piece) {
      out.body += piece;
      CHECK(sse.feed(piece, on_event));
    };
    std::string buffer(65536 + net::kSsePadding, '\0');
    for (;;) {
      std::string_view piece = ahead_;
      std::string held;
      if (piece.empty()) {
        if (!wait(POLLIN)) return out;
        const ssize_t n = ::recv(fd_.get(), buffer.data(), 65536, 0);
        if (n < 0 && errno == EAGAIN) continue;
        if (n <= 0) {
          out.ending = n < 0 ? Ending::reset : Ending::closed;
          if (n == 0 && parser.end_of_input() == net::ResponseParser::State::complete) {
            out.ending = Ending::complete;
          }
          sse.finish(on_event);
          return out;
        }
        piece = std::string_view(buffer).substr(0, static_cast<std::size_t>(n));
      } else {
        held = std::exchange(ahead_, {});
        held.reserve(held.size() + net::kSsePadding);
        piece = held;
      }
      out.reads.push_back(piece.size());
      std::string_view left = piece;
      const auto state = parser.feed(left, on_head, on_body);
      out.raw += piece.substr(0, piece.size() - left.size());
      CHECK(state != net::ResponseParser::State::failed);
      if (state == net::ResponseParser::State::complete) {
        ahead_ = left;
        out.ending = Ending::complete;
        return out;
      }
    }
  }

  Exchange ask(std::string_view path, std::string_view body, std::string_view headers = "") {
    post(path, body, headers);
    return reply();
  }
  Exchange get(std::string_view path, std::string_view headers = "") {
    send(format("GET {} HTTP/1.1\r\nHost: test\r\n{}\r\n", path, headers));
    return reply();
  }
  // Whether the peer ends the connection without another byte.
  bool ended() {
    char byte = 0;
    return wait(POLLIN) && ::recv(fd_.get(), &byte, 1, 0) <= 0;
  }
  void close() { fd_.reset(); }

 private:
  bool wait(short events) {
    pollfd entry{.fd = fd_.get(), .events = events, .revents = 0};
    return ::poll(&entry, 1, 20'000) == 1;
  }

  net::Fd fd_{};
  std::string ahead_{};
};

}  // namespace assay::endpoint
