// For tests: a server whose service is the test, step by step, in the server's own thread.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <cerrno>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/http_server.h"
#include "net/receive.h"

namespace assay::net {

inline constexpr std::size_t kMore = std::size_t{6} << 20;  // than both ends' kernels hold
inline constexpr std::string_view kAsk = "GET /x HTTP/1.1\r\nHost: h\r\n\r\n";

// Keeps what is reported to it, and takes a step of the test at each turn: the next one once this
// one returns true.
class PlayedService final : public HttpService {
 public:
  void on_request(ConnectionId id, const RequestHead& head, std::string_view) override {
    asked.push_back(id);
    if (answer) answer(id, head);
    if (when_asked) when_asked();
  }
  void on_bytes(ConnectionId, std::string_view more) override {
    bytes += more;
    if (when_bytes) when_bytes();
  }
  void on_gone(ConnectionId id) override { gone.push_back(id); }
  void on_progress(ConnectionId id, std::uint64_t handed) override {
    progress.emplace_back(id, handed);
  }
  Instant on_turn(Instant now) override {
    if (at < steps.size() && steps[at]()) ++at;
    if (at == steps.size() || --turns_left == 0) server->stop();
    return now + every;
  }
  HttpServer* server = nullptr;
  Duration every = 1_ms;  // between turns
  std::function<void(ConnectionId, const RequestHead&)> answer{};
  std::function<void()> when_asked{};
  std::function<void()> when_bytes{};
  std::vector<ConnectionId> asked{};
  std::string bytes{};  // of another protocol
  std::vector<ConnectionId> gone{};
  std::vector<std::pair<ConnectionId, std::uint64_t>> progress{};
  std::vector<std::function<bool()>> steps{};
  std::size_t at = 0;
  int turns_left = 10'000;
};

// A peer that never waits.
struct Caller {
  explicit Caller(const Address& to) : fd(start_connect(to).value()) {
    set_buffers(fd, 64 * 1024, 0);
    pollfd entry{.fd = fd.get(), .events = POLLOUT, .revents = 0};
    EXPECT_EQ(::poll(&entry, 1, 10'000), 1);
  }
  void say(std::string_view bytes) {
    EXPECT_EQ(send_some(fd, bytes), static_cast<ssize_t>(bytes.size()));
  }
  // Takes what has come.
  const std::string& hear() {
    std::string room(64 * 1024, '\0');
    for (;;) {
      const Received got = receive(fd, room.data(), room.size());
      ended = ended || got.bytes == 0;
      reset = reset || (got.bytes < 0 && got.error == ECONNRESET);
      if (got.bytes <= 0) return heard;
      heard.append(room, 0, static_cast<std::size_t>(got.bytes));
    }
  }
  Fd fd;
  std::string heard{};
  bool ended = false;
  bool reset = false;
};

class HttpServerCalls : public testing::Test {
 protected:
  void open(const HttpServerOptions& options = {}) { open_on(clock, options); }
  void open_on(const Clock& time, const HttpServerOptions& options) {
    server = HttpServer::open(std::move(listener), options, service, time).value();
    service.server = server.get();
  }
  void play(std::vector<std::function<bool()>> steps) {
    service.steps = std::move(steps);
    server->run();
    EXPECT_EQ(service.at, service.steps.size()) << "the step at which it stopped";
  }
  // A request of the caller's has come, and is not answered.
  bool has_asked(std::size_t requests) const { return service.asked.size() == requests; }
  ConnectionId last() const { return service.asked.back(); }

  OsClock clock{};
  PlayedService service{};
  Fd listener = listen_on(Address::numeric("127.0.0.1", 0).value(), {}).value();
  Address where = local_address(listener).value();
  std::unique_ptr<HttpServer> server{};
};

}  // namespace assay::net
