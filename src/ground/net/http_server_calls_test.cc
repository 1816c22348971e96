// What a service may do with a connection at any time.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "net/testing_played_server.h"

namespace assay::net {
namespace {

TEST_F(HttpServerCalls, those_for_a_connection_that_is_gone_do_nothing) {
  open();
  std::vector<Caller> callers;
  const auto do_all = [&](ConnectionId id) {
    EXPECT_FALSE(server->alive(id));
    EXPECT_EQ(server->send(id, "x"), HttpServer::Sent::gone);
    EXPECT_EQ(server->accepted(id) + server->handed(id), 0U);
    server->prefetch(id);
    server->finish(id, true);
    server->close(id);
    server->reset(id);
    server->upgrade(id);
  };
  ConnectionId first = 0;
  play({[&] {
          for (const ConnectionId id : {ConnectionId{0}, ConnectionId{7}, ConnectionId{1} << 32}) {
            do_all(id);
          }
          callers.emplace_back(where).say(kAsk);
          return true;
        },
        [&] { return has_asked(1); },
        [&] {
          first = last();
          EXPECT_TRUE(server->alive(first));
          EXPECT_EQ(server->connections(), 1U);
          callers[0].fd.reset();
          return true;
        },
        [&] { return !service.gone.empty(); },
        [&] {
          EXPECT_EQ(service.gone, std::vector<ConnectionId>{first});
          EXPECT_EQ(server->connections(), 0U);
          do_all(first);
          callers.emplace_back(where).say(kAsk);
          return true;
        },
        [&] { return has_asked(2); },
        [&] {
          EXPECT_EQ(slot_of(last()), slot_of(first)) << "its place is taken again";
          EXPECT_NE(last(), first);
          do_all(first);
          EXPECT_TRUE(server->alive(last()));
          EXPECT_EQ(server->send(last(), "abc"), HttpServer::Sent::handed);
          EXPECT_EQ(server->accepted(last()), 3U);
          EXPECT_EQ(server->handed(last()), 3U);
          for (const int before : {EPIPE, EINTR}) {  // an error of another call
            errno = before;
            EXPECT_EQ(server->send(last(), ""), HttpServer::Sent::handed);
          }
          return true;
        },
        [&] { return callers[1].hear() == "abc"; }});
  EXPECT_EQ(service.gone.size(), 1U);
}

TEST_F(HttpServerCalls, a_peer_that_does_not_read_is_cut_off_beyond_the_limit) {
  const std::size_t most = std::size_t{8} << 20;
  open({.pending_bytes_max = most});
  Caller caller(where);
  caller.say(kAsk);
  play({[&] { return has_asked(1); },
        [&] {
          using Sent = HttpServer::Sent;
          const ConnectionId id = last();
          EXPECT_EQ(server->send(id, std::string(kMore, 'a')), Sent::queued);
          EXPECT_EQ(server->accepted(id), kMore);
          const std::size_t waiting = kMore - server->handed(id);
          EXPECT_GT(waiting, 0U);
          EXPECT_LT(waiting, kMore);
          EXPECT_EQ(server->send(id, std::string(most - waiting, 'b')), Sent::queued);
          EXPECT_EQ(server->send(id, "c"), Sent::queued) << "what waits is at the limit";
          EXPECT_EQ(server->send(id, "d"), Sent::gone);
          EXPECT_FALSE(server->alive(id));
          EXPECT_EQ(server->connections(), 0U);
          return true;
        },
        [&] {
          caller.hear();
          return caller.reset;
        }});
  EXPECT_TRUE(service.gone.empty()) << "the result has said it";
}

TEST_F(HttpServerCalls, what_was_queued_goes_out_as_the_peer_reads_and_is_told) {
  open();
  Caller caller(where);
  caller.say(kAsk);
  const std::string bytes(kMore, 'a');
  const std::string_view parts[] = {bytes, "b", "cd"};
  play({[&] { return has_asked(1); },
        [&] { return server->send(last(), parts) == HttpServer::Sent::queued; },
        [&] { return caller.hear().size() == kMore + 3; },
        [&] { return server->handed(last()) == kMore + 3; },
        [&] {
          EXPECT_EQ(server->accepted(last()), kMore + 3);
          EXPECT_EQ(server->send(last(), "e"), HttpServer::Sent::handed);
          server->finish(last(), true);
          caller.say(kAsk);
          return true;
        },
        [&] { return has_asked(2) && caller.hear().size() == kMore + 4; }});
  EXPECT_EQ(caller.heard.substr(kMore), "bcde");
  EXPECT_EQ(service.asked[0], service.asked[1]);
  ASSERT_FALSE(service.progress.empty());
  EXPECT_EQ(service.progress.back(), std::pair(last(), std::uint64_t{kMore + 3}));
  EXPECT_TRUE(std::ranges::is_sorted(service.progress));
  EXPECT_TRUE(service.gone.empty());
}

TEST_F(HttpServerCalls, a_peer_that_ends_its_side_is_gone_while_its_reply_is_under_way) {
  open();
  Caller caller(where);
  caller.say(kAsk);
  play({[&] { return has_asked(1); }, [&] { return ::shutdown(caller.fd.get(), SHUT_WR) == 0; },
        [&] { return !service.gone.empty() && !server->alive(last()); },
        [&] {
          caller.hear();
          return caller.ended;
        }});
  EXPECT_EQ(service.gone, service.asked);
}

TEST_F(HttpServerCalls, a_closed_connection_is_ended_and_kept_until_its_peer_ends_it_too) {
  open();
  Caller caller(where);
  caller.say(kAsk);
  const std::string bytes(kMore, 'a');
  play({[&] { return has_asked(1); },
        [&] {
          EXPECT_EQ(server->send(last(), bytes), HttpServer::Sent::queued);
          server->finish(last(), false);
          EXPECT_TRUE(server->alive(last())) << "the rest is to go out";
          caller.say(kAsk);  // which no reader takes
          return true;
        },
        [&] { return caller.hear().size() == kMore && caller.ended; },
        [&] {
          EXPECT_EQ(server->connections(), 1U);
          caller.fd.reset();
          return true;
        },
        [&] { return server->connections() == 0; }});
  EXPECT_EQ(service.asked.size(), 1U);
  EXPECT_TRUE(service.gone.empty());
  EXPECT_TRUE(service.progress.empty()) << "the service has done with it";
}

TEST_F(HttpServerCalls, a_reply_that_ends_in_the_turn_of_another_lets_its_next_request_come) {
  open();
  Caller first(where);
  Caller second(where);
  service.when_asked = [&] {
    if (has_asked(3)) server->finish(service.asked[0], true);
  };
  play({[&] {
          first.say(std::string(kAsk) + std::string(kAsk));
          return true;
        },
        [&] { return has_asked(1); },
        [&] {
          second.say(std::string(kAsk) + std::string(kAsk));
          return true;
        },
        [&] { return has_asked(2); },
        [&] {
          server->finish(last(), true);
          return true;
        },
        [&] { return has_asked(4); }});
  EXPECT_EQ(service.asked[3], service.asked[0]);
}

TEST_F(HttpServerCalls, one_that_is_reset_as_it_asks_is_gone_once) {
  open();
  std::vector<Caller> callers;
  callers.emplace_back(where).say(kAsk);
  service.when_asked = [&] {
    if (has_asked(1)) server->reset(last());
  };
  play({[&] {
          callers[0].hear();
          return callers[0].reset;
        },
        [&] {
          EXPECT_EQ(server->connections(), 0U);
          for (int i = 0; i < 2; ++i) callers.emplace_back(where).say(kAsk);
          return true;
        },
        [&] { return has_asked(3); },
        [&] {
          EXPECT_EQ(server->connections(), 2U);
          return true;
        }});
  EXPECT_NE(slot_of(service.asked[1]), slot_of(service.asked[2]));
  EXPECT_TRUE(service.gone.empty());
}

TEST_F(HttpServerCalls, a_request_that_is_refused_ends_its_connection) {
  open();
  Caller caller(where);
  caller.say("GET /x HTTP/9.9\r\n\r\n");
  play({[&] {
          caller.hear();
          return caller.ended;
        },
        [&] {
          EXPECT_EQ(server->connections(), 1U) << "until its peer ends it too";
          caller.fd.reset();
          return true;
        },
        [&] { return server->connections() == 0; }});
  EXPECT_TRUE(caller.heard.starts_with("HTTP/1.1 505 ")) << caller.heard;
  EXPECT_NE(caller.heard.find("\r\nConnection: close\r\n"), std::string::npos) << caller.heard;
  EXPECT_TRUE(service.asked.empty() && service.gone.empty());
}

TEST_F(HttpServerCalls, a_connection_that_finds_no_descriptor_is_taken_when_another_has_ended) {
  open();
  Caller first(where);
  first.say(kAsk);
  std::vector<Caller> more;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  int waited = 0;
  play({[&] { return has_asked(1); },
        [&] {
          more.emplace_back(where).say(kAsk);
          more.emplace_back(where).say(kAsk);
          const int next = ::dup(first.fd.get());
          ::close(next);
          const rlimit none{.rlim_cur = static_cast<rlim_t>(next), .rlim_max = before.rlim_max};
          return ::setrlimit(RLIMIT_NOFILE, &none) == 0;
        },
        [&] { return ++waited == 5; },
        [&] {
          EXPECT_TRUE(has_asked(1));
          server->reset(last());
          return true;
        },
        [&] { return has_asked(2); }, [&] { return ::setrlimit(RLIMIT_NOFILE, &before) == 0; },
        [&] {
          server->reset(last());
          return true;
        },
        [&] { return has_asked(3); }});
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_TRUE(service.gone.empty());
}

TEST_F(HttpServerCalls, over_tls_a_reply_is_out_when_its_last_record_is) {
  const TlsContext context = *TlsContext::self_signed_server(nullptr, false);
  const TlsContext asks = *TlsContext::client({.insecure = true});
  open({.tls = &context});
  Caller caller(where);
  TlsSession session(asks, "localhost");
  std::string text;
  const auto move = [&] {
    caller.say(session.output());
    session.consume(session.output().size());
    caller.hear();
    session.feed(std::exchange(caller.heard, {}));
  };
  play({[&] {
          const bool done = session.handshake() == TlsSession::Step::done;
          EXPECT_TRUE(!done || session.write(kAsk));
          move();
          return done;
        },
        [&] { return has_asked(1); },
        [&] {
          EXPECT_EQ(server->send(last(), std::string(kMore, 'a')), HttpServer::Sent::queued);
          EXPECT_EQ(server->accepted(last()), kMore);
          EXPECT_EQ(server->handed(last()), 0U) << "known when all of it is out";
          return true;
        },
        [&] {
          move();
          std::string room(64 * 1024, '\0');
          for (std::ptrdiff_t n; (n = session.read(room.data(), room.size())) > 0;) {
            text.append(room, 0, static_cast<std::size_t>(n));
          }
          return text.size() == kMore && server->handed(last()) == kMore;
        },
        [&] {
          EXPECT_EQ(server->send(last(), "b"), HttpServer::Sent::handed);
          EXPECT_EQ(server->handed(last()), kMore + 1);
          server->finish(last(), true);
          // In two records, of which the last holds one byte.
          const std::size_t most = kAsk.size() - 1;
          EXPECT_TRUE(session.write(kAsk.substr(0, most)) && session.write(kAsk.substr(most)));
          move();
          return true;
        },
        [&] { return has_asked(2); },
        [&] {
          server->finish(last(), true);
          caller.say(std::string("\x17\x03\x03\0\x10", 5) + std::string(16, 'x'));
          return true;
        },
        [&] { return server->connections() == 0; }});
  EXPECT_EQ(text, std::string(kMore, 'a'));
  ASSERT_FALSE(service.progress.empty());
  EXPECT_EQ(service.progress.back(), std::pair(service.asked[0], std::uint64_t{kMore}));
  EXPECT_TRUE(service.gone.empty()) << "no reply was under way";
}

TEST_F(HttpServerCalls, what_is_no_handshake_ends_its_connection_and_is_no_request) {
  const TlsContext context = *TlsContext::self_signed_server(nullptr, false);
  open({.tls = &context});
  Caller caller(where);
  caller.say(std::string("\x16\x03\x01\0\x05hello", 10));
  play({[&] {
          caller.hear();
          return caller.ended || caller.reset;
        },
        [&] { return server->connections() == 0; }});
  EXPECT_EQ(caller.heard.substr(0, 1), "\x15") << "the alert with the reason";
  EXPECT_TRUE(service.asked.empty() && service.gone.empty());
}

TEST_F(HttpServerCalls, what_the_kernel_takes_in_parts_arrives_whole_and_in_order) {
  open();
  Caller caller(where);
  std::string reply(kMore, '\0');
  for (std::size_t i = 0; i < reply.size(); ++i) reply[i] = static_cast<char>(i % 251);
  play({[&] {
          caller.say(kAsk);
          return true;
        },
        [&] { return has_asked(1); },
        [&] { return server->send(last(), reply) == HttpServer::Sent::queued; },
        [&] { return caller.hear().size() >= kMore; }});
  EXPECT_TRUE(caller.heard == reply);
  EXPECT_EQ(server->handed(last()), kMore);
}

TEST_F(HttpServerCalls, what_comes_before_a_connection_changes_its_protocol_is_passed_on_then) {
  open();
  Caller with_it(where);
  Caller behind_it(where);
  play({[&] {
          with_it.say(std::string(kAsk) + "one");
          return true;
        },
        [&] { return has_asked(1); },
        [&] {
          behind_it.say(kAsk);
          return true;
        },
        [&] { return has_asked(2); },
        [&] {
          EXPECT_EQ(service.bytes, "");
          server->upgrade(service.asked[0]);
          behind_it.say("two");
          return true;
        },
        [&] { return service.bytes == "one"; },
        [&] {
          server->upgrade(service.asked[1]);
          return true;
        },
        [&] { return service.bytes == "onetwo"; },
        [&] {
          with_it.say("three");
          return true;
        },
        [&] { return service.bytes == "onetwothree"; },
        [&] {
          EXPECT_TRUE(service.gone.empty());
          with_it.fd.reset();
          behind_it.fd.reset();
          return true;
        },
        [&] { return server->connections() == 0; }});
  EXPECT_EQ(service.gone.size(), 2U);
}

TEST_F(HttpServerCalls, a_send_to_a_peer_that_has_reset_says_so_itself) {
  const TlsContext context = *TlsContext::self_signed_server(nullptr, false);
  const TlsContext asks = *TlsContext::client({.insecure = true});
  for (const bool secure : {false, true}) {
    const Fd again = listen_on(Address::numeric("127.0.0.1", 0).value(), {}).value();
    server.reset();
    service = {};
    listener = Fd(::dup(again.get()));
    open({.tls = secure ? &context : nullptr});
    Caller caller(local_address(again).value());
    TlsSession session(asks, "localhost");
    if (!secure) caller.say(kAsk);
    play({[&] {
            if (!secure) return true;
            const bool done = session.handshake() == TlsSession::Step::done;
            EXPECT_TRUE(!done || session.write(kAsk));
            caller.say(session.output());
            session.consume(session.output().size());
            caller.hear();
            session.feed(std::exchange(caller.heard, {}));
            return done;
          },
          [&] { return has_asked(1); },
          [&] {
            set_reset_on_close(caller.fd);
            caller.fd.reset();
            EXPECT_EQ(server->send(last(), "x"), HttpServer::Sent::gone);
            EXPECT_FALSE(server->alive(last()));
            EXPECT_EQ(server->connections(), 0U);
            return true;
          },
          [&] { return true; }, [&] { return true; }});
    EXPECT_TRUE(service.gone.empty()) << "the result has said it";
  }
}

TEST_F(HttpServerCalls, a_flood_of_connections_is_taken_sixteen_at_a_time) {
  open();
  std::vector<Caller> callers;
  for (int i = 0; i < 40; ++i) callers.emplace_back(where);
  std::vector<std::size_t> taken;
  play({[&] {
    // A turn may come between two of them.
    const std::size_t now = server->connections();
    if (taken.empty() || taken.back() != now) taken.push_back(now);
    return now == 40;
  }});
  EXPECT_EQ(taken, (std::vector<std::size_t>{0, 16, 32, 40}));
}

TEST_F(HttpServerCalls, small_writes_do_not_wait_for_the_peers_acknowledgement) {
  open();
  Caller caller(where);
  caller.say(kAsk);
  const std::string mine = local_address(caller.fd)->to_string();
  int without_delay = 0;
  play({[&] { return has_asked(1); },
        [&] {
          // The server's end is a descriptor of this process.
          for (int fd = 0; fd < 1024; ++fd) {
            sockaddr_in peer{};
            socklen_t size = sizeof peer;
            if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0) continue;
            if (format("127.0.0.1:{}", ntohs(peer.sin_port)) != mine) continue;
            int value = 0;
            socklen_t value_size = sizeof value;
            EXPECT_EQ(::getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, &value_size), 0);
            without_delay += value;
          }
          return true;
        }});
  EXPECT_EQ(without_delay, 1);
}

TEST_F(HttpServerCalls, a_turn_comes_when_the_service_asks_for_it) {
  open();
  service.every = 20_ms;
  Caller caller(where);
  caller.say(kAsk);
  std::vector<Instant> turns;
  play({[&] { return has_asked(1); },
        [&] {
          server->finish(last(), true);
          return true;
        },
        [&] {
          turns.push_back(server->turn_start());
          return turns.size() == 11;
        }});
  ASSERT_EQ(turns.size(), 11U);
  for (std::size_t i = 1; i < turns.size(); ++i) {
    EXPECT_GE(turns[i], turns[i - 1] + service.every) << "nothing else was to do before turn " << i;
  }
  EXPECT_LT(turns.back(), turns.front() + 8_s)
      << "the look at idle connections is not a reason to wait";
}

}  // namespace
}  // namespace assay::net
