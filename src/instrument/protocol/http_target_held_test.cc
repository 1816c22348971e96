// The target reads all connections with bytes before it handles any of them.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/format.h"
#include "domain/quiet_sink.h"
#include "net/socket.h"
#include "protocol/http_target.h"

namespace assay::protocol {
namespace {

class Seen final : public QuietSink {
 public:
  explicit Seen(const Clock& clock) : clock_(clock) {}
  void on_sent(const Query&, Instant, Instant) override { ++sent; }
  void on_done(const Event& event, std::string_view why) override {
    if (done.empty()) first_told = clock_.now();
    done.push_back(event);
    detail += why;
  }
  int sent = 0;
  Instant first_told{};
  std::vector<Event> done{};
  std::string detail{};

 private:
  const Clock& clock_;
};

// `count` queries under way; the test holds the other end of each connection.
class Together {
 public:
  explicit Together(int count) : sink(clock) {
    auto listener = net::listen_on(*net::Address::numeric("127.0.0.1", 0), {});
    plan_.phases = {PhasePlan{.order = SampleOrder::sequential(1)}};
    datasets_[0].dataset.name = "test";
    datasets_[0].dataset.samples.push_back(Sample{.prompt = "hello"});
    datasets_[0].generation.model = "m";
    datasets_[0].generation.stream = false;
    endpoints_.urls = {format("http://127.0.0.1:{}", net::local_address(*listener)->port())};
    auto made = HttpTarget::create(plan_, datasets_, endpoints_, {}, clock);
    EXPECT_TRUE(made) << made.error().message;
    target = std::move(*made);
    for (int i = 0; i < count; ++i) {
      target->submit(Query{.index = static_cast<std::uint32_t>(i)}, clock.now(), sink);
    }
    while (sink.sent < count) target->poll(clock.now() + 1_s, sink);
    char request[4096];
    for (int i = 0; i < count; ++i) {
      peers.emplace_back(::accept4(listener->get(), nullptr, nullptr, 0));
      EXPECT_GT(::recv(peers.back().get(), request, sizeof request, 0), 0);
    }
  }
  void answer(std::size_t nth, const std::string& bytes) {
    const ssize_t sent = ::send(peers[nth].get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    EXPECT_EQ(sent, static_cast<ssize_t>(bytes.size()));
  }
  void finish() {
    while (target->in_flight() > 0) target->poll(clock.now() + 1_s, sink);
  }

  OsClock clock{};
  Seen sink;
  std::unique_ptr<HttpTarget> target{};
  std::vector<net::Fd> peers{};

 private:
  Plan plan_{};
  std::vector<PlannedDataset> datasets_{1};
  Endpoints endpoints_{};
};

std::string reply_of_words(std::size_t words_bytes) {
  const std::string body = format(
      "{{\"choices\":[{{\"index\":0,\"message\":{{\"content\":\"{}\"}},\"finish_reason\":"
      "\"stop\"}}],\"usage\":{{\"prompt_tokens\":1,\"completion_tokens\":{}}}}}",
      std::string(words_bytes, 'x'), words_bytes);
  return format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", body.size(), body);
}

TEST(HttpTargetHeld, what_came_together_is_read_before_it_is_looked_at) {
  bool together = false;
  // The kernel may deliver the last bytes a moment later than it reports: try again then.
  for (int attempt = 0; attempt < 50 && !together; ++attempt) {
    Together queries(5);
    for (std::size_t i = 0; i < queries.peers.size(); ++i) queries.answer(i, reply_of_words(i + 1));
    queries.target->poll(queries.clock.now() + 1_s, queries.sink);
    together = queries.target->stats().reads == queries.peers.size();
    queries.finish();
    ASSERT_EQ(queries.sink.done.size(), 5U);
    std::vector<int> tokens;
    for (const Event& event : queries.sink.done) {
      EXPECT_EQ(event.outcome, Outcome::ok) << queries.sink.detail;
      tokens.push_back(event.usage.completion_tokens);
      const Instant read = event.done + event.read_delay_done;
      EXPECT_TRUE(!together || read <= queries.sink.first_told);
    }
    std::sort(tokens.begin(), tokens.end());
    EXPECT_EQ(tokens, (std::vector<int>{1, 2, 3, 4, 5}));
  }
  EXPECT_TRUE(together);
}

// More than one read takes, beside others; exactly as much; and cut anywhere.
TEST(HttpTargetHeld, replies_of_any_size_beside_each_other_are_whole) {
  constexpr std::size_t kRoom = 32 * 1024;
  const std::size_t head = reply_of_words(kRoom).size() - kRoom;
  Together queries(4);
  const std::vector<std::string> replies = {reply_of_words(70'000), reply_of_words(kRoom - head),
                                            reply_of_words(3), reply_of_words(kRoom + 1)};
  ASSERT_EQ(replies[1].size(), kRoom);
  for (std::size_t i = 0; i < 4; ++i) queries.answer(i, replies[i].substr(0, 40'000));
  queries.target->poll(queries.clock.now() + 1_s, queries.sink);
  queries.answer(0, replies[0].substr(40'000));
  queries.finish();
  ASSERT_EQ(queries.sink.done.size(), 4U);
  for (const Event& event : queries.sink.done) {
    EXPECT_EQ(event.outcome, Outcome::ok) << queries.sink.detail;
  }
}

// One connection ends in the middle of the others' bytes.
TEST(HttpTargetHeld, one_that_breaks_does_not_take_the_others_along) {
  Together queries(3);
  queries.answer(0, reply_of_words(2));
  queries.answer(1, reply_of_words(2).substr(0, 30));
  queries.peers[1].reset();
  queries.answer(2, reply_of_words(2));
  queries.finish();
  std::size_t sound = 0;
  for (const Event& event : queries.sink.done) sound += event.outcome == Outcome::ok ? 1 : 0;
  EXPECT_EQ(queries.sink.done.size(), 3U);
  EXPECT_EQ(sound, 2U);
}

}  // namespace
}  // namespace assay::protocol
