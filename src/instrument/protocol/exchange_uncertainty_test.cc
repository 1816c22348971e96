// The uncertainty of events, by read.
#include <gtest/gtest.h>

#include <utility>

#include "domain/quiet_sink.h"
#include "protocol/exchange.h"

namespace assay::protocol {
namespace {

constexpr Instant kStart{10'000'000'000};

class Kept final : public QuietSink {
 public:
  void on_stream_event(const Query&, const StreamEvent& event, std::string_view) override {
    events.push_back(event);
  }
  void on_done(const Event& event, std::string_view) override { done = event; }
  std::vector<StreamEvent> events{};
  Event done{};
};

std::string word(std::string_view text) {
  return "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" + std::string(text) +
         "\"}}]}\n\n";
}

// A streamed reply under way; its bytes come in reads.
class Reply {
 public:
  explicit Reply(net::ContentType type = net::ContentType::event_stream) {
    exchange.begin(Query{}, kStart, 0, {.stream = type == net::ContentType::event_stream});
    exchange.set_sent(kStart, kStart + 40_us);
    net::ResponseHead head{};
    head.status = 200;
    head.type = type;
    exchange.on_head(head);
  }
  // `rest`: bytes of the same read behind it.
  void read(const std::string& body, const Stamp& stamp, std::size_t rest = 0) {
    bytes = body;
    bytes.reserve(body.size() + net::kSsePadding);
    exchange.on_bytes(body.size() + rest, stamp);
    EXPECT_TRUE(exchange.on_body(bytes, rest, stamp, decoder, sink));
  }

  Exchange exchange{};
  ReplyDecoder decoder{};
  Kept sink{};
  std::string bytes{};
};

// Stamped by the kernel at `at`, of a socket that was empty at `empty`.
Stamp stamped(Instant at, Instant empty) {
  return {.arrival = at, .read = at + 20_us, .kernel = true, .not_before = empty};
}

TEST(ExchangeUncertainty,
     the_last_event_of_a_read_is_exact_and_the_others_came_since_it_was_empty) {
  Reply reply;
  const Instant at = kStart + 9_ms;
  reply.read(word("a") + word("b") + word("c"), stamped(at, kStart + 1_ms));
  ASSERT_EQ(reply.sink.events.size(), 3u);
  EXPECT_EQ(reply.sink.events[0].uncertainty, 8_ms);
  EXPECT_EQ(reply.sink.events[1].uncertainty, 8_ms);
  EXPECT_EQ(reply.sink.events[2].uncertainty, Duration{});
}

TEST(ExchangeUncertainty, the_end_of_its_chunk_was_written_with_an_event) {
  Reply reply;
  reply.read(word("a"), stamped(kStart + 9_ms, kStart), 2);
  EXPECT_EQ(reply.sink.events[0].uncertainty, Duration{});
}

TEST(ExchangeUncertainty, the_end_of_the_body_may_come_long_after_its_last_event) {
  Reply reply;
  reply.read("data: [DONE]\n\n", stamped(kStart + 9_ms, kStart + 2_ms), 7);
  EXPECT_FALSE(reply.sink.events[0].shares_read);
  EXPECT_EQ(reply.sink.events[0].uncertainty, 7_ms);
}

TEST(ExchangeUncertainty, a_read_that_left_something_in_the_socket_bears_a_later_stamp) {
  Reply reply;
  Stamp stamp = stamped(kStart + 9_ms, kStart + 2_ms);
  stamp.emptied = false;
  reply.read(word("a"), stamp);
  EXPECT_EQ(reply.sink.events[0].uncertainty, 7_ms);
}

TEST(ExchangeUncertainty, without_a_stamp_every_event_is_uncertain) {
  Reply reply;
  Stamp stamp = stamped(kStart + 9_ms, kStart + 8_ms);
  stamp.kernel = false;
  reply.read(word("a"), stamp);
  EXPECT_EQ(reply.sink.events[0].uncertainty, 1_ms);
}

TEST(ExchangeUncertainty, fragments_of_one_event_came_together) {
  Reply reply;
  reply.read(
      "data: "
      "{\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"r\",\"content\":\"t\"}}]}"
      "\n\n",
      stamped(kStart + 9_ms, kStart));
  ASSERT_EQ(reply.sink.events.size(), 2u);
  for (const StreamEvent& event : reply.sink.events) EXPECT_EQ(event.uncertainty, Duration{});
}

TEST(ExchangeUncertainty, a_wait_in_which_the_thread_slept_narrows_it) {
  // Slept from 1 ms until its segments came at 9 ms, and ran at once.
  ThreadBooks books{.voluntary_switches = 5};
  WakeWatch wake{[&] { return std::optional<ThreadBooks>(books); }};
  wake.before_wait(kStart + 1_ms);
  ++books.voluntary_switches;
  wake.after_wait(kStart + 9_ms, false);
  Stamp stamp = stamped(kStart + 9_ms, kStart + 1_ms);
  stamp.wake = &wake;
  Reply reply;
  reply.read(word("a") + word("b"), stamp);
  EXPECT_LE(reply.sink.events[0].uncertainty, WakeWatch::kToWake);
  // A stop in the same wait: the thread gave its core up once more.
  wake.before_wait(kStart + 20_ms);
  books.voluntary_switches += 2;
  wake.after_wait(kStart + 28_ms, false);
  stamp = stamped(kStart + 28_ms, kStart + 20_ms);
  stamp.wake = &wake;
  reply.read(word("c") + word("d"), stamp);
  EXPECT_EQ(reply.sink.events[2].uncertainty, 8_ms);
}

TEST(ExchangeUncertainty, a_look_after_the_sleep_says_more_than_the_sleep) {
  ThreadBooks books{.voluntary_switches = 5};
  WakeWatch wake{[&] { return std::optional<ThreadBooks>(books); }};
  wake.before_wait(kStart + 1_ms);
  ++books.voluntary_switches;
  wake.after_wait(kStart + 9_ms, false);
  Stamp stamp = stamped(kStart + 9_ms, kStart + 9_ms - 7_us);
  stamp.wake = &wake;
  Reply reply;
  reply.read(word("a") + word("b"), stamp);
  EXPECT_EQ(reply.sink.events[0].uncertainty, 7_us);
}

// A virtual machine's core that the hypervisor does not run: by the kernel's books the thread
// sleeps on, and the bytes lie there.
TEST(ExchangeUncertainty, a_sleep_that_went_on_after_the_last_byte_had_come_narrows_nothing) {
  constexpr Duration kEmptyFor{7'900'000};
  for (const auto& [late, uncertainty] :
       {std::pair{200_us, Duration{}},  // a core that slept deeply
        std::pair{200_us + 1_ns, kEmptyFor}}) {
    ThreadBooks books{.voluntary_switches = 5};
    WakeWatch wake{[&] { return std::optional<ThreadBooks>(books); }};
    const Instant stamp_at = kStart + 9_ms;
    const Instant woken = stamp_at + late;
    wake.before_wait(kStart + 1_ms);
    ++books.voluntary_switches;
    wake.after_wait(woken, false);
    Stamp stamp = stamped(stamp_at, stamp_at - kEmptyFor);
    stamp.read = woken;
    stamp.wake = &wake;
    Reply reply;
    reply.read(word("a") + word("b"), stamp);
    EXPECT_EQ(reply.sink.events[0].uncertainty, uncertainty);
    EXPECT_EQ(reply.sink.events[1].uncertainty, Duration{});
  }
}

TEST(ExchangeUncertainty, is_kept_for_the_instants_that_metrics_use) {
  Reply reply;
  const Instant first = kStart + 9_ms;
  reply.read(word("a") + word("b"), stamped(first, kStart + 6_ms));
  const Instant last = kStart + 20_ms;
  const Stamp stamp = stamped(last, kStart + 16_ms);
  reply.read("data: [DONE]\n\n" + word("c"), stamp);
  reply.exchange.complete(stamp, reply.decoder, reply.sink);
  const Event& done = reply.sink.done;
  EXPECT_EQ(done.outcome, Outcome::ok);
  EXPECT_EQ(done.sent_uncertainty, 40_us);
  EXPECT_EQ(done.first_token, first);
  EXPECT_EQ(done.first_token_uncertainty, 3_ms);
  EXPECT_EQ(done.first_visible_uncertainty, 3_ms);
  EXPECT_EQ(done.done, last);
  EXPECT_EQ(done.done_uncertainty, 4_ms);
}

TEST(ExchangeUncertainty, a_whole_reply_is_there_with_its_last_byte) {
  Reply reply(net::ContentType::json);
  const Stamp stamp = stamped(kStart + 9_ms, kStart);
  reply.read(R"({"choices":[{"index":0,"message":{"content":"hello"},"finish_reason":"stop"}]})",
             stamp);
  reply.exchange.complete(stamp, reply.decoder, reply.sink);
  EXPECT_EQ(reply.sink.done.outcome, Outcome::ok);
  EXPECT_EQ(reply.sink.done.done_uncertainty, Duration{});
}

}  // namespace
}  // namespace assay::protocol
