// Which connections a server ends by itself, and when: on a clock that only requests move.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "net/http_reply.h"
#include "net/http_server.h"
#include "net/testing_client.h"
#include "net/testing_http2.h"
#include "net/testing_played_server.h"

namespace assay::net {
namespace {

// A request for /N moves the clock by N ms, and notes which of the connections so far live. One for
// /close is answered and its connection ended.
class MovingService final : public HttpService {
 public:
  MovingService() { clock.sleep_until(Instant{} + 1000_s); }
  HttpServer* server = nullptr;
  SimClock clock{};
  std::vector<ConnectionId> known{};
  std::vector<std::string> lives{};
  std::vector<std::size_t> counts{};

  void on_request(ConnectionId id, const RequestHead& head, std::string_view) override {
    std::string now;
    for (const ConnectionId one : known) now += server->alive(one) ? 'x' : '-';
    lives.push_back(now);
    counts.push_back(server->connections());
    if (std::ranges::find(known, id) == known.end()) known.push_back(id);
    const bool keep = head.path() != "/close";
    const auto ms = parse_int(head.path().substr(1));
    if (ms && *ms > 0) {
      clock.sleep_until(clock.now() + 1_ms * *ms);
      swept_at_turn_ =
          turns_ + 2;  // the one behind this event, for the time that passed, is too early
    }
    std::string out;
    append_head(out, {.content_type = "text/plain", .length = 0, .keep_alive = keep});
    if (server->send(id, out) != HttpServer::Sent::gone) server->finish(id, keep);
  }
  void on_gone(ConnectionId) override {}
  void on_progress(ConnectionId, std::uint64_t) override {}
  Instant on_turn(Instant) override {
    ++turns_;
    turns_.notify_all();
    return Instant::max();
  }
  // Returns when what is sent now is read behind the sweep that the moved clock asks for.
  void wait_for_sweep() const {
    for (unsigned turn = turns_; turn < swept_at_turn_; turn = turns_) turns_.wait(turn);
  }

 private:
  std::atomic<unsigned> turns_ = 0;
  std::atomic<unsigned> swept_at_turn_ = 0;
};

void get(Client& client, std::string_view path) {
  client.send(format("GET {} HTTP/1.1\r\nHost: h\r\n\r\n", path));
  EXPECT_TRUE(client.read_to("\r\n\r\n").ends_with("\r\n\r\n")) << path;
}

TEST(HttpServer, an_idle_connection_ends_after_its_time_and_a_closed_one_two_seconds_later) {
  MovingService service;
  auto listener = listen_on(*Address::numeric("127.0.0.1", 0), {});
  ASSERT_TRUE(listener);
  const Address address = *local_address(*listener);
  auto server = HttpServer::open(std::move(*listener), {.idle_max = 10_s}, service, service.clock);
  ASSERT_TRUE(server);
  service.server = server->get();
  std::thread thread([&] { (*server)->run(); });
  Client idle(address);
  get(idle, "/0");
  Client closed(address);  // its peer does not close in return
  get(closed, "/close");
  Client asks(address);
  for (const char* path : {"/2000", "/1000", "/7000", "/1000", "/0"}) {
    get(asks, path);
    service.wait_for_sweep();
  }
  EXPECT_EQ(idle.read_all(), "<end>");
  (*server)->stop();
  thread.join();
  // At the start; 2 s later; 3 s, when the closed one has lingered for more than 2; 10 s; and 11 s,
  // when the idle one has waited for more than 10.
  EXPECT_EQ(service.lives, (std::vector<std::string>{"", "x", "xx", "xxx", "x-x", "x-x", "--x"}));
  EXPECT_EQ(service.counts, (std::vector<std::size_t>{1, 2, 3, 3, 2, 2, 1}));
}

// On a clock that the test moves between turns.
class HttpServerSweeps : public HttpServerCalls {
 protected:
  // The instant that many ms after the beginning has come, and the server has looked since.
  std::function<bool()> at(int ms) {
    return [this, ms, turns = 0]() mutable {
      const Instant then = begun + 1_ms * ms;
      if (sim.now() < then) sim.sleep_until(then);
      return ++turns == 4;
    };
  }
  static std::function<bool()> once(std::function<void()> act) {
    return [act = std::move(act)] {
      act();
      return true;
    };
  }
  std::function<bool()> lives(bool whether) {
    return once([this, whether] {
      EXPECT_EQ(server->connections(), whether ? 1U : 0U)
          << (sim.now() - begun).seconds() << " s after the beginning";
    });
  }
  std::function<bool()> asked_once() {
    return [this] { return has_asked(1); };
  }

