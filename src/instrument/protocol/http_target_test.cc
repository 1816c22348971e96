#include "protocol/http_target.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <optional>
#include <thread>

#include "base/format.h"
#include "domain/quiet_sink.h"
#include "net/socket.h"

namespace assay::protocol {
namespace {

// close_unasked, close_third: it closes in answer to the connection's second, or third, request.
enum class TargetEnding { keep, close, reset, hang, close_unasked, close_third };

// A scripted server's answer to each request: pieces, each in a write of its own, then the ending.
struct Script {
  std::vector<std::string> pieces{};
  TargetEnding ending = TargetEnding::keep;
};

// One thread, one connection at a time; real sockets on loopback.
class ScriptedServer {
 public:
  explicit ScriptedServer(Script script) : script_(std::move(script)) {
    auto listener = net::listen_on(*net::Address::numeric("127.0.0.1", 0), {});
    EXPECT_TRUE(listener);
    listener_ = std::move(*listener);
    port_ = net::local_address(listener_)->port();
    thread_ = std::thread([this] { serve(); });
  }
  ~ScriptedServer() {
    stop_ = true;
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  std::string url() const { return format("http://127.0.0.1:{}", port_); }
  int connections() const { return connections_; }

 private:
  bool wait_readable(int fd) {
    while (!stop_) {
      pollfd p{.fd = fd, .events = POLLIN, .revents = 0};
      if (::poll(&p, 1, 20) > 0) return true;
    }
    return false;
  }
  void serve() {
    while (wait_readable(listener_.get())) {
      const int fd = ::accept(listener_.get(), nullptr, nullptr);
      if (fd < 0) return;
      ++connections_;
      net::Fd peer(fd);
      net::set_no_delay(peer);
      for (int nth = 0; wait_readable(fd) && answer(peer, nth); ++nth) {
      }
    }
  }
  // False when the connection is over.
  bool answer(net::Fd& peer, int nth) {
    std::string request;
    char buffer[4096];
    while (request.find("\r\n\r\n") == std::string::npos || !request.ends_with("}")) {
      const ssize_t n = ::recv(peer.get(), buffer, sizeof buffer, 0);
      if (n <= 0) return false;
      request.append(buffer, static_cast<std::size_t>(n));
    }
    if (script_.ending == TargetEnding::close_unasked && nth == 1) return false;
    if (script_.ending == TargetEnding::close_third && nth == 2) return false;
    for (const std::string& piece : script_.pieces) {
      ::send(peer.get(), piece.data(), piece.size(), MSG_NOSIGNAL);
    }
    if (script_.ending == TargetEnding::hang) {
      while (!stop_) ::poll(nullptr, 0, 10);
      return false;
    }
    if (script_.ending == TargetEnding::reset) net::set_reset_on_close(peer);
    return script_.ending != TargetEnding::close && script_.ending != TargetEnding::reset;
  }
  Script script_;
  net::Fd listener_{};
  std::uint16_t port_ = 0;
  std::atomic<bool> stop_{false};
  std::atomic<int> connections_{0};
  std::thread thread_{};
};

class Collector final : public QuietSink {
 public:
  void on_sent(const Query&, Instant, Instant) override { ++sent; }
  void on_stream_event(const Query&, const StreamEvent& event, std::string_view fragment) override {
    ++categories[event.category];
    if (is_fragment(event.category)) text += fragment;
    EXPECT_LE(event.arrival, event.read);
  }
  void on_done(const Event& event, std::string_view why) override {
    done.push_back(event);
    detail = why;
  }
  int sent = 0;
  std::map<Category, int> categories{};
  std::string text{};
  std::string detail{};
  std::vector<Event> done{};
};

struct Asking {
  Plan plan{.phases = {PhasePlan{.order = SampleOrder::sequential(1)}}};
  std::vector<PlannedDataset> datasets{1};
  Endpoints endpoints{};
  Asking() {
    datasets[0].dataset.name = "test";
    datasets[0].dataset.samples.push_back(Sample{.prompt = "hello"});
    datasets[0].generation.model = "m";
  }
};

// Asks `queries` times, one after the other.
Collector ask(Asking asking, int queries = 1, MemoryBudget* memory = nullptr) {
  OsClock clock;
  Collector sink;
  auto target =
      HttpTarget::create(asking.plan, asking.datasets, asking.endpoints, {.memory = memory}, clock);
  EXPECT_TRUE(target) << target.error().message;
  for (int i = 0; i < queries; ++i) {
    (*target)->submit(Query{.index = static_cast<std::uint32_t>(i)}, clock.now(), sink);
    while ((*target)->in_flight() > 0) (*target)->poll(clock.now() + 1_s, sink);
  }
  EXPECT_EQ(sink.done.size(), static_cast<std::size_t>(queries));
  return sink;
}

Collector ask_script(Script script, int queries = 1, MemoryBudget* memory = nullptr) {
  ScriptedServer server(std::move(script));
  Asking asking;
  asking.endpoints.urls = {server.url()};
  return ask(asking, queries, memory);
}

std::string chunk(std::string_view text) { return format("{:x}\r\n{}\r\n", text.size(), text); }
std::string content_delta(std::string_view content) {
  return format("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n",
                content);
}
const std::string kHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
const std::string kFinish =
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
const std::string kUsage =
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}\n\n";
const std::string kDone = "data: [DONE]\n\n";
const std::string kEnd = "0\r\n\r\n";

TEST(HttpTarget, a_stream_in_one_piece) {
  const Collector seen =
      ask_script({{kHead + chunk(content_delta("a")) + chunk(content_delta("b")) + chunk(kFinish) +
                   chunk(kUsage) + chunk(kDone) + kEnd}});
  const Event& event = seen.done[0];
  EXPECT_EQ(event.outcome, Outcome::ok) << seen.detail;
  EXPECT_EQ(seen.text, "ab");
  EXPECT_EQ(event.fragments, 2U);
  EXPECT_EQ(event.finish, FinishReason::stop);
  EXPECT_EQ(event.usage.completion_tokens, 2);
  EXPECT_TRUE(event.done_marker);
  EXPECT_TRUE(event.connected);
  EXPECT_LE(event.due, event.sent);
  EXPECT_LE(event.sent, event.first_byte);
  EXPECT_LE(event.first_byte, event.first_token);
  EXPECT_LE(event.first_token, event.last_token);
  EXPECT_LE(event.last_token, event.done);
}

TEST(HttpTarget, the_same_facts_when_every_byte_comes_alone) {
  std::string text =
      kHead + chunk(content_delta("a")) + chunk(content_delta("\\u00e9")) + chunk(kFinish) + kEnd;
  Script script;
  for (const char c : text) script.pieces.emplace_back(1, c);
  const Collector seen = ask_script(script);
  EXPECT_EQ(seen.done[0].outcome, Outcome::ok) << seen.detail;
  EXPECT_EQ(seen.text, "a\xc3\xa9");
}

TEST(HttpTarget, connections_are_kept_and_reused) {
  Script script{{kHead + chunk(content_delta("a")) + chunk(kFinish) + kEnd}};
  ScriptedServer server(script);
  Asking asking;
  asking.endpoints.urls = {server.url()};
  const Collector seen = ask(asking, 20);
  EXPECT_EQ(server.connections(), 1);
  EXPECT_EQ(seen.sent, 20);
  EXPECT_FALSE(seen.done[1].connected);
}

// cpp-httplib, and so llama.cpp's server, as a client sees it: replies promise to keep the
// connection, and the server closes it after each stream. The next query crosses with the close.
TEST(HttpTarget, a_connection_that_is_closed_behind_its_first_reply_costs_no_query) {
  ScriptedServer server({{kHead + chunk(kFinish) + kEnd}, TargetEnding::close_unasked});
  Asking asking;
  asking.endpoints.urls = {server.url()};
  OsClock clock;
  Collector sink;
  auto target = HttpTarget::create(asking.plan, asking.datasets, asking.endpoints, {}, clock);
  ASSERT_TRUE(target);
  for (std::uint32_t i = 0; i < 5; ++i) {
    (*target)->submit(Query{.index = i}, clock.now(), sink);
    while ((*target)->in_flight() > 0) (*target)->poll(clock.now() + 1_s, sink);
  }
  ASSERT_EQ(sink.done.size(), 5U);
  for (const Event& event : sink.done) EXPECT_EQ(event.outcome, Outcome::ok) << sink.detail;
  EXPECT_EQ(sink.sent, 5) << "the second try is not told as another query";
  EXPECT_TRUE(sink.done[1].connected);
  EXPECT_LT(sink.done[1].sent, sink.done[1].first_byte);
  EXPECT_EQ((*target)->stats().queries_sent_again, 1U) << "after that none is used twice";
  EXPECT_EQ(server.connections(), 5);
}

TEST(HttpTarget, servers_that_close_at_once_lose_no_query) {
  for (const TargetEnding ending : {TargetEnding::close, TargetEnding::reset}) {
    const Collector seen = ask_script({{kHead + chunk(kFinish) + kEnd}, ending}, 20);
    for (const Event& event : seen.done) EXPECT_EQ(event.outcome, Outcome::ok) << seen.detail;
    EXPECT_EQ(seen.sent, 20);
  }
}

// After a second reply on a kept connection, its end is the server's fault.
TEST(HttpTarget, nothing_is_sent_twice_to_an_endpoint_that_keeps_connections) {
  const Collector seen =
      ask_script({{kHead + chunk(kFinish) + kEnd}, TargetEnding::close_third}, 3);
  EXPECT_EQ(seen.done[1].outcome, Outcome::ok);
  EXPECT_EQ(seen.done[2].outcome, Outcome::truncated);
}

struct Case {
  const char* name;
  Script script;
  Outcome outcome;
  const char* text;
};

void expect_outcomes(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    const Collector seen = ask_script(c.script, c.script.ending == TargetEnding::keep ? 2 : 1);
    EXPECT_EQ(to_string(seen.done[0].outcome), to_string(c.outcome))
        << c.name << ": " << seen.detail;
    EXPECT_EQ(seen.text.substr(0, std::string(c.text).size()), c.text) << c.name;
    EXPECT_EQ(seen.detail.empty(), c.outcome == Outcome::ok) << c.name;
  }
}

TEST(HttpTarget, every_way_to_end_has_its_outcome) {
  const std::string whole =
      R"({"id":"1","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},)"
      R"("finish_reason":"stop"}]})";
  const std::string json_head =
      format("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
             whole.size());
  const std::string close_head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
  const std::vector<Case> cases{
      {"reset before a byte", {{}, TargetEnding::reset}, Outcome::reset, ""},
      {"closed before a byte", {{}, TargetEnding::close}, Outcome::truncated, ""},
      {"reset in the middle",
       {{kHead + chunk(content_delta("a"))}, TargetEnding::reset},
       Outcome::reset,
       "a"},
      {"closed in the middle",
       {{kHead + chunk(content_delta("a"))}, TargetEnding::close},
       Outcome::truncated,
       "a"},
      {"no finish, no DONE", {{kHead + chunk(content_delta("a")) + kEnd}}, Outcome::truncated, "a"},
      {"closed after DONE",
       {{kHead + chunk(content_delta("a")) + chunk(kDone)}, TargetEnding::close},
       Outcome::ok,
       "a"},
      {"close-delimited",
       {{close_head + content_delta("a") + kFinish}, TargetEnding::close},
       Outcome::ok,
       "a"},
      {"500",
       {{"HTTP/1.1 500 Oops\r\nContent-Length: 27\r\n\r\n{\"error\":{\"message\":\"boom\"}}"}},
       Outcome::http_error,
       ""},
      {"429 until close",
       {{"HTTP/1.1 429 Slow\r\n\r\nslow down"}, TargetEnding::close},
       Outcome::http_error,
       ""},
      {"error inside",
       {{kHead + chunk(content_delta("a")) +
         chunk("data: {\"error\":{\"message\":\"out of memory\"}}\n\n") + chunk(kDone) + kEnd}},
       Outcome::stream_error,
       "a"},
      {"garbage inside",
       {{kHead + chunk(content_delta("a")) + chunk("data: {\"choices\":[{\"delta\"\n\n") +
         chunk(kFinish) + chunk(kDone) + kEnd}},
       Outcome::bad_reply,
       "a"},
      {"not HTTP", {{"SMTP ready\r\n\r\n"}}, Outcome::bad_reply, ""},
      {"plain object for a stream", {{json_head + whole}}, Outcome::ok, "hi"},
      {"wrong type, right bytes",
       {{"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n" +
         chunk(content_delta("a")) + chunk(kFinish) + kEnd}},
       Outcome::ok,
       "a"},
      {"html", {{"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>"}}, Outcome::bad_reply, ""},
      {"compressed",
       {{"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8b\x08"}},
       Outcome::bad_reply,
       ""},
      {"empty 200", {{"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"}}, Outcome::truncated, ""},
  };
  expect_outcomes(cases);
}

