// What a server makes of peers and services at the edges: what comes at the same instant, in single
// bytes, behind what is under way, and at an end.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/testing_temp_folder.h"
#include "net/http2_client.h"
#include "net/testing_http2.h"
#include "net/testing_memory.h"
#include "net/testing_played_server.h"

namespace assay::net {
namespace {

class HttpServerEdges : public HttpServerCalls {
 protected:
  static std::function<bool()> done(std::function<void()> act) {
    return [act = std::move(act)] {
      act();
      return true;
    };
  }
};

TEST_F(HttpServerEdges, each_part_that_the_kernel_takes_is_told) {
  open();
  Caller caller(where);
  caller.say(kAsk);
  const std::string bytes(4 * kMore, 'a');
  play({[&] { return has_asked(1); },
        done([&] { EXPECT_EQ(server->send(last(), bytes), HttpServer::Sent::queued); }),
        [&] { return caller.hear().size() == bytes.size(); },
        [&] { return server->handed(last()) == bytes.size(); }});
  ASSERT_GT(service.progress.size(), 1U);
  EXPECT_LT(service.progress.front().second, bytes.size());
  EXPECT_EQ(service.progress.back().second, bytes.size());
}

TEST_F(HttpServerEdges, the_memory_of_a_queue_is_given_back_once_all_is_out) {
  open();
  Caller caller(where);
  caller.say(kAsk);
  std::ptrdiff_t before = 0;
  play({[&] { return has_asked(1); }, done([&] {
          before = heap_bytes();
          server->send(last(), std::string(4 * kMore, 'a'));
        }),
        [&] { return caller.hear().size() == 4 * kMore; },
        [&] { return server->handed(last()) == 4 * kMore; }, done([&] {
          std::string().swap(caller.heard);
          EXPECT_LT(heap_bytes(), before + static_cast<std::ptrdiff_t>(kMore / 2));
        })});
}

TEST_F(HttpServerEdges, what_comes_as_the_queue_is_taken_is_read_too) {
  open();
  Caller caller(where);
  caller.say(kAsk);
  play({[&] { return has_asked(1); }, done([&] {
          server->upgrade(last());
          EXPECT_EQ(server->send(last(), std::string(kMore, 'a')), HttpServer::Sent::queued);
        }),
        // One event has both: the room and the byte.
        done([&] {
          while (caller.hear().size() < kMore / 2) {
          }
          caller.say("x");
        }),
        [&] { return caller.hear().size() == kMore; }, [&] { return service.bytes == "x"; }});
}

TEST_F(HttpServerEdges, requests_that_wait_are_answered_before_what_comes_later) {
  open();
  Caller caller(where);
  caller.say(std::string(kAsk) + std::string(kAsk) + std::string(kAsk));
  const auto answer = [&](std::size_t number) {
    return [this, number] {
      if (!has_asked(number)) return false;
      server->send(last(), std::to_string(number));
      server->finish(last(), true);
      return true;
    };
  };
  play({[&] { return has_asked(1); }, done([&] { caller.say(kAsk); }), answer(1), answer(2),
        answer(3), answer(4), [&] { return caller.hear() == "1234"; }});
}

TEST_F(HttpServerEdges, a_connection_is_kept_only_where_its_request_asks_for_it) {
  open();
  Caller one(where);
  one.say("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  Caller other(where);
  play({[&] { return has_asked(1); }, done([&] {
          server->send(last(), "a");
          server->finish(last(), true);
        }),
        [&] {
          one.hear();
          return one.ended;
        },
        done([&] { other.say(kAsk); }), [&] { return has_asked(2); }, done([&] {
          server->finish(last(), true);
          other.say("GET / HTTP/1.0\r\n\r\n");
        }),
        [&] { return has_asked(3); }, done([&] { server->finish(last(), true); }),
        [&] {
          other.hear();
          return other.ended;
        }});
}

TEST_F(HttpServerEdges, a_service_may_reset_a_connection_as_it_gets_its_bytes) {
  open();
  Caller caller(where);
  caller.say(kAsk);
  service.when_bytes = [&] { server->reset(last()); };
  play({[&] { return has_asked(1); }, done([&] {
          server->upgrade(last());
          caller.say("x");
        }),
        [&] { return !service.bytes.empty(); }, done([&] {
          EXPECT_EQ(server->connections(), 0U);
          EXPECT_TRUE(service.gone.empty()) << "the service did it";
        })});
}

TEST_F(HttpServerEdges, a_place_that_a_reset_left_is_given_to_one_connection) {
  open();
  std::vector<Caller> callers;
  callers.emplace_back(where).say(kAsk);
  service.when_bytes = [&] { server->reset(last()); };
  play({[&] { return has_asked(1); }, done([&] {
          server->upgrade(last());
          callers[0].say("x");
        }),
        [&] { return !service.bytes.empty(); }, done([&] {
          callers.emplace_back(where).say(kAsk);
          callers.emplace_back(where).say(kAsk);
        }),
        [&] { return has_asked(3); }, done([&] {
          EXPECT_NE(slot_of(service.asked[1]), slot_of(service.asked[2]));
          EXPECT_EQ(server->connections(), 2U);
        })});
}

// Over a Unix socket the kernel takes a small message whole or not at all.
TEST_F(HttpServerEdges, a_message_of_which_the_kernel_takes_nothing_waits_whole) {
  const TempFolder folder;
  where = Address::unix_path((folder.path() / "s").string()).value();
  listener = listen_on(where, {}).value();
  open();
  Caller caller(where);
  caller.say(kAsk);
  std::string said;
  play({[&] { return has_asked(1); }, done([&] {
          for (int i = 0; i < 100'000; ++i) {
            const std::string piece(1000, static_cast<char>('a' + i % 26));
            said += piece;
            if (server->send(last(), piece) != HttpServer::Sent::handed) break;
          }
          EXPECT_EQ(server->accepted(last()), said.size());
          EXPECT_EQ(server->handed(last()), said.size() - 1000);
          const std::string_view parts[] = {"one", "", "two"};
          EXPECT_EQ(server->send(last(), parts), HttpServer::Sent::queued);
          said += "onetwo";
        }),
        [&] { return caller.hear().size() >= said.size(); }});
  EXPECT_TRUE(caller.heard == said);
  EXPECT_EQ(server->handed(last()), said.size());
}

TEST_F(HttpServerEdges, a_queue_of_one_byte_is_a_queue) {
  const TempFolder folder;
  where = Address::unix_path((folder.path() / "s").string()).value();
  listener = listen_on(where, {}).value();
  open();
  Caller caller(where);
  caller.say(kAsk);
  std::size_t said = 0;
  play({[&] { return has_asked(1); }, done([&] {
          do ++said;
          while (server->send(last(), "x") == HttpServer::Sent::handed);
          EXPECT_EQ(server->handed(last()), said - 1);
          EXPECT_EQ(server->send(last(), "y"), HttpServer::Sent::queued);
        }),
        [&] { return caller.hear().size() >= said + 1; }});
  EXPECT_TRUE(caller.heard == std::string(said, 'x') + "y");
}

TEST_F(HttpServerEdges, what_waits_counts_without_what_is_out) {
  open({.pending_bytes_max = 3 * kMore});
  Caller caller(where);
  caller.say(kAsk);
  play({[&] { return has_asked(1); },
        done([&] { server->send(last(), std::string(3 * kMore, 'a')); }),
        [&] { return caller.hear().size() > kMore; }, [&] { return !service.progress.empty(); },
        // Much of the first is out: so much more may wait.
        done([&] {
          const std::size_t waiting = 3 * kMore - server->handed(last());
          EXPECT_LT(waiting, 3 * kMore);
          EXPECT_EQ(server->send(last(), std::string(3 * kMore - waiting, 'b')),
                    HttpServer::Sent::queued);
          EXPECT_EQ(server->send(last(), "c"), HttpServer::Sent::queued);
          EXPECT_EQ(server->send(last(), "d"), HttpServer::Sent::gone);
        })});
}

TEST_F(HttpServerEdges, a_turn_begins_at_the_instant_that_the_clock_shows) {
  SimClock sim;
  sim.sleep_until(Instant{} + 100_s);
  open_on(sim, {});
  std::vector<Instant> turns;
  play({done([&] { turns.push_back(server->turn_start()); }),
        done([&] { sim.sleep_until(Instant{} + 200_s); }),
        done([&] { turns.push_back(server->turn_start()); })});
  EXPECT_EQ(turns, (std::vector<Instant>{Instant{} + 100_s, Instant{} + 200_s}));
}

// A clock whose second reading lies an hour before the first: a wait that starts then is long.
class ClockSetBack final : public Clock {
 public:
  Instant now() const override { return Instant{} + (readings_++ == 0 ? 7200_s : 3600_s); }
  void sleep_until(Instant) override {}
  Duration spin_window() const override { return {}; }

 private:
  mutable int readings_ = 0;
};

class WaitingService final : public HttpService {
 public:
  void on_request(ConnectionId, const RequestHead&, std::string_view) override {}
  void on_gone(ConnectionId) override {}
  void on_progress(ConnectionId, std::uint64_t) override {}
  Instant on_turn(Instant) override { return Instant::max(); }
};

TEST_F(HttpServerEdges, a_stop_wakes_a_server_that_waits) {
  const ClockSetBack back;
  WaitingService waiting;
  const auto other = HttpServer::open(std::move(listener), {}, waiting, back).value();
  std::thread thread([&] { other->run(); });
  other->stop();
  thread.join();
}

// A clock on which most of a second passes with each reading.
class HastyClock final : public Clock {
 public:
  Instant now() const override { return Instant{} + 999_ms * ++readings_; }
  void sleep_until(Instant) override {}
  Duration spin_window() const override { return {}; }

 private:
  mutable std::int64_t readings_ = 0;
};

TEST_F(HttpServerEdges, an_idle_connection_ends_though_the_service_waits_for_nothing) {
  const HastyClock hasty;
  WaitingService waiting;
  const auto other =
      HttpServer::open(std::move(listener), {.idle_max = 20_s}, waiting, hasty).value();
  const Fd idle = start_connect(where).value();
  std::thread thread([&] { other->run(); });
  pollfd entry{.fd = idle.get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&entry, 1, 30'000), 1);
  char byte = 0;
  EXPECT_EQ(::recv(idle.get(), &byte, 1, 0), 0);
  other->stop();
  thread.join();
}

TEST_F(HttpServerEdges, a_descriptor_of_the_service_may_have_the_key_0) {
  class Watching final : public HttpService {
   public:
    void on_request(ConnectionId, const RequestHead&, std::string_view) override {}
    void on_gone(ConnectionId) override {}
    void on_progress(ConnectionId, std::uint64_t) override {}
    Instant on_turn(Instant now) override {
      if (++turns == 10'000) server->stop();
      return now + 1_ms;
    }
    void on_descriptor(std::uint32_t key, std::uint32_t) override {
      keys.push_back(key);
      server->stop();
    }
    HttpServer* server = nullptr;
    std::vector<std::uint32_t> keys{};
    int turns = 0;
  };
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const Fd one(ends[0]);
  const Fd two(ends[1]);
  Watching watching;
  const auto other = HttpServer::open(std::move(listener), {}, watching, clock).value();
  watching.server = other.get();
  ASSERT_TRUE(other->watch(one, 0));
  other->run();
  EXPECT_EQ(watching.keys, std::vector<std::uint32_t>{0});
}

TEST_F(HttpServerEdges, a_preface_that_comes_with_the_end_of_the_handshake_is_read) {
  const TlsContext context = *TlsContext::self_signed_server(nullptr, true);
  const TlsContext asks = *TlsContext::client({.insecure = true, .offer_http2 = true});
  open({.tls = &context});
  Caller caller(where);
  TlsSession session(asks, "localhost");
  play({[&] {
          const bool whole = session.handshake() == TlsSession::Step::done;
          const std::string request = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + settings() +
                                      head(1,
                                           literal(":method", "GET") + literal(":scheme", "https") +
                                               literal(":authority", "h") + literal(":path", "/"),
                                           kEndHeaders | kEndStream);
          EXPECT_TRUE(!whole || session.write(request));
          caller.say(session.output());
          session.consume(session.output().size());
          caller.hear();
          session.feed(std::exchange(caller.heard, {}));
          return whole;
        },
        [&] { return has_asked(1); }});
}

TEST_F(HttpServerEdges, the_place_of_a_stream_that_has_ended_is_taken_again) {
  open({.http2 = true});
  Caller caller(where);
  const auto asks = [](std::uint32_t stream) {
    return head(stream,
                literal(":method", "GET") + literal(":scheme", "http") +
                    literal(":authority", "h") + literal(":path", "/"),
                kEndHeaders | kEndStream);
  };
  caller.say("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + settings() + asks(1));
  play({[&] { return has_asked(1); }, done([&] {
          server->reset(last());
          caller.say(asks(3));
        }),
        [&] { return has_asked(2); }, done([&] {
          EXPECT_EQ(slot_of(service.asked[0]), slot_of(service.asked[1]));
          server->send(last(), "HTTP/1.1 204 No Content\r\n\r\n");
          server->finish(last(), true);
          caller.say(asks(5));
        }),
        [&] { return has_asked(3); }, done([&] {
          EXPECT_EQ(slot_of(service.asked[0]), slot_of(service.asked[2]));
          EXPECT_NE(service.asked[0], service.asked[2]);
        })});
}

// What a closed connection has not read would make the kernel reset it at the end.
TEST_F(HttpServerEdges, what_came_behind_the_last_request_resets_nothing) {
  SimClock sim;
  sim.sleep_until(Instant{} + 1000_s);
  open_on(sim, {});
  Caller caller(where);
  caller.say(kAsk);
  int turns = 0;
  play({[&] { return has_asked(1); }, done([&] { caller.say(std::string(100'000, 'x')); }),
        [&] { return ++turns == 5; }, done([&] {
          server->send(last(), "bye");
          server->finish(last(), false);
        }),
        [&] { return ++turns == 10; }, done([&] { sim.sleep_until(Instant{} + 1010_s); }),
        [&] { return server->connections() == 0; },
        [&] {
          caller.hear();
          return caller.ended || caller.reset;
        }});
  EXPECT_EQ(caller.heard, "bye");
  EXPECT_TRUE(caller.ended);
  EXPECT_FALSE(caller.reset);
}

}  // namespace
}  // namespace assay::net
