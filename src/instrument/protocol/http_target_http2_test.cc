// HttpTarget against HTTP/2 servers that behave, that go away, and that break the protocol.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <functional>
#include <map>
#include <thread>
#include <tuple>

#include "base/format.h"
#include "domain/quiet_sink.h"
#include "net/socket.h"
#include "net/testing_http2.h"
#include "protocol/http_target.h"

namespace assay::protocol {
namespace {

using net::data;
using net::goaway;
using net::head;
using net::Http2FrameType;
using net::kEndStream;
using net::settings;
using ::testing::HasSubstr;

// A whole request: the nth of its connection, which is the server's `connection`th.
struct AskedStream {
  int connection = 0;
  int nth = 0;
  std::uint32_t stream = 0;
};
struct Said {
  std::string bytes{};
  bool close = false;
};
using Answer = std::function<Said(const AskedStream&)>;

// Prior knowledge, without TLS; one thread, any number of connections.
class Http2Server {
 public:
  explicit Http2Server(Answer answer, std::string opening = settings())
      : answer_(std::move(answer)), opening_(std::move(opening)) {
    auto listener = net::listen_on(*net::Address::numeric("127.0.0.1", 0), {});
    EXPECT_TRUE(listener);
    listener_ = std::move(*listener);
    port_ = net::local_address(listener_)->port();
    thread_ = std::thread([this] { serve(); });
  }
  ~Http2Server() {
    stop_ = true;
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  std::string url() const { return format("http://127.0.0.1:{}", port_); }
  int connections() const { return connections_; }

 private:
  struct Peer {
    net::Fd fd{};
    int number = 0;
    int requests = 0;
    std::string in{};
    bool greeted = false;
  };

  void serve() {
    std::vector<Peer> peers;
    while (!stop_) {
      std::vector<pollfd> watched{{.fd = listener_.get(), .events = POLLIN, .revents = 0}};
      for (const Peer& peer : peers) {
        watched.push_back({.fd = peer.fd.get(), .events = POLLIN, .revents = 0});
      }
      ::poll(watched.data(), watched.size(), 20);
      for (std::size_t i = peers.size(); i-- > 0;) {
        if (watched[i + 1].revents != 0 && !hear(peers[i])) {
          peers.erase(peers.begin() + static_cast<std::ptrdiff_t>(i));
        }
      }
      if ((watched[0].revents & POLLIN) == 0) continue;
      const int fd = ::accept(listener_.get(), nullptr, nullptr);
      if (fd < 0) return;
      peers.push_back({.fd = net::Fd(fd), .number = connections_++});
      say(peers.back(), opening_);
    }
  }
  static void say(Peer& peer, const std::string& bytes) {
    ::send(peer.fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  bool hear(Peer& peer) {
    constexpr std::size_t kPreface = 24;
    constexpr std::size_t kFrameHead = 9;
    char buffer[65536];
    const ssize_t n = ::recv(peer.fd.get(), buffer, sizeof buffer, 0);
    if (n <= 0) return false;
    peer.in.append(buffer, static_cast<std::size_t>(n));
    if (!peer.greeted) {
      if (peer.in.size() < kPreface) return true;
      peer.in.erase(0, kPreface);
      peer.greeted = true;
    }
    const auto byte = [&](std::size_t i) -> std::uint32_t {
      return static_cast<unsigned char>(peer.in[i]);
    };
    while (peer.in.size() >= kFrameHead) {
      const std::size_t size = kFrameHead + (byte(0) << 16U | byte(1) << 8U | byte(2));
      if (peer.in.size() < size) break;
      const bool whole = byte(3) == 0 && (byte(4) & kEndStream) != 0;
      const std::uint32_t stream = byte(7) * 256U + byte(8);
      peer.in.erase(0, size);
      if (!whole) continue;
      const Said said = answer_({peer.number, peer.requests++, stream});
      say(peer, said.bytes);
      if (said.close) return false;
    }
    return true;
  }

  Answer answer_;
  std::string opening_;
  net::Fd listener_{};
  std::uint16_t port_ = 0;
  std::atomic<bool> stop_{false};
  std::atomic<int> connections_{0};
  std::thread thread_{};
};

struct Told final : public QuietSink {
  void on_sent(const Query& query, Instant, Instant) override { ++sent[query.index]; }
  void on_done(const Event& event, std::string_view why) override {
    ++outcomes[event.outcome];
    ++ended[event.query.index];
    words = why;
  }
  int count(Outcome outcome) { return outcomes[outcome]; }
  std::map<std::uint32_t, int> sent{};
  std::map<std::uint32_t, int> ended{};
  std::map<Outcome, int> outcomes{};
  std::string words{};
};

struct Asker {
  explicit Asker(const std::string& url) {
    datasets[0].dataset.name = "test";
    datasets[0].dataset.samples.push_back(Sample{.prompt = "hello"});
    datasets[0].generation.model = "m";
    endpoints.urls = {url};
    endpoints.http = HttpVersion::http2;
    endpoints.query_timeout = 60_s;  // no test waits for it
  }
  // `queries` in all, `together` of them under way at once.
  void ask(std::uint32_t queries, std::size_t together) {
    auto made = HttpTarget::create(plan, datasets, endpoints, {}, clock);
    ASSERT_TRUE(made) << made.error().message;
    target = std::move(*made);
    const Instant limit = clock.now() + 30_s;
    for (std::uint32_t next = 0; next < queries || target->in_flight() > 0;) {
      while (next < queries && target->in_flight() < together) {
        target->submit(Query{.index = next++}, clock.now(), told);
      }
      target->poll(clock.now() + 1_s, told);
      ASSERT_LT(clock.now(), limit) << "a query waits for ever";
    }
    EXPECT_EQ(told.ended.size(), queries);
    for (const auto& [query, times] : told.ended) EXPECT_EQ(times, 1) << query;
    for (const auto& [query, times] : told.sent) EXPECT_EQ(times, 1) << query;
  }
  OsClock clock{};
  Plan plan{.phases = {PhasePlan{.order = SampleOrder::sequential(1)}}};
  std::vector<PlannedDataset> datasets{1};
  Endpoints endpoints{};
  std::unique_ptr<HttpTarget> target{};
  Told told{};
};

std::string good(std::uint32_t stream) {
  const std::string body =
      "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n"
      "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
  return head(stream, net::kStatus200 + net::literal("content-type", "text/event-stream")) +
         data(stream, body) + data(stream, "", kEndStream);
}

TEST(HttpTargetHttp2, a_server_that_behaves_answers_all) {
  Http2Server server([](const AskedStream& asked) { return Said{good(asked.stream)}; });
  Asker asker(server.url());
  asker.ask(300, 50);
  EXPECT_EQ(asker.told.count(Outcome::ok), 300) << asker.told.words;
  EXPECT_EQ(asker.told.sent.size(), 300U);
  EXPECT_EQ(server.connections(), 1);
  EXPECT_EQ(asker.target->stats().queries_unprocessed, 0U);
}

// A connection that always had room is idle since its last reply, not since its opening.
TEST(HttpTargetHttp2, a_connection_whose_queries_all_ended_is_used_again) {
  Http2Server server([](const AskedStream& asked) { return Said{good(asked.stream)}; });
  Asker asker(server.url());
  auto made = HttpTarget::create(asker.plan, asker.datasets, asker.endpoints, {}, asker.clock);
  ASSERT_TRUE(made) << made.error().message;
  for (std::uint32_t round = 0; round < 4; ++round) {
    for (std::uint32_t i = 0; i < 5; ++i) {
      (*made)->submit(Query{.index = 5 * round + i}, asker.clock.now(), asker.told);
    }
    while ((*made)->in_flight() > 0) (*made)->poll(asker.clock.now() + 1_s, asker.told);
  }
  EXPECT_EQ(asker.told.count(Outcome::ok), 20) << asker.told.words;
  EXPECT_EQ(server.connections(), 1);
}

TEST(HttpTargetHttp2, a_goaway_behind_each_answer_costs_no_query) {
  for (const std::size_t together : {1U, 3U, 40U}) {
    Http2Server server([](const AskedStream& asked) {
      if (asked.nth > 0) return Said{};
      return Said{good(asked.stream) + goaway(asked.stream, 0), true};
    });
    Asker asker(server.url());
    asker.ask(40, together);
    EXPECT_EQ(asker.told.count(Outcome::ok), 40) << asker.told.words;
    EXPECT_EQ(server.connections(), 40);
    EXPECT_EQ(asker.target->stats().queries_unprocessed > 0, together > 1);
    EXPECT_EQ(asker.target->stats().queries_sent_again, 0U);
  }
}

TEST(HttpTargetHttp2, an_announced_goaway_lets_what_is_under_way_end) {
  Http2Server server([](const AskedStream& asked) {
    if (asked.nth == 0) return Said{goaway(0x7fffffff, 0) + good(asked.stream)};
    return Said{good(asked.stream)};
  });
  Asker asker(server.url());
  asker.ask(20, 4);
  EXPECT_EQ(asker.told.count(Outcome::ok), 20) << asker.told.words;
}

TEST(HttpTargetHttp2, a_server_that_refuses_some_streams_answers_them_on_another_connection) {
  Http2Server server([](const AskedStream& asked) {
    return Said{asked.nth < 3 ? good(asked.stream) : net::reset(asked.stream, 7)};
  });
  Asker asker(server.url());
  asker.ask(3, 3);
  EXPECT_EQ(asker.told.count(Outcome::ok), 3) << asker.told.words;
  Http2Server second([](const AskedStream& asked) {
    return Said{asked.connection == 0 ? net::reset(asked.stream, 7) : good(asked.stream)};
  });
  Asker moving(second.url());
  moving.ask(8, 8);
  EXPECT_EQ(moving.told.count(Outcome::ok), 8) << moving.told.words;
  EXPECT_GE(moving.target->stats().queries_unprocessed, 8U);
}

TEST(HttpTargetHttp2, a_query_that_no_connection_processes_fails_after_a_few) {
  Http2Server refuses([](const AskedStream& asked) { return Said{net::reset(asked.stream, 7)}; });
  Asker asker(refuses.url());
  asker.ask(6, 2);
  EXPECT_EQ(asker.told.count(Outcome::reset), 6);
  EXPECT_THAT(asker.told.words, HasSubstr("REFUSED_STREAM"));
  EXPECT_EQ(asker.target->stats().queries_unprocessed, 18U);
  Http2Server leaves([](const AskedStream&) { return Said{goaway(0, 11, "slow down"), true}; });
  Asker other(leaves.url());
  other.ask(6, 2);
  EXPECT_EQ(other.told.count(Outcome::reset), 6) << other.told.words;
}

// The server may have processed these: sending them again could hide a failure.
TEST(HttpTargetHttp2, what_may_have_been_processed_is_not_sent_again) {
  Http2Server server([](const AskedStream& asked) {
    return Said{goaway(asked.stream, 2, "oom"), true};
  });
  Asker asker(server.url());
  asker.ask(4, 1);
  EXPECT_EQ(asker.told.count(Outcome::reset), 4);
  EXPECT_THAT(asker.told.words, HasSubstr("INTERNAL_ERROR: oom"));
  EXPECT_EQ(asker.target->stats().queries_unprocessed, 0U);
  Http2Server closes([](const AskedStream& asked) { return Said{head(asked.stream), true}; });
  Asker other(closes.url());
  other.ask(4, 2);
  EXPECT_EQ(other.told.count(Outcome::truncated), 4) << other.told.words;
}

TEST(HttpTargetHttp2, a_broken_protocol_ends_the_queries_at_once_and_by_name) {
  const std::vector<std::pair<std::string, const char*>> cases{
      {std::string(5000, '\xFF'), "FRAME_SIZE_ERROR"},
      {net::frame(Http2FrameType::push_promise, 4, 1, net::big_endian(2) + net::kStatus200),
       "push"},
      {net::frame(Http2FrameType::window_update, 0, 0, net::big_endian(0)), "WINDOW_UPDATE"},
      {settings(net::setting(net::kInitialWindow, 0x80000000)), "FLOW_CONTROL_ERROR"},
      {head(99), "PROTOCOL_ERROR"},
      {data(1, "x"), "PROTOCOL_ERROR"},
      {head(1, "\xFE"), "COMPRESSION_ERROR"}};
  for (const auto& [bytes, words] : cases) {
    Http2Server server([&said = bytes](const AskedStream&) { return Said{said}; });
    Asker asker(server.url());
    asker.ask(3, 1);
    EXPECT_EQ(asker.told.count(Outcome::bad_reply), 3) << words << ": " << asker.told.words;
    EXPECT_THAT(asker.told.words, HasSubstr(words));
  }
}

TEST(HttpTargetHttp2, a_compressed_reply_ends_its_stream_alone) {
  for (const char* coding : {"gzip", "br"}) {
    const std::string fields = net::kStatus200 + net::literal("content-encoding", coding);
    // One reply with its end, and one whose body the compressor holds back.
    Http2Server server([&](const AskedStream& asked) {
      const std::string begun = head(asked.stream, fields);
      return Said{asked.nth == 0 ? begun + data(asked.stream, "\x1f", kEndStream) : begun};
    });
    Asker asker(server.url());
    asker.ask(3, 1);
    EXPECT_EQ(asker.told.count(Outcome::bad_reply), 3) << asker.told.words;
    EXPECT_EQ(asker.told.words, format("the reply is compressed ({}), not asked for", coding));
    EXPECT_EQ(server.connections(), 1);
  }
}

TEST(HttpTargetHttp2, a_server_that_does_not_begin_is_named) {
  const auto silent = [](const AskedStream&) { return Said{}; };
  Http2Server http1(silent, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
  Asker first(http1.url());
  first.ask(2, 2);
  EXPECT_EQ(first.told.count(Outcome::connect_failed), 2);
  EXPECT_THAT(first.told.words, HasSubstr("answers in HTTP/1"));

  Http2Server nothing(silent, "");
  Asker second(nothing.url());
  second.endpoints.connect_timeout = 30_ms;
  second.ask(2, 2);
  EXPECT_EQ(second.told.count(Outcome::connect_failed), 2);
  EXPECT_THAT(second.told.words, HasSubstr("no SETTINGS"));

  Http2Server none(silent, settings(net::setting(net::kConcurrentStreams, 0)));
  Asker third(none.url());
  third.endpoints.connect_timeout = 30_ms;
  third.ask(2, 2);
  EXPECT_EQ(third.told.count(Outcome::connect_failed), 2);
  EXPECT_THAT(third.told.words, HasSubstr("SETTINGS_MAX_CONCURRENT_STREAMS"));

  Http2Server leaves(silent, settings() + goaway(0, 0));
  Asker fourth(leaves.url());
  fourth.ask(3, 3);
  EXPECT_EQ(fourth.told.count(Outcome::connect_failed), 3) << fourth.told.words;
}

TEST(HttpTargetHttp2, a_server_that_allows_few_streams_gets_no_more) {
  Http2Server server([](const AskedStream& asked) { return Said{good(asked.stream)}; },
                     settings(net::setting(net::kConcurrentStreams, 2)));
  Asker asker(server.url());
  asker.ask(40, 8);
  EXPECT_EQ(asker.told.count(Outcome::ok), 40) << asker.told.words;
  EXPECT_GE(server.connections(), 4);
}

// One answer, and then no further stream on that connection.
TEST(HttpTargetHttp2, a_server_that_allows_no_more_streams_is_asked_on_new_connections) {
  Http2Server server([](const AskedStream& asked) {
    return Said{settings(net::setting(net::kConcurrentStreams, 0)) + good(asked.stream)};
  });
  Asker asker(server.url());
  asker.endpoints.connect_timeout = 5_s;
  asker.ask(12, 1);
  EXPECT_EQ(asker.told.count(Outcome::ok), 12) << asker.told.words;
  EXPECT_EQ(server.connections(), 12);
}

TEST(HttpTargetHttp2, connections_made_ahead_are_as_many_as_their_streams_need) {
  for (const auto& [allowed, queries, connections] :
       {std::tuple{2U, 4U, 2}, {2U, 5U, 3}, {100U, 100U, 1}, {100U, 101U, 2}, {1000U, 101U, 2}}) {
    Http2Server server([](const AskedStream& asked) { return Said{good(asked.stream)}; },
                       settings(net::setting(net::kConcurrentStreams, allowed)));
    Asker asker(server.url());
    auto made = HttpTarget::create(asker.plan, asker.datasets, asker.endpoints, {}, asker.clock);
    ASSERT_TRUE(made) << made.error().message;
    ASSERT_TRUE((*made)->connect_ahead(queries));
    EXPECT_EQ((*made)->stats().connections_opened, static_cast<std::uint64_t>(connections));
  }
}

}  // namespace
}  // namespace assay::protocol