TEST(HttpTarget, what_is_no_http_is_no_reply_and_raw_bytes_are_text) {
  expect_outcomes({
      {"garbage that never ends a line",
       {{std::string(4000, '\xFF')}, TargetEnding::close},
       Outcome::bad_reply,
       ""},
      {"garbage, and then silence",
       {{std::string(4000, '\xFF')}, TargetEnding::hang},
       Outcome::bad_reply,
       ""},
      {"a few bytes of garbage", {{"ola\n"}, TargetEnding::close}, Outcome::bad_reply, ""},
      {"half a status line", {{"HTTP/1.1 2"}, TargetEnding::close}, Outcome::truncated, ""},
      {"raw control bytes and lone surrogates",
       {{kHead + chunk(content_delta(std::string("a\0b\\ud800", 9))) + chunk(kFinish) + kEnd}},
       Outcome::ok,
       "a\xEF\xBF\xBD"
       "b\xEF\xBF\xBD"},
  });
}

TEST(HttpTarget, a_compressed_reply_fails_at_its_head_and_says_how_it_is_compressed) {
  for (const char* coding : {"gzip", "br", "deflate", "zstd"}) {
    // The compressor holds all bytes back: no byte of the body comes.
    const Collector seen = ask_script(
        {{format("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: {}\r\n"
                 "Transfer-Encoding: chunked\r\n\r\n",
                 coding)},
         TargetEnding::hang});
    EXPECT_EQ(to_string(seen.done[0].outcome), to_string(Outcome::bad_reply));
    EXPECT_EQ(seen.detail, format("the reply is compressed ({}), not asked for", coding));
  }
  const Collector error =
      ask_script({{"HTTP/1.1 503 Busy\r\nContent-Encoding: gzip\r\n"
                   "Content-Length: 3\r\n\r\n\x1f\x8b\x08"}});
  EXPECT_EQ(to_string(error.done[0].outcome), to_string(Outcome::http_error));
  EXPECT_EQ(error.detail, "HTTP 503: ");
}

