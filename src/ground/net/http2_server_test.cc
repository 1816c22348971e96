// Http2Server and Http2Reply against Http2Client, in memory.
#include "net/http2_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "net/http2_client.h"
#include "net/http2_reply.h"
#include "net/testing_http2.h"

namespace assay::net {
namespace {

using testing::HasSubstr;

struct HeardReply {
  int status = 0;
  ResponseHead head{};
  std::string body{};
  bool ended = false;
  std::uint32_t code = 0;
  std::int32_t grpc_status = -1;
  std::string grpc_message{};
};

// Both ends of a connection; a client's requests are answered by the test.
class Http2ServerTest : public testing::Test, protected Http2Events {
 protected:
  std::int32_t ask(HeardReply& seen, std::string_view body, std::string_view method = "POST") {
    const std::array<Http2Client::Header, 5> fields{{{":method", method},
                                                     {":scheme", "http"},
                                                     {":authority", "host:1"},
                                                     {":path", "/a?b=1"},
                                                     {"x-own", "value"}}};
    return client_.submit(fields, body, &seen);
  }
  // Moves bytes until none is left; false when the server found the client at fault.
  bool move() {
    bool sound = true;
    for (;;) {
      std::string up;
      for (std::string_view more = client_.output(); !more.empty(); more = client_.output()) {
        up += more;
      }
      for (std::size_t at = 0; at < up.size(); at += step_) {
        sound = server_.feed(std::string_view(up).substr(at, step_)) && sound;
      }
      std::string down;
      for (std::string_view more = server_.output(); !more.empty(); more = server_.output()) {
        down += more;
      }
      if (!down.empty()) client_.feed(down);
      if (up.empty() && down.empty()) return sound;
    }
  }

  void on_head(void* user, const ResponseHead& head) override {
    of(user).status = head.status;
    of(user).head = head;
  }
  void on_body(void* user, std::string_view piece, std::size_t) override { of(user).body += piece; }
  void on_request_out(void*) override {}
  void on_end(void* user, const Http2End& end) override {
    HeardReply& seen = of(user);
    seen.ended = true;
    seen.code = end.code;
    seen.grpc_status = end.grpc_status;
    seen.grpc_message = end.grpc_message;
  }
  static HeardReply& of(void* user) { return *static_cast<HeardReply*>(user); }