  SimClock sim{};
  Instant begun = Instant{} + 1000_s;
  Caller caller{where};
};

TEST_F(HttpServerSweeps, a_connection_is_idle_since_its_last_reply) {
  sim.sleep_until(begun);
  open_on(sim, {.idle_max = 10_s});
  caller.say(kAsk);
  play({asked_once(), at(6'000), once([&] { server->finish(last(), true); }), at(16'000),
        lives(true), at(17'001), lives(false)});
  EXPECT_TRUE(service.gone.empty());
}

TEST_F(HttpServerSweeps, one_whose_reply_is_under_way_is_not_idle) {
  sim.sleep_until(begun);
  open_on(sim, {.idle_max = 10_s});
  caller.say(kAsk);
  play({asked_once(), at(100'000), lives(true), once([&] { server->upgrade(last()); }), at(200'000),
        lives(true), once([&] { server->close(last()); }), at(202'000), lives(true), at(203'001),
        lives(false)});
  EXPECT_TRUE(service.gone.empty());
}

TEST_F(HttpServerSweeps, a_peer_that_does_not_read_the_end_of_its_reply_has_the_same_time) {
  sim.sleep_until(begun);
  open_on(sim, {.idle_max = 10_s});
  caller.say(kAsk);
  play({asked_once(), at(6'000), once([&] {
          server->send(last(), std::string(kMore, 'a'));
          server->finish(last(), false);
        }),
        at(16'000), lives(true), at(17'001), lives(false)});
}

TEST_F(HttpServerSweeps, a_connection_lingers_since_its_last_byte_went_out) {
  sim.sleep_until(begun);
  open_on(sim, {.idle_max = 10_s});
  caller.say(kAsk);
  play({asked_once(), once([&] {
          server->send(last(), std::string(kMore, 'a'));
          server->finish(last(), false);
        }),
        at(9'000), lives(true),
        [&] {
          caller.hear();
          return caller.ended;
        },
        at(11'000), lives(true), at(12'001), lives(false)});
  EXPECT_EQ(caller.heard.size(), kMore);
}

// It has sent its last byte, and takes the rest of its reply: nothing is left to linger for.
TEST_F(HttpServerSweeps, a_peer_that_ended_its_side_is_gone_with_the_end_of_its_reply) {
  sim.sleep_until(begun);
  open_on(sim, {.idle_max = 10_s});
  caller.say(kAsk);
  play({asked_once(), once([&] {
          server->send(last(), std::string(kMore, 'a'));
          server->finish(last(), true);
        }),
        once([&] { ::shutdown(caller.fd.get(), SHUT_WR); }), at(1), lives(true),
        [&] {
          caller.hear();
          return caller.ended;
        },
        at(2), lives(false)});
  EXPECT_EQ(caller.heard.size(), kMore);
}

TEST_F(HttpServerSweeps, one_that_does_not_shake_hands_is_idle) {
  const TlsContext context = *TlsContext::self_signed_server(nullptr, false);
  sim.sleep_until(begun);
  open_on(sim, {.idle_max = 10_s, .tls = &context});
  play({[&] { return server->connections() == 1; }, at(10'000), lives(true), at(11'001),
        lives(false)});
}

TEST_F(HttpServerSweeps, a_connection_of_http2_is_idle_without_streams) {
  sim.sleep_until(begun);
  open_on(sim, {.idle_max = 10_s, .http2 = true});
  caller.say("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + settings() +
             head(1,
                  literal(":method", "GET") + literal(":scheme", "http") +
                      literal(":authority", "h") + literal(":path", "/"),
                  kEndHeaders | kEndStream));
  play({asked_once(), at(100'000), lives(true), once([&] { server->reset(last()); }), at(101'001),
        lives(false)});
  EXPECT_TRUE(service.gone.empty());
}

}  // namespace
}  // namespace assay::net