TEST(HttpTarget, an_error_page_without_end_is_read_as_far_as_it_is_kept) {
  const Collector seen =
      ask_script({{"HTTP/1.1 500 Oops\r\n\r\n" + std::string(100'000, 'x')}, TargetEnding::hang});
  EXPECT_EQ(to_string(seen.done[0].outcome), to_string(Outcome::http_error));
}

// An endless line, one object, a cumulative text: each grows with the reply.
TEST(HttpTarget, a_reply_over_the_memory_budget_fails_by_name_and_gives_its_memory_back) {
  constexpr std::uint64_t kBudget = 2'000'000;
  const std::string much(3U << 20, 'x');
  const std::string json = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n";
  for (const std::string& reply :
       {kHead + chunk("data: {\"choices\":[{\"delta\":{\"content\":\"" + much),
        kHead + chunk(": " + much), json + "{\"choices\":[{\"message\":{\"content\":\"" + much,
        kHead + chunk("data: {\"text\":\"" + much.substr(2U << 20) + "\"}\n\n")}) {
    MemoryBudget memory(kBudget);
    const Collector seen = ask_script({{reply}, TargetEnding::hang}, 1, &memory);
    EXPECT_EQ(to_string(seen.done[0].outcome), to_string(Outcome::over_memory)) << seen.detail;
    EXPECT_EQ(seen.detail,
              "reply over the memory budget of 2.00 MB for all connections (--memory-max)");
    EXPECT_LE(memory.peak(), kBudget);
    EXPECT_GT(memory.peak(), kBudget / 3);
    EXPECT_EQ(memory.in_use(), 0U);
  }
}

TEST(HttpTarget, what_fits_the_budget_is_whole_and_what_an_error_page_lacks_is_its_words) {
  MemoryBudget memory(std::uint64_t{2} << 20);
  const std::string text(200'000, 'x');
  const Collector seen =
      ask_script({{kHead + chunk(content_delta(text)) + chunk(kFinish) + kEnd}}, 3, &memory);
  EXPECT_EQ(to_string(seen.done[2].outcome), to_string(Outcome::ok)) << seen.detail;
  EXPECT_EQ(seen.text.size(), 600'000U);
  ASSERT_TRUE(memory.take(memory.bytes_max() - memory.in_use()));
  const Collector error =
      ask_script({{"HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\nboom"}}, 1, &memory);
  EXPECT_EQ(to_string(error.done[0].outcome), to_string(Outcome::http_error));
}

TEST(HttpTarget, an_event_named_error_fails_the_reply_in_its_own_words) {
  const std::string begun = kHead + chunk(content_delta("a"));
  for (const char* event :
       {"event: error\ndata: {\"message\":\"engine died\",\"code\":500}\n\n",
        "event: error\ndata: engine died\n\n", "event: error\n: engine died\n\n"}) {
    const Collector seen = ask_script({{begun + chunk(event) + chunk(kDone) + kEnd}});
    EXPECT_EQ(to_string(seen.done[0].outcome), to_string(Outcome::stream_error)) << event;
    EXPECT_EQ(seen.detail, "engine died");
  }
}

TEST(HttpTarget, a_stream_that_says_no_more_than_done_is_no_reply) {
  for (const std::string& event : {std::string(), chunk("data: {\"message\":\"no\"}\n\n")}) {
    const Collector seen = ask_script({{kHead + event + chunk(kDone) + kEnd}});
    EXPECT_EQ(to_string(seen.done[0].outcome), to_string(Outcome::bad_reply));
  }
}

TEST(HttpTarget, done_is_a_marker_whatever_blanks_are_around_it) {
  const Collector seen =
      ask_script({{kHead + chunk(content_delta("a")) + chunk("data:  [DONE] \n\n") + kEnd}});
  EXPECT_EQ(to_string(seen.done[0].outcome), to_string(Outcome::ok)) << seen.detail;
  EXPECT_TRUE(seen.done[0].done_marker);
}

TEST(HttpTarget, a_redirect_names_where_to) {
  const Collector seen = ask_script(
      {{"HTTP/1.1 308 Moved\r\nLocation: https://h/v1\r\nContent-Length: 6\r\n\r\n<html>"}});
  EXPECT_EQ(seen.done[0].outcome, Outcome::http_error);
  EXPECT_EQ(seen.detail, "HTTP 308: it has moved to https://h/v1");
}

TEST(HttpTarget, done_counts_from_the_marker_though_the_body_never_ends) {
  const Collector seen =
      ask_script({{kHead + chunk(content_delta("a")) + chunk(kDone)}, TargetEnding::hang});
  EXPECT_EQ(seen.done[0].outcome, Outcome::ok);
  EXPECT_EQ(seen.done[0].done, seen.done[0].last_token);
  EXPECT_GT(seen.done[0].released, seen.done[0].done);
}

// One edge reports the last bytes and the end of the connection: no second edge comes.
TEST(HttpTarget, an_end_that_comes_with_the_last_bytes_is_seen) {
  OsClock clock;
  Collector sink;
  auto listener = net::listen_on(*net::Address::numeric("127.0.0.1", 0), {});
  ASSERT_TRUE(listener);
  Asking asking;
  asking.endpoints.urls = {format("http://127.0.0.1:{}", net::local_address(*listener)->port())};
  auto target = HttpTarget::create(asking.plan, asking.datasets, asking.endpoints, {}, clock);
  ASSERT_TRUE(target) << target.error().message;
  net::Fd peer;
  const auto answer = [&](int nth, const std::string& reply, bool close) {
    (*target)->submit(Query{.index = static_cast<std::uint32_t>(nth)}, clock.now(), sink);
    while (sink.sent <= nth) (*target)->poll(clock.now() + 1_s, sink);
    if (!peer.open()) peer = net::Fd(::accept4(listener->get(), nullptr, nullptr, 0));
    char request[4096];
    EXPECT_GT(::recv(peer.get(), request, sizeof request, 0), 0);
    EXPECT_GT(::send(peer.get(), reply.data(), reply.size(), MSG_NOSIGNAL), 0);
    if (close) peer.reset();
    for (int i = 0; i < 20 && (*target)->in_flight() > 0; ++i) {
      (*target)->poll(clock.now() + 100_ms, sink);
    }
  };
  answer(0, kHead + chunk(content_delta("a") + kFinish + kUsage + kDone) + kEnd, false);
  answer(1,
         "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" +
             content_delta("a") + kFinish + kUsage,
         true);
  ASSERT_EQ(sink.done.size(), 2U);
  EXPECT_EQ(sink.done[1].outcome, Outcome::ok);
}

TEST(HttpTarget, a_silent_server_times_out) {
  ScriptedServer server({{kHead}, TargetEnding::hang});
  Asking asking;
  asking.endpoints.urls = {server.url()};
  asking.endpoints.query_timeout = 30_ms;
  const Collector seen = ask(asking);
  EXPECT_EQ(seen.done[0].outcome, Outcome::timed_out);
  EXPECT_GE(seen.done[0].done - seen.done[0].sent, 30_ms);
}

TEST(HttpTarget, nobody_listening_is_a_connect_failure_and_named_ahead) {
  std::uint16_t port = 0;
  {
    auto listener = net::listen_on(*net::Address::numeric("127.0.0.1", 0), {});
    port = net::local_address(*listener)->port();
  }
  Asking asking;
  asking.endpoints.urls = {format("http://127.0.0.1:{}", port)};
  const Collector seen = ask(asking, 3);
  for (const Event& event : seen.done) EXPECT_EQ(event.outcome, Outcome::connect_failed);
  OsClock clock;
  auto target = HttpTarget::create(asking.plan, asking.datasets, asking.endpoints, {}, clock);
  const auto connected = (*target)->connect_ahead(4);
  ASSERT_FALSE(connected);
  EXPECT_NE(connected.error().message.find("refused"), std::string::npos);
}

TEST(HttpTarget, a_phase_can_ask_one_endpoint_alone) {
  const Script script{{kHead + chunk(content_delta("a")) + chunk(kFinish) + chunk(kDone) + kEnd}};
  ScriptedServer first(script);
  ScriptedServer second(script);
  Asking asking;
  asking.plan.phases.resize(3, asking.plan.phases[0]);
  asking.endpoints.urls = {first.url(), second.url()};
  OsClock clock;
  Collector sink;
  auto target = HttpTarget::create(asking.plan, asking.datasets, asking.endpoints,
                                   {.endpoint_of_phase = {1, 0, 1}}, clock);
  ASSERT_TRUE(target) << target.error().message;
  std::vector<std::uint16_t> asked;
  for (const std::uint16_t phase : std::vector<std::uint16_t>{0, 0, 1, 2, 1}) {
    (*target)->submit(Query{.phase = phase}, clock.now(), sink);
    while ((*target)->in_flight() > 0) (*target)->poll(clock.now() + 1_s, sink);
    asked.push_back(sink.done.back().endpoint);
  }
  EXPECT_EQ(asked, (std::vector<std::uint16_t>{1, 1, 0, 1, 0}));
}

TEST(HttpTarget, cancelling_ends_every_query_once) {
  ScriptedServer server({{kHead}, TargetEnding::hang});
  Asking asking;
  asking.endpoints.urls = {server.url()};
  OsClock clock;
  Collector sink;
  auto target = HttpTarget::create(asking.plan, asking.datasets, asking.endpoints,
                                   {.connections_max = 1}, clock);
  for (std::uint32_t i = 0; i < 5; ++i) (*target)->submit(Query{.index = i}, clock.now(), sink);
  while (sink.sent == 0) (*target)->poll(clock.now() + 1_s, sink);
  (*target)->cancel_all(sink);
  EXPECT_EQ(sink.done.size(), 5U);
  EXPECT_EQ((*target)->in_flight(), 0U);
  for (const Event& event : sink.done) EXPECT_EQ(event.outcome, Outcome::cancelled);
}

}  // namespace
}  // namespace assay::protocol
