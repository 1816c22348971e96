// What the probe puts on the wire, byte by byte, and how it takes the ways in which a server can
// leave: by a server that runs in the probe's own clock.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "net/socket.h"
#include "protocol/endpoint_capture.h"
#include "protocol/probe.h"

namespace assay::protocol {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// What becomes of one request.
struct Wire {
  enum class After : std::uint8_t { keep, close, reset };
  std::string reply{};
  After after = After::keep;
  Duration leap{};      // from the reading of the time before this one
  std::string later{};  // sent once the reply is out
};

std::string wire_reply(std::string_view body, std::string_view status = "200 OK",
                       std::string_view fields = "") {
  return format("HTTP/1.1 {}\r\n{}Content-Length: {}\r\n\r\n{}", status, fields, body.size(), body);
}

class WireServer final : public Clock {
 public:
  using Answer = std::function<Wire(const std::string& request)>;
  explicit WireServer(Answer answer) : answer_(std::move(answer)) {}

  std::string authority() const { return net::local_address(listener_)->to_string(); }
  Instant now() const override {
    const Instant before = now_;
    now_ = before + 1_us;
    serve(before);
    return now_;
  }
  void sleep_until(Instant) override {}
  Duration spin_window() const override { return {}; }

  // The requests, whole, and the connections on which they came.
  mutable std::vector<std::string> heard{};
  mutable std::size_t connections = 0;

 private:
  void serve(Instant before) const {
    auto next = net::accept_one(listener_);
    if (next && next->open()) {
      ++connections;
      peer_ = *std::move(next);
      held_.clear();
      to_send_ = {};
      replied_ = false;
    }
    if (!peer_.open()) return;
    char buffer[65536];
    for (;;) {
      const ssize_t n = ::recv(peer_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
      if (n <= 0) break;
      held_.append(buffer, static_cast<std::size_t>(n));
    }
    std::string request = take_request();
    if (!request.empty()) {
      heard.push_back(std::move(request));
      Wire wire = answer_(heard.back());
      reply_ = std::move(wire.reply);
      to_send_ = reply_;
      later_ = std::move(wire.later);
      replied_ = true;
      after_ = wire.after;
      if (wire.leap > Duration{}) now_ = before + wire.leap;
    }
    send();
  }
  std::string take_request() const {
    const std::size_t end = held_.find("\r\n\r\n");
    if (end == std::string::npos) return "";
    const std::size_t length = held_.find("Content-Length: ");
    const std::size_t body = length < end ? std::stoul(held_.substr(length + 16)) : 0;
    if (held_.size() < end + 4 + body) return "";
    return std::exchange(held_, "");
  }
  // What follows a reply comes at the next reading of the time.
  void send() const {
    if (to_send_.empty() && std::exchange(replied_, false)) {
      to_send_ = later_;
      if (to_send_.empty() && after_ == Wire::After::reset) net::set_reset_on_close(peer_);
      if (to_send_.empty() && after_ != Wire::After::keep) return peer_.reset();
    }
    const ssize_t n = ::send(peer_.get(), to_send_.data(), to_send_.size(), MSG_NOSIGNAL);
    if (n > 0) to_send_.remove_prefix(static_cast<std::size_t>(n));
  }

  net::Fd listener_ = std::move(*net::listen_on(*net::Address::numeric("127.0.0.1", 0), {}));
  Answer answer_;
  mutable net::Fd peer_{};
  mutable std::string held_{};
  mutable std::string reply_{};
  mutable std::string_view to_send_{};
  mutable std::string later_{};
  mutable bool replied_ = false;
  mutable Wire::After after_ = Wire::After::keep;
  mutable Instant now_{};
};

ProbeQuestion wire_question(const WireServer& server, Api api = Api::openai,
                            const std::string& below = "") {
  ProbeQuestion out;
  out.url = "http://" + server.authority() + below;
  out.api = api;
  out.model = "m";
  out.timeout = 10_s;
  return out;
}

std::string sent_body(const std::string& request) {
  return request.substr(request.find("\r\n\r\n") + 4);
}
std::string first_line(const std::string& request) {
  return request.substr(0, request.find(" HTTP"));
}
std::string request_id(const std::string& request) {
  const std::size_t at = request.find("x-request-id: ");
  return at == std::string::npos ? "" : request.substr(at + 14, 32);
}

TEST(AskWire, each_query_asks_for_what_was_wanted_under_an_id_of_its_own) {
  const WireServer server([](const std::string&) { return Wire{wire_reply("{}", "404 No")}; });
  ProbeQuestion asked = wire_question(server);
  asked.tokens_max = 7;
  const auto answers = ask_endpoint(asked, server);
  ASSERT_TRUE(answers) << answers.error().message;
  ASSERT_EQ(server.heard.size(), 3U);
  EXPECT_EQ(server.connections, 1U);
  EXPECT_EQ(sent_body(server.heard[1]),
            R"({"model":"m","messages":[{"role":"user","content":"Count from one to one hundred )"
            R"(in words."}],"max_completion_tokens":7,"stream":true,)"
            R"("stream_options":{"include_usage":true}})");
  EXPECT_EQ(sent_body(server.heard[2]),
            R"({"model":"m","messages":[{"role":"user","content":"Count from one to one hundred )"
            R"(in words."}],"max_completion_tokens":7})");
  const std::string one = request_id(server.heard[1]);
  const std::string other = request_id(server.heard[2]);
  EXPECT_NE(one, other);
  for (const std::string& id : {one, other}) {
    EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos) << id;
    EXPECT_NE(id.find_first_not_of('0'), std::string::npos) << id;
  }
  EXPECT_TRUE(answers->models_asked);
  EXPECT_EQ(answers->models_status, 404);
  EXPECT_EQ(answers->address, server.authority());
  EXPECT_GT(answers->connect_time, Duration{});
  EXPECT_LT(answers->connect_time, 1_ms);
  EXPECT_EQ(answers->tokens_max, 7);
  for (const Recording* const one_reply : {&answers->streamed, &answers->plain}) {
    ASSERT_EQ(one_reply->reads.size(), 1U);
    EXPECT_GT(one_reply->reads[0].at, one_reply->sent);
    EXPECT_GT(one_reply->ended, one_reply->reads[0].at);
  }
}

