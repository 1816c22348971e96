// For tests: HttpTarget on a clock that only the test moves, against servers that the test plays on
// real sockets. The test decides to the nanosecond when each event happens, and no test waits for
// time to pass.
//
// One thread: the test polls the target, and answers as the peer between two polls. Bytes written
// to a loopback socket can be read at the other end at once.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/format.h"
#include "domain/quiet_sink.h"
#include "net/socket.h"
#include "net/testing_http2.h"
#include "net/tls.h"
#include "protocol/http_target.h"

namespace assay::protocol {

// Keeps all reports to a sink.
class Notes final : public QuietSink {
 public:
  struct Sent {
    std::uint32_t index = 0;
    Instant due{};
    Instant at{};
    bool operator==(const Sent&) const = default;
  };
  void on_sent(const Query& query, Instant due, Instant at) override {
    sent.push_back({query.index, due, at});
  }
  void on_stream_event(const Query&, const StreamEvent& event, std::string_view words) override {
    events.push_back(event);
    text += words;
  }
  void on_done(const Event& event, std::string_view why) override {
    done.push_back(event);
    details.emplace_back(why);
  }
  std::vector<Sent> sent{};
  std::vector<StreamEvent> events{};
  std::string text{};
  std::vector<Event> done{};
  std::vector<std::string> details{};
};

// The server's end of one connection.
class PlayedPeer {
 public:
  PlayedPeer() = default;
  explicit PlayedPeer(net::Fd fd) : fd_(std::move(fd)) { net::set_no_delay(fd_); }

