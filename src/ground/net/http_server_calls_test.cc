// What a service may do with a connection at any time, played in the server's own thread: the test
// is the service, and both ends of each connection.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <string>
#include <vector>

#include "net/http2_client.h"
#include "net/http2_server.h"
#include "net/http_server.h"
#include "net/receive.h"

namespace assay::net {
namespace {

constexpr std::size_t kMore = std::size_t{6} << 20;  // than both ends' kernels hold
constexpr std::string_view kAsk = "GET /x HTTP/1.1\r\nHost: h\r\n\r\n";

// Keeps what is reported to it, and takes a step of the test at each turn: the next one once this
// one returns true.
class PlayedService final : public HttpService {
 public:
  void on_request(ConnectionId id, const RequestHead&, std::string_view) override {
    asked.push_back(id);
    if (when_asked) when_asked();
  }
  void on_gone(ConnectionId id) override { gone.push_back(id); }
  void on_progress(ConnectionId id, std::uint64_t handed) override {
    progress.emplace_back(id, handed);
  }
  Instant on_turn(Instant now) override {
    if (at < steps.size() && steps[at]()) ++at;
    if (at == steps.size() || --turns_left == 0) server->stop();
    return now + 1_ms;
  }
  HttpServer* server = nullptr;
  std::function<void()> when_asked{};
  std::vector<ConnectionId> asked{};
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
  void open(const HttpServerOptions& options = {}) {
    server = HttpServer::open(std::move(listener), options, service, clock).value();
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
          // In two records, of which the first holds one byte.
          EXPECT_TRUE(session.write(kAsk.substr(0, 1)) && session.write(kAsk.substr(1)));
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

// The client's end of one connection of HTTP/2.
class Http2Caller final : public Http2Events {
 public:
  explicit Http2Caller(const Address& to) : line_(to) {}
  void ask() {
    const std::vector<Http2Client::Header> fields{
        {":method", "GET"}, {":scheme", "http"}, {":authority", "h"}, {":path", "/"}};
    client_.submit(fields, "", this);
    push();
  }
  void hear() {
    line_.hear();
    const std::string bytes = std::exchange(line_.heard, {});
    EXPECT_TRUE(client_.feed(bytes)) << client_.error();
    push();
  }
  void on_head(void*, const ResponseHead&) override {}
  void on_body(void*, std::string_view piece, std::size_t) override { body += piece.size(); }
  void on_request_out(void*) override {}
  void on_end(void*, const Http2End& end) override { ends.push_back(end.code); }
  std::size_t body = 0;
  std::vector<std::uint32_t> ends{};

 private:
  void push() {
    for (std::string_view more = client_.output(); !more.empty(); more = client_.output()) {
      line_.say(more);
    }
  }
  Caller line_;
  Http2Client client_{*this};
};

constexpr std::string_view kOpenHead = "HTTP/1.1 200 OK\r\n\r\n";

TEST_F(HttpServerCalls, a_stream_is_told_what_went_out_and_its_connection_stays) {
  open({.http2 = true});
  Http2Caller caller(where);
  caller.ask();
  play({[&] { return has_asked(1); },
        [&] {
          EXPECT_EQ(server->send(last(), kOpenHead), HttpServer::Sent::handed);
          EXPECT_EQ(server->handed(last()), kOpenHead.size());
          EXPECT_EQ(server->send(last(), std::string(kMore, 'a')), HttpServer::Sent::queued);
          EXPECT_EQ(server->accepted(last()), kOpenHead.size() + kMore);
          EXPECT_EQ(server->handed(last()), kOpenHead.size());
          return true;
        },
        [&] {
          caller.hear();
          return caller.body == kMore && !service.progress.empty();
        },
        [&] {
          EXPECT_EQ(server->handed(last()), kOpenHead.size() + kMore);
          server->close(last());
          EXPECT_FALSE(server->alive(last()));
          EXPECT_EQ(server->connections(), 1U);
          caller.ask();
          return true;
        },
        [&] {
          caller.hear();
          return has_asked(2) && caller.ends == std::vector<std::uint32_t>{0};
        }});
  EXPECT_EQ(service.progress.size(), 1U);
  EXPECT_EQ(service.progress[0],
            std::pair(service.asked[0], std::uint64_t{kOpenHead.size() + kMore}));
  EXPECT_TRUE(service.gone.empty());
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

TEST_F(HttpServerCalls, each_stream_is_told_what_went_out_each_time) {
  open({.http2 = true});
  Http2Caller caller(where);
  std::size_t sent = 0;
  const auto all_wait = [&] {
    sent += kMore;
    for (const ConnectionId id : service.asked) {
      EXPECT_EQ(server->send(id, std::string(kMore, 'a')), HttpServer::Sent::queued);
    }
    return true;
  };
  const auto all_are_told = [&](std::size_t times) {
    caller.hear();
    return caller.body == 3 * sent && service.progress.size() == 3 * times;
  };
  play({[&] {
          for (int i = 0; i < 3; ++i) caller.ask();
          return true;
        },
        [&] { return has_asked(3); },
        [&] {
          for (const ConnectionId id : service.asked) server->send(id, kOpenHead);
          return all_wait();
        },
        [&] { return all_are_told(1); }, all_wait, [&] { return all_are_told(2); }});
  for (const ConnectionId id : service.asked) {
    EXPECT_EQ(server->handed(id), kOpenHead.size() + sent);
    EXPECT_EQ(std::ranges::count(service.progress, id, [](const auto& one) { return one.first; }),
              2);
  }
}

TEST_F(HttpServerCalls, the_first_bytes_tell_the_protocol_however_they_are_cut) {
  open({.http2 = true});
  Caller one(where);
  Caller two(where);
  const std::string_view opening = kHttp2Opening;
  const auto say = [](Caller& caller, std::string_view bytes) {
    return [&caller, bytes] {
      EXPECT_EQ(caller.hear(), "");
      caller.say(bytes);
      return true;
    };
  };
  // The body is the first byte of an opening, too.
  play({[&] { return server->connections() == 2; }, say(one, "P"),
        say(one, "UT /x HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\n"), say(one, "P"),
        [&] { return has_asked(1); }, say(two, opening.substr(0, 1)),
        say(two, opening.substr(1, 14)), say(two, opening.substr(15)),
        [&] { return !two.hear().empty(); }});
  EXPECT_FALSE(two.ended);
  EXPECT_FALSE(two.heard.starts_with("HTTP/1.1")) << two.heard;
}

TEST_F(HttpServerCalls, a_stream_whose_peer_does_not_read_is_reset_beyond_the_limit) {
  open({.pending_bytes_max = kMore, .http2 = true});
  Http2Caller caller(where);
  caller.ask();
  std::size_t given = 0;
  play({[&] { return has_asked(1); },
        [&] {
          server->send(last(), kOpenHead);
          const std::string piece(1 << 20, 'a');
          while (given < 8 * kMore && server->send(last(), piece) != HttpServer::Sent::gone) {
            given += piece.size();
          }
          EXPECT_GT(given, kMore);
          EXPECT_LT(given, 3 * kMore);
          EXPECT_FALSE(server->alive(last()));
          EXPECT_EQ(server->connections(), 1U);
          return true;
        },
        [&] {
          caller.hear();
          return !caller.ends.empty();
        }});
  EXPECT_NE(caller.ends[0], 0U);
  EXPECT_TRUE(service.gone.empty()) << "the result has said it";
}

}  // namespace
}  // namespace assay::net