TEST(AskWire, a_sound_is_asked_as_bytes_and_as_events) {
  const WireServer server([](const std::string&) { return Wire{wire_reply("{}", "404 No")}; });
  const auto answers = ask_endpoint(wire_question(server, Api::openai_speech), server);
  ASSERT_TRUE(answers) << answers.error().message;
  ASSERT_EQ(server.heard.size(), 3U);
  EXPECT_THAT(sent_body(server.heard[1]), Not(HasSubstr("stream_format")));
  EXPECT_THAT(sent_body(server.heard[2]), HasSubstr(R"("stream_format":"sse")"));
  EXPECT_EQ(answers->sound_rate, 48'000U);
}

TEST(AskWire, a_kind_without_streams_is_asked_once) {
  const WireServer server([](const std::string&) { return Wire{wire_reply("{}", "404 No")}; });
  const auto answers = ask_endpoint(wire_question(server, Api::openai_embeddings), server);
  ASSERT_TRUE(answers) << answers.error().message;
  EXPECT_TRUE(answers->plain_asked);
  ASSERT_EQ(server.heard.size(), 2U);
  EXPECT_EQ(first_line(server.heard[1]), "POST /v1/embeddings");
  EXPECT_EQ(answers->sound_rate, 0U);
}

TEST(AskWire, a_large_query_is_sent_in_as_many_pieces_as_it_takes) {
  const WireServer server([](const std::string&) { return Wire{wire_reply("{}", "404 No")}; });
  ProbeQuestion asked = wire_question(server);
  asked.prompt.assign(std::size_t{8} << 20, 'x');
  const auto answers = ask_endpoint(asked, server);
  ASSERT_TRUE(answers) << answers.error().message;
  ASSERT_EQ(server.heard.size(), 3U);
  EXPECT_THAT(server.heard[2], testing::SizeIs(testing::Gt(asked.prompt.size())));
  EXPECT_EQ(read_recording(answers->plain).head.status, 404);
}

// What is behind a whole reply, or what its server does then, is found before the next request.
TEST(AskWire, a_page_is_read_again_whatever_its_server_did_after_the_last_one) {
  for (const Wire::After after : {Wire::After::keep, Wire::After::close, Wire::After::reset}) {
    for (const char* const later : {"", "x", "xx"}) {
      int page = 0;
      const WireServer server([&](const std::string&) {
        return Wire{.reply = wire_reply(format("page {}", ++page)), .after = after, .later = later};
      });
      auto reader = PageReader::open(wire_question(server), server);
      ASSERT_TRUE(reader);
      for (int i = 1; i <= 3; ++i) {
        const auto read = reader->read();
        ASSERT_TRUE(read) << read.error().message << static_cast<int>(after) << later;
        EXPECT_EQ(read->body, format("page {}", i)) << static_cast<int>(after) << later;
      }
      const bool kept = after == Wire::After::keep && std::string_view(later).empty();
      EXPECT_EQ(server.connections, kept ? 1U : 3U);
    }
  }
}

TEST(AskWire, a_connection_is_asked_again_only_after_a_whole_reply_that_keeps_it) {
  const std::string keeps = wire_reply("{}", "404 No");
  for (const auto& [reply, connections] : {std::pair<std::string, std::size_t>{keeps, 1},
                                           {wire_reply("{}", "404 No", "Connection: close\r\n"), 3},
                                           {"SSH-2.0-OpenSSH_9.2\r\n\r\n", 3}}) {
    const WireServer server([&reply = reply](const std::string&) { return Wire{reply}; });
    const auto answers = ask_endpoint(wire_question(server), server);
    ASSERT_TRUE(answers) << answers.error().message;
    EXPECT_EQ(server.connections, connections) << reply;
    EXPECT_EQ(answers->plain_on_same_connection, connections == 1) << reply;
  }
}

TEST(AskWire, a_body_without_a_length_ends_with_its_connection) {
  const WireServer server([](const std::string&) {
    return Wire{.reply = "HTTP/1.1 404 No\r\n\r\n{}", .after = Wire::After::close};
  });
  const auto answers = ask_endpoint(wire_question(server), server);
  ASSERT_TRUE(answers) << answers.error().message;
  EXPECT_EQ(answers->plain.ending, Recording::Ending::closed);
  EXPECT_TRUE(read_recording(answers->plain).complete);
}

// A reply that comes at the very deadline is too late, and one just before it is not.
TEST(AskWire, time_is_up_at_the_deadline) {
  for (const bool late : {true, false}) {
    ProbeQuestion asked;
    const WireServer server([&](const std::string&) {
      return Wire{.reply = wire_reply("{}", "404 No"),
                  .leap = late ? asked.timeout : asked.timeout - 1_us};
    });
    asked = wire_question(server);
    const auto answers = ask_endpoint(asked, server);
    ASSERT_TRUE(answers) << answers.error().message;
    EXPECT_EQ(answers->plain.ending, late ? Recording::Ending::timed_out : Recording::Ending::open);
    EXPECT_EQ(answers->plain.reads.empty(), late);
  }
}

TEST(AskWire, of_a_reply_64_mib_are_kept) {
  constexpr std::size_t kMost = std::size_t{64} << 20;
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n";
  const WireServer server([&](const std::string& request) {
    if (request.starts_with("GET /v1/models")) return Wire{wire_reply("{}")};
    return Wire{.reply = head + std::string(kMost - head.size(), ' '), .after = Wire::After::close};
  });
  const auto answers = ask_endpoint(wire_question(server, Api::openai_embeddings), server);
  ASSERT_TRUE(answers) << answers.error().message;
  EXPECT_EQ(answers->plain.ending, Recording::Ending::open) << "its end is not waited for";
}

TEST(AskWire, a_secret_that_comes_back_is_in_no_answer) {
  const std::string key = "key-0123456789";
  const std::string error = format(R"({{"error":"stream_options of {}"}})", key);
  const std::string models = format(R"({{"data":[{{"id":"m {}"}}]}})", key);
  const WireServer server([&](const std::string& request) {
    return Wire{request.starts_with("GET") ? wire_reply(models) : wire_reply(error, "400 No")};
  });
  ProbeQuestion asked = wire_question(server);
  asked.model.clear();
  asked.api_key = key;
  const auto answers = ask_endpoint(asked, server);
  ASSERT_TRUE(answers) << answers.error().message;
  EXPECT_EQ(answers->model, "m <redacted>");
  EXPECT_THAT(answers->models, ElementsAre("m <redacted>"));
  EXPECT_EQ(answers->usage_refusal, "HTTP 400: stream_options of <redacted>");
  for (const Recording* const one : {&answers->streamed, &answers->plain}) {
    ASSERT_EQ(one->reads.size(), 1U);
    EXPECT_THAT(one->reads[0].bytes, Not(HasSubstr("0123456789")));
  }
  // Nor in an error: the file of a socket is named in it.
  asked.url = "http+unix:///tmp/" + key + "/none.sock:/v1";
  const auto refused = ask_endpoint(asked, server);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, Not(HasSubstr("0123456789")));
  const EndpointReplies replies = capture_endpoint(asked, server);
  EXPECT_THAT(replies.trouble, HasSubstr("none.sock"));
  EXPECT_THAT(replies.trouble, Not(HasSubstr("0123456789")));
}

}  // namespace
}  // namespace assay::protocol