  Http2Client client_{*this};
  Http2Server server_{RequestLimits{.head_bytes_max = 4096, .body_bytes_max = 100'000}};
  std::size_t step_ = 1 << 20;
};

TEST_F(Http2ServerTest, its_first_frames_say_what_it_takes) {
  std::string sent;
  for (std::string_view more = server_.output(); !more.empty(); more = server_.output()) {
    sent += more;
  }
  EXPECT_EQ(sent,
            settings(setting(kConcurrentStreams, Http2Server::kStreamsMax) +
                     setting(kInitialWindow, 16 << 20) + setting(kFrameSize, 1 << 20) +
                     setting(kHeadSize, 4096)) +
                frame(Http2FrameType::window_update, 0, 0, big_endian((16 << 20) - kFirstWindow)));
}

TEST_F(Http2ServerTest, takes_a_whole_request_however_its_bytes_are_cut) {
  step_ = 1;
  HeardReply seen;
  const std::int32_t id = ask(seen, "the body");
  EXPECT_EQ(server_.take_request(), nullptr);
  EXPECT_TRUE(move());
  const Http2Request* const request = server_.take_request();
  ASSERT_NE(request, nullptr);
  EXPECT_EQ(request->stream, id);
  EXPECT_EQ(request->head.method, "POST");
  EXPECT_EQ(request->head.target, "/a?b=1");
  EXPECT_EQ(request->head.find("host"), "host:1");
  EXPECT_EQ(request->head.find("x-own"), "value");
  EXPECT_EQ(request->body, "the body");
  EXPECT_EQ(server_.take_request(), nullptr);
  ask(seen, "");
  EXPECT_TRUE(move());
  const Http2Request* const next = server_.take_request();
  ASSERT_NE(next, nullptr);
  EXPECT_EQ(next->head.headers.size(), 2U) << "its own fields alone";
  EXPECT_EQ(next->body, "");
}

TEST_F(Http2ServerTest, a_reply_written_as_http1_comes_with_its_trailers) {
  HeardReply seen;
  const std::int32_t id = ask(seen, "");
  move();
  ASSERT_NE(server_.take_request(), nullptr);
  Http2Reply reply(id, false);
  const std::string bytes =
      "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
      "HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\nA;x=1\r\n0123456789\r\n0\r\ngrpc-status: 5\r\ngrpc-message: none%21\r\n\r\n";
  for (const char c : bytes) reply.feed(std::string_view(&c, 1), server_);
  EXPECT_TRUE(reply.complete());
  move();
  EXPECT_EQ(seen.status, 200);
  EXPECT_EQ(seen.body, "abc0123456789");
  EXPECT_TRUE(seen.ended);
  EXPECT_EQ(seen.code, 0u);
  EXPECT_EQ(seen.grpc_status, 5);
  EXPECT_EQ(seen.grpc_message, "none%21");
  EXPECT_EQ(server_.take_gone(), 0);
}

TEST_F(Http2ServerTest, a_head_that_is_all_ends_the_reply) {
  HeardReply seen;
  const std::int32_t id = ask(seen, "");
  move();
  ASSERT_NE(server_.take_request(), nullptr);
  Http2Reply reply(id, false);
  reply.feed("HTTP/1.1 200 OK\r\ngrpc-status: 16\r\nContent-Length: 0\r\n\r\n", server_);
  EXPECT_TRUE(reply.complete());
  move();
  EXPECT_TRUE(seen.ended);
  EXPECT_EQ(seen.grpc_status, 16);
  EXPECT_EQ(seen.body, "");
}

TEST_F(Http2ServerTest, a_length_and_the_end_of_the_connection_end_a_body_too) {
  HeardReply first;
  HeardReply second;
  const std::int32_t one = ask(first, "");
  const std::int32_t two = ask(second, "");
  move();
  while (server_.take_request() != nullptr) {
  }
  Http2Reply counted(one, false);
  counted.feed("HTTP/1.1 201 Created\r\nContent-Length: 4\r\n\r\nab", server_);
  EXPECT_FALSE(counted.complete());
  counted.feed("cd and more", server_);
  EXPECT_TRUE(counted.complete());
  Http2Reply open(two, false);
  open.feed("HTTP/1.1 200 OK\r\n\r\nto the end", server_);
  open.close(server_);
  move();
  EXPECT_EQ(first.status, 201);
  EXPECT_EQ(first.body, "abcd");
  EXPECT_TRUE(first.ended && first.code == 0);
  EXPECT_EQ(second.body, "to the end");
  EXPECT_TRUE(second.ended && second.code == 0);
}

TEST_F(Http2ServerTest, a_reply_that_is_cut_or_no_http_resets_its_stream_alone) {
  HeardReply cut;
  HeardReply garbage;
  HeardReply whole;
  const std::int32_t one = ask(cut, "");
  const std::int32_t two = ask(garbage, "");
  const std::int32_t three = ask(whole, "");
  move();
  while (server_.take_request() != nullptr) {
  }
  Http2Reply first(one, false);
  first.feed("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", server_);
  move();
  first.close(server_);
  Http2Reply second(two, false);
  second.feed("SMTP ready\r\n\r\n", server_);
  Http2Reply third(three, false);
  third.feed("HTTP/1.1 204 No Content\r\n\r\n", server_);
  move();
  EXPECT_EQ(cut.body, "abc");
  EXPECT_TRUE(cut.ended && cut.code != 0);
  EXPECT_TRUE(garbage.ended && garbage.code != 0);
  EXPECT_TRUE(whole.ended && whole.code == 0);
  EXPECT_EQ(whole.status, 204);
}

TEST_F(Http2ServerTest, only_a_head_and_chunks_of_http1_become_a_reply) {
  struct Row {
    const char* bytes;
    int status;  // 0: the stream is reset
  };
  for (const Row& row : {Row{"SIP/2.0 200 OK\r\n\r\n", 0},
                         {"HTTP/1.1 99 Low\r\n\r\n", 0},
                         {"HTTP/1.1 1000 High\r\n\r\n", 0},
                         {"HTTP/1.1 word\r\n\r\n", 0},
                         {"HTTP/1.1\r\nA: 200\r\n\r\n", 0},
                         {"HTTP/1.0 200 OK\nContent-Length: 0\n\n", 200},
                         {"HTTP/1.1 304 Not Modified\r\n\r\n", 304},
                         {"HTTP/1.1 599 High\r\nContent-Length: 0\r\n\r\n", 599}}) {
    HeardReply seen;
    const std::int32_t id = ask(seen, "");
    move();
    ASSERT_NE(server_.take_request(), nullptr);
    Http2Reply reply(id, false);
    reply.feed(row.bytes, server_);
    EXPECT_TRUE(reply.complete()) << row.bytes;
    move();
    EXPECT_TRUE(seen.ended) << row.bytes;
    EXPECT_EQ(seen.status, row.status) << row.bytes;
    EXPECT_EQ(seen.code == 0, row.status != 0) << row.bytes;
  }
  for (const char* chunk : {"zz\r\n", "\r\n", "-1\r\n", "11111111111111111\r\n"}) {
    HeardReply seen;
    const std::int32_t id = ask(seen, "");
    move();
    ASSERT_NE(server_.take_request(), nullptr);
    Http2Reply reply(id, false);
    reply.feed("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n", server_);
    EXPECT_FALSE(reply.complete());
    reply.feed(chunk, server_);
    EXPECT_TRUE(reply.complete()) << chunk;
    move();
    EXPECT_TRUE(seen.ended && seen.code != 0) << chunk;
  }
}

TEST_F(Http2ServerTest, a_body_or_a_head_beyond_the_limit_is_refused_with_its_status) {
  HeardReply large;
  ask(large, std::string(100'001, 'x'));
  HeardReply fits;
  std::string body;
  for (int i = 0; body.size() < 100'000; ++i) body += std::to_string(i) + ' ';
  body.resize(100'000);
  const std::int32_t id = ask(fits, body);
  move();
  EXPECT_EQ(large.status, 413);
  const Http2Request* const request = server_.take_request();
  ASSERT_NE(request, nullptr);
  EXPECT_EQ(request->stream, id);
  EXPECT_TRUE(request->body == body);
  EXPECT_EQ(server_.take_request(), nullptr);
}

// Each field counts its name, its value and 32 bytes.
TEST_F(Http2ServerTest, a_head_may_be_as_large_as_the_limit_and_no_byte_larger) {
  const std::string value(4096 - 5 * 32 - 54, 'v');
  for (const bool fits : {true, false}) {
    const std::string own = fits ? value : value + "v";
    const std::array<Http2Client::Header, 5> fields{{{":method", "POST"},
                                                     {":scheme", "http"},
                                                     {":authority", "host:1"},
                                                     {":path", "/a?b=1"},
                                                     {"x-own", own}}};
    HeardReply seen;
    client_.submit(fields, "body", &seen);
    EXPECT_TRUE(move());
    EXPECT_EQ(seen.status, fits ? 0 : 431);
    EXPECT_EQ(seen.ended, !fits);
    const Http2Request* const request = server_.take_request();
    ASSERT_EQ(request != nullptr, fits);
    if (!fits) continue;
    EXPECT_EQ(request->head.find("x-own"), own);
    EXPECT_EQ(request->body, "body");
    server_.reset(request->stream);
    move();
  }
}

TEST_F(Http2ServerTest, a_stream_that_ends_before_its_reply_is_out_is_told_if_the_caller_has_it) {
  HeardReply untaken;
  client_.cancel(ask(untaken, ""));
  move();
  EXPECT_EQ(server_.take_gone(), 0);
  const std::int32_t given_up = ask(untaken, "");
  move();
  client_.cancel(given_up);
  move();
  EXPECT_EQ(server_.take_request(), nullptr) << "it was given up before it was taken";
  EXPECT_EQ(server_.take_gone(), 0);
  HeardReply late;
  const std::int32_t id = ask(late, "");
  move();
  ASSERT_NE(server_.take_request(), nullptr);
  server_.head(id, 200, {}, false);
  server_.body(id, "abc");
  server_.end(id, {});
  EXPECT_EQ(server_.waiting_bytes(id), 3U);
  client_.cancel(id);
  move();
  EXPECT_EQ(server_.take_gone(), id) << "its last bytes had not gone out";
  EXPECT_EQ(server_.waiting_bytes(id), 0U);
  HeardReply reset;
  const std::int32_t own = ask(reset, "");
  move();
  ASSERT_NE(server_.take_request(), nullptr);
  server_.reset(own);
  move();
  EXPECT_TRUE(reset.ended && reset.code != 0);
  EXPECT_EQ(server_.take_gone(), 0) << "the caller knows";
}

TEST_F(Http2ServerTest, a_stream_that_the_client_gives_up_is_told_once) {
  HeardReply seen;
  const std::int32_t id = ask(seen, "");
  move();
  ASSERT_NE(server_.take_request(), nullptr);
  client_.cancel(id);
  move();
  EXPECT_EQ(server_.take_gone(), id);
  EXPECT_EQ(server_.take_gone(), 0);
  server_.body(id, "late");
  server_.end(id, {});
  server_.reset(id);
  EXPECT_TRUE(move());
}

TEST_F(Http2ServerTest, fields_behind_a_body_are_none_of_the_head) {
  const std::string asked = literal(":method", "POST") + literal(":scheme", "http") +
                            literal(":authority", "host:1") + literal(":path", "/a") +
                            literal("x-own", "first");
  Http2Server other{RequestLimits{}};
  ASSERT_TRUE(other.feed("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + settings() + head(1, asked) +
                         data(1, "body") +
                         head(1, literal("x-late", "second"), kEndHeaders | kEndStream)));
  const Http2Request* const request = other.take_request();
  ASSERT_NE(request, nullptr);
  EXPECT_EQ(request->body, "body");
  EXPECT_EQ(request->head.find("x-own"), "first");
  EXPECT_EQ(request->head.find("x-late"), "");
}

TEST_F(Http2ServerTest, bytes_that_are_no_http2_end_the_connection_with_a_reason) {
  EXPECT_FALSE(server_.feed("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
  Http2Server other{RequestLimits{}};
  EXPECT_TRUE(other.feed("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + settings()));
  while (!other.output().empty()) {
  }
  other.feed(data(0, "x"));  // DATA belongs to a stream
  std::string out;
  for (std::string_view more = other.output(); !more.empty(); more = other.output()) out += more;
  ASSERT_GT(out.size(), 9u);
  EXPECT_EQ(out[3], static_cast<char>(Http2FrameType::goaway));
}

TEST_F(Http2ServerTest, a_client_that_goes_away_gets_what_is_left_and_then_the_end) {
  Http2Server other{RequestLimits{}};
  const auto all_of = [&] {
    std::string out;
    for (std::string_view more = other.output(); !more.empty(); more = other.output()) out += more;
    return out;
  };
  EXPECT_TRUE(other.feed("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + settings()));
  EXPECT_NE(all_of(), "");
  EXPECT_FALSE(other.over());
  EXPECT_TRUE(other.feed(frame(Http2FrameType::ping, 0, 0, "12345678") + goaway(0, 0)));
  EXPECT_FALSE(other.over()) << "the answer to the ping is to go out";
  EXPECT_EQ(all_of(), frame(Http2FrameType::ping, 1, 0, "12345678"));
  EXPECT_TRUE(other.over());
}

TEST_F(Http2ServerTest, what_a_head_says_of_its_body_holds_for_the_frames_behind_it) {
  struct Row {
    const char* bytes;
    const char* method;
    bool complete;
    bool has_length;
    const char* body;
  };
  for (const Row& row : {
           Row{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "HEAD", true, true, ""},
           {"HTTP/1.1 200 OK\r\n\r\n", "HEAD", true, false, ""},
           {"HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\n", "GET", true, false, ""},
           {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "GET", true, false, ""},
           {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na", "GET", true, true, "a"},
           {"HTTP/1.1 200 :\nContent-Length: 1\n\na", "GET", true, true, "a"},
           {"HTTP/1.1 200 OK\r\n\r\nab", "GET", false, false, "ab"},
           {"HTTP/1.1 200 OK\r\nno field\r\nKeep-Alive: 5\r\nProxy-Connection: x\r\n"
            "Upgrade: y\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1;x\r\nc\r\n0\r\n",
            "GET", false, false, "abc"},
           {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n\r\nmore", "GET",
            true, false, ""},
           {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 101 No\r\n\r\n"
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab",
            "GET", true, true, "ab"},
       }) {
    HeardReply seen;
    const std::int32_t id = ask(seen, "", row.method);
    move();
    const Http2Request* const request = server_.take_request();
    ASSERT_NE(request, nullptr);
    EXPECT_EQ(request->head.method, row.method);
    Http2Reply reply(id, row.method == std::string_view("HEAD"));
    EXPECT_EQ(reply.stream(), id);
    reply.feed(row.bytes, server_);
    EXPECT_EQ(reply.complete(), row.complete) << row.bytes;
    move();
    EXPECT_EQ(seen.ended, row.complete) << row.bytes;
    EXPECT_EQ(seen.status, 200 + 4 * (row.bytes[11] == '4')) << row.bytes;
    EXPECT_EQ(seen.head.has_length, row.has_length) << row.bytes;
    EXPECT_EQ(seen.body, row.body) << row.bytes;
    const bool until_close = std::string_view(row.bytes).ends_with("OK\r\n\r\nab");
    reply.close(server_);
    EXPECT_TRUE(reply.complete());
    move();
    EXPECT_TRUE(seen.ended) << row.bytes;
    EXPECT_EQ(seen.code == 0, row.complete || until_close) << row.bytes;
  }
}

}  // namespace
}  // namespace assay::net
