// What a service may do with a stream of HTTP/2 at any time.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "net/http2_client.h"
#include "net/http2_server.h"
#include "net/testing_http2.h"
#include "net/testing_played_server.h"

namespace assay::net {
namespace {

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

class HttpServerStreams : public HttpServerCalls {};

constexpr std::string_view kOpenHead = "HTTP/1.1 200 OK\r\n\r\n";

TEST_F(HttpServerStreams, a_stream_is_told_what_went_out_and_its_connection_stays) {
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
          return true;
        },
        [&] {
          caller.hear();
          return caller.ends == std::vector<std::uint32_t>{0};
        },
        [&] {
          caller.ask();
          return true;
        },
        [&] { return has_asked(2); }});
  EXPECT_EQ(service.progress.size(), 1U);
  EXPECT_EQ(service.progress[0],
            std::pair(service.asked[0], std::uint64_t{kOpenHead.size() + kMore}));
  EXPECT_TRUE(service.gone.empty());
}

TEST_F(HttpServerStreams, each_stream_is_told_what_went_out_each_time) {
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

TEST_F(HttpServerStreams, the_first_bytes_tell_the_protocol_however_they_are_cut) {
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

TEST_F(HttpServerStreams, a_stream_whose_peer_does_not_read_is_reset_beyond_the_limit) {
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

// The frames that open a connection, and a request on a stream of it.
std::string first_frames(std::string_view its_settings) {
  return "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + settings(its_settings);
}
std::string ask_on(std::uint32_t stream) {
  return head(stream,
              literal(":method", "GET") + literal(":scheme", "http") + literal(":authority", "h") +
                  literal(":path", "/"),
              kEndHeaders | kEndStream);
}
std::string open_window(std::uint32_t stream, std::uint32_t bytes) {
  return frame(Http2FrameType::window_update, 0, stream, big_endian(bytes));
}

TEST_F(HttpServerStreams, what_the_peers_window_holds_back_is_told_once_the_window_has_opened) {
  using Sent = HttpServer::Sent;
  open({.http2 = true});
  Caller caller(where);
  caller.say(first_frames(setting(kInitialWindow, 5)) + ask_on(1));
  play({[&] { return has_asked(1); },
        [&] {
          EXPECT_EQ(server->send(last(), kOpenHead), Sent::handed);
          EXPECT_EQ(server->send(last(), "12345"), Sent::handed);
          EXPECT_EQ(server->send(last(), "6"), Sent::queued);
          EXPECT_EQ(server->handed(last()), kOpenHead.size() + 5);
          caller.say(ask_on(3));
          return true;
        },
        [&] { return has_asked(2); },
        [&] {
          EXPECT_TRUE(service.progress.empty()) << "the frame opened no window";
          EXPECT_EQ(server->send(service.asked[0], "789"), Sent::queued);
          caller.say(open_window(1, 3));
          return true;
        },
        [&] { return caller.hear().ends_with(data(1, "678")); },
        [&] {
          EXPECT_TRUE(service.progress.empty()) << "one byte waits";
          caller.say(open_window(1, 100));
          return true;
        },
        [&] { return caller.hear().ends_with(data(1, "9")) && !service.progress.empty(); },
        [&] {
          EXPECT_EQ(server->handed(service.asked[0]), kOpenHead.size() + 9);
          EXPECT_EQ(server->send(service.asked[0], std::string(100, 'x')), Sent::queued);
          caller.say(open_window(1, 1));
          return true;
        },
        [&] { return service.progress.size() == 2; }});
  EXPECT_EQ(service.progress,
            (std::vector{std::pair(service.asked[0], std::uint64_t{kOpenHead.size() + 9}),
                         std::pair(service.asked[0], std::uint64_t{kOpenHead.size() + 109})}));
}

TEST_F(HttpServerStreams, what_waits_for_the_peers_window_is_bounded) {
  using Sent = HttpServer::Sent;
  open({.pending_bytes_max = 100, .http2 = true});
  Caller caller(where);
  caller.say(first_frames(setting(kInitialWindow, 0)) + ask_on(1) + ask_on(3));
  play({[&] { return has_asked(2); },
        [&] {
          const ConnectionId id = service.asked[0];
          EXPECT_EQ(server->send(id, kOpenHead), Sent::handed);
          EXPECT_EQ(server->send(id, std::string(100, 'x')), Sent::queued);
          EXPECT_EQ(server->send(id, "y"), Sent::queued) << "what waits is at the limit";
          EXPECT_EQ(server->send(id, "z"), Sent::gone);
          EXPECT_FALSE(server->alive(id));
          EXPECT_EQ(server->send(last(), kOpenHead), Sent::handed);
          EXPECT_EQ(server->send(last(), "ab"), Sent::queued);
          caller.say(open_window(3, 1));
          return true;
        },
        [&] { return caller.hear().ends_with(data(3, "a")); },
        [&] {
          caller.say(open_window(3, 1));
          return true;
        },
        [&] { return caller.hear().ends_with(data(3, "b")); }});
  EXPECT_EQ(service.progress,
            (std::vector{std::pair(last(), std::uint64_t{kOpenHead.size() + 2})}));
  EXPECT_TRUE(service.gone.empty());
}

TEST_F(HttpServerStreams, frames_that_break_the_protocol_end_the_connection_with_a_reason) {
  open({.http2 = true});
  Caller caller(where);
  caller.say(first_frames("") + ask_on(1) + data(0, "x"));  // DATA belongs to a stream
  play({[&] {
          caller.hear();
          return caller.ended;
        },
        [&] {
          caller.fd.reset();
          return true;
        },
        [&] { return server->connections() == 0; }});
  // The type of GOAWAY, no flags, no stream.
  EXPECT_NE(caller.heard.find(std::string("\x07\0\0\0\0\0", 6)), std::string::npos);
}

TEST_F(HttpServerStreams, those_of_a_peer_that_resets_as_it_is_answered_are_gone_once) {
  open({.http2 = true});
  Caller caller(where);
  caller.say(first_frames("") + ask_on(1) + ask_on(3) + ask_on(5));
  service.when_asked = [&] {
    if (!has_asked(2)) return;
    set_reset_on_close(caller.fd);
    caller.fd.reset();
    EXPECT_EQ(server->send(last(), kOpenHead), HttpServer::Sent::gone);
    EXPECT_FALSE(server->alive(last()));
    EXPECT_EQ(server->send(last(), kOpenHead), HttpServer::Sent::gone);
  };
  std::vector<Http2Caller> others;
  play({[&] { return !service.gone.empty(); },
        [&] {
          EXPECT_EQ(server->connections(), 0U);
          for (int i = 0; i < 2; ++i) others.emplace_back(where).ask();
          return true;
        },
        [&] { return has_asked(4); },
        [&] {
          EXPECT_EQ(server->connections(), 2U);
          EXPECT_NE(slot_of(service.asked[2]), slot_of(service.asked[3]));
          return true;
        }});
  EXPECT_EQ(service.gone, std::vector<ConnectionId>{service.asked[0]})
      << "of the other the result has said it, and the third was not asked";
}

TEST_F(HttpServerStreams, one_is_not_told_while_its_connections_socket_holds_bytes_back) {
  open({.http2 = true});
  Caller caller(where);
  caller.say(first_frames(setting(kInitialWindow, 0x7fffffff)) + open_window(0, 0x7fff0000) +
             ask_on(1));
  play({[&] { return has_asked(1); },
        [&] {
          server->send(last(), kOpenHead);
          const std::string piece(10'000, 'a');
          while (server->send(last(), piece) == HttpServer::Sent::handed) {
          }
          EXPECT_LT(server->handed(last()), server->accepted(last()));
          caller.say(ask_on(3));
          return true;
        },
        [&] { return has_asked(2); },
        [&] {
          EXPECT_TRUE(service.progress.empty());
          return true;
        },
        [&] {
          caller.hear();
          return !service.progress.empty();
        }});
  EXPECT_EQ(service.progress,
            (std::vector{std::pair(service.asked[0], server->accepted(service.asked[0]))}));
}

TEST_F(HttpServerStreams, one_that_is_reset_or_changes_its_protocol_ends_at_once_and_alone) {
  open({.http2 = true});
  Http2Caller caller(where);
  caller.ask();
  caller.ask();
  play({[&] { return has_asked(2); },
        [&] {
          server->reset(service.asked[0]);
          EXPECT_FALSE(server->alive(service.asked[0]));
          return true;
        },
        [&] {
          caller.hear();
          return caller.ends.size() == 1;
        },
        [&] {
          server->upgrade(service.asked[1]);
          EXPECT_FALSE(server->alive(service.asked[1]));
          return true;
        },
        [&] {
          caller.hear();
          return caller.ends.size() == 2;
        },
        [&] {
          caller.ask();
          return true;
        },
        [&] { return has_asked(3); }});
  EXPECT_NE(caller.ends[0], 0U);
  EXPECT_NE(caller.ends[1], 0U);
  EXPECT_EQ(server->connections(), 1U);
  EXPECT_TRUE(service.gone.empty()) << "the service did it";
}

}  // namespace
}  // namespace assay::net