  void speak_tls(const net::TlsContext& context) { tls_.emplace(context, ""); }
  // The session, for what a server does beside talking; send() sends what comes of it.
  net::TlsSession& tls() { return *tls_; }
  void send() { flush(); }
  void say(std::string_view bytes) {
    if (tls_) {
      EXPECT_TRUE(tls_->write(bytes));
      flush();
    } else {
      say_raw(bytes);
    }
  }
  // Sends past TLS.
  void say_raw(std::string_view bytes) {
    EXPECT_EQ(::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  // Reads the bytes that have come, at most `most`, without waiting. False when the other end has
  // closed.
  bool hear(std::size_t most = static_cast<std::size_t>(-1)) {
    char buffer[65536];
    for (std::size_t taken = 0; taken < most;) {
      const ssize_t n = ::recv(fd_.get(), buffer, std::min(sizeof buffer, most), MSG_DONTWAIT);
      if (n < 0 && errno == EAGAIN) break;
      if (n <= 0) return false;
      taken += static_cast<std::size_t>(n);
      const std::string_view bytes(buffer, static_cast<std::size_t>(n));
      tls_ ? tls_->feed(bytes) : void(heard.append(bytes));
    }
    if (tls_) hear_tls();
    return true;
  }
  bool shaken() const { return shaken_; }
  bool closed() { return !hear(); }
  void close() { fd_.reset(); }
  void reset() {
    net::set_reset_on_close(fd_);
    fd_.reset();
  }
  int fd() const { return fd_.get(); }
  // Takes the first whole HTTP/1.1 request from `heard`; "" if there is none.
  std::string request() {
    const std::size_t end = heard.find("\r\n\r\n");
    const std::size_t length = heard.find("Content-Length: ");
    if (end == std::string::npos || length == std::string::npos) return "";
    const std::size_t size = end + 4 + std::stoul(heard.substr(length + 16));
    if (heard.size() < size) return "";
    std::string out = heard.substr(0, size);
    heard.erase(0, size);
    return out;
  }
  std::string heard{};
  bool hold = false;  // TLS output is kept in `held`, for the test to send
  std::string held{};

 private:
  void hear_tls() {
    if (!shaken_) shaken_ = tls_->handshake() == net::TlsSession::Step::done;
    char buffer[65536];
    while (shaken_) {
      const std::ptrdiff_t n = tls_->read(buffer, sizeof buffer);
      if (n <= 0) break;
      heard.append(buffer, static_cast<std::size_t>(n));
    }
    flush();
  }
  void flush() {
    const std::string bytes(tls_->output());
    tls_->consume(bytes.size());
    if (hold) {
      held += bytes;
    } else if (!bytes.empty()) {
      say_raw(bytes);
    }
  }

  net::Fd fd_{};
  std::optional<net::TlsSession> tls_{};
  bool shaken_ = false;
};

// Moves on by 40 µs with each look at it, too little for a wait that slept; at_look() is called in
// the middle of that.
class TickingClock final : public Clock {
 public:
  static constexpr Duration kTick{40'000};
  Instant now() const override {
    now_ = now_ + kTick / 2;
    if (at_look) at_look(now_);
    return now_ = now_ + kTick / 2;
  }
  void sleep_until(Instant until) override { now_ = std::max(now_, until); }
  Duration spin_window() const override { return {}; }
  std::function<void(Instant now)> at_look{};

 private:
  mutable Instant now_ = Instant{} + 1000_s;
};

class ByHand {
 public:
  // Buffer of a peer that does not read; size of a request that both kernels cannot hold.
  static constexpr int kPeerBytes = 64 * 1024;
  static constexpr std::size_t kLargeBytes = std::size_t{5} << 20;

  explicit ByHand(std::size_t endpoint_count = 1, const std::string& scheme = "http") {
    clock.sleep_until(Instant{} + 1000_s);
    datasets[0].dataset.name = "test";
    datasets[0].dataset.samples.push_back(Sample{.prompt = "hello"});
    datasets[0].generation.model = "m";
    for (std::size_t i = 0; i < endpoint_count; ++i) {
      listeners.push_back(net::listen_on(*net::Address::numeric("127.0.0.1", 0), {}).value());
      net::set_buffers(listeners.back(), kPeerBytes, 0);
      const std::uint16_t port = net::local_address(listeners.back())->port();
      endpoints.urls.push_back(format("{}://127.0.0.1:{}", scheme, port));
    }
    endpoints.request_ids = false;
    options.kernel_stamps = false;
  }
  // Makes the target at the first call, from the fields set before.
  HttpTarget& target() {
    if (!target_) {
      auto made = HttpTarget::create(plan, datasets, endpoints, options, clock);
      EXPECT_TRUE(made) << made.error().message;
      target_ = std::move(*made);
    }
    return *target_;
  }
  Query submit(std::uint32_t index, Duration late = {}) {
    const Query query{.index = index};
    target().submit(query, clock.now() - late, notes);
    return query;
  }
  // Handles ready events without waiting.
  void turn() {
    for (int i = 0; i < 3; ++i) target().poll(clock.now(), notes);
  }
  void pass(Duration time) { clock.sleep_until(clock.now() + time); }
  // Polls until it holds. A slow kernel costs a wait; a fault fails the test.
  template <typename Holds>
  [[nodiscard]] bool until(Holds&& holds) {
    for (int i = 0; i < 2000; ++i) {
      if (holds()) return true;
      target().poll(clock.now() + 5_ms, notes);
    }
    return holds();
  }
  bool somebody_waits(std::size_t endpoint = 0) const {
    pollfd incoming{listeners[endpoint].get(), POLLIN, 0};
    return ::poll(&incoming, 1, 0) == 1;
  }
  // The next connection that the target opened.
  PlayedPeer accept(std::size_t endpoint = 0) {
    EXPECT_TRUE(until([&] { return somebody_waits(endpoint); }));
    return PlayedPeer(net::accept_one(listeners[endpoint]).value());
  }
  // Queries 0 to `count` - 1, each on a connection of its own, and each heard there.
  std::vector<PlayedPeer> submit_each(std::uint32_t count) {
    std::vector<PlayedPeer> peers;
    for (std::uint32_t i = 0; i < count; ++i) {
      submit(i);
      peers.push_back(accept());
      request(peers.back());
    }
    return peers;
  }
  // Query i at endpoint i, over HTTP/2.
  std::vector<PlayedPeer> submit_to_each_endpoint() {
    std::vector<PlayedPeer> peers;
    for (std::uint32_t i = 0; i < listeners.size(); ++i) {
      submit(i);
      peers.push_back(accept(i));
      peers[i].say(net::settings());
      turn();
    }
    return peers;
  }
  // The next whole request on that connection.
  std::string request(PlayedPeer& peer) {
    std::string out;
    EXPECT_TRUE(until([&] {
      peer.hear();
      out = peer.request();
      return !out.empty();
    }));
    return out;
  }
  [[nodiscard]] bool done(std::size_t queries) {
    return until([&] { return notes.done.size() >= queries; }) && notes.done.size() == queries;
  }
  // Asks one query and answers it in full. The connection may be used again.
  void exchange(PlayedPeer& peer, std::uint32_t index, std::string_view reply) {
    const std::size_t before = notes.done.size();
    submit(index);
    if (peer.fd() < 0) peer = accept();
    EXPECT_FALSE(request(peer).empty());
    peer.say(reply);
    EXPECT_TRUE(done(before + 1));
  }
  TransportStats stats() { return target().stats(); }

  SimClock clock{};
  Plan plan{.phases = {PhasePlan{.order = SampleOrder::sequential(1)}}};
  std::vector<PlannedDataset> datasets{1};
  Endpoints endpoints{};
  HttpTargetOptions options{};
  std::vector<net::Fd> listeners{};
  Notes notes{};

 private:
  std::unique_ptr<HttpTarget> target_{};
};

// Replies, whole.
inline std::string plain_reply(std::string_view fields = "", std::string_view words = "hi") {
  const std::string body =
      format(R"({{"choices":[{{"index":0,"message":{{"content":"{}"}},"finish_reason":"stop"}}]}})",
             words);
  return format("HTTP/1.1 200 OK\r\n{}Content-Length: {}\r\n\r\n{}", fields, body.size(), body);
}
inline std::string stream_head() {
  return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
}
inline std::string stream_chunk(std::string_view data) {
  const std::string event = format("data: {}\n\n", data);
  return format("{:x}\r\n{}\r\n", event.size(), event);
}
inline std::string word_chunk(std::string_view word) {
  return stream_chunk(format(R"({{"choices":[{{"index":0,"delta":{{"content":"{}"}}}}]}})", word));
}
inline std::string stop_chunk() {
  return stream_chunk(R"({"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})");
}
inline constexpr std::string_view kStreamEnd = "0\r\n\r\n";

}  // namespace assay::protocol
