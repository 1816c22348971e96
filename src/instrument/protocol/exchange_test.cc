// Exchange against a slow twin: bytes with stamps in, milestones and stream events out. Random
// streams of all that servers send (several fragments in one event, usage, comments, [DONE],
// errors, invalid JSON) are cut into random reads with random stamps. The twin knows where each
// event ends in the bytes, looks up the read with that byte, and derives the expected results from
// the definitions of domain/event.h.
#include "protocol/exchange.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/rng.h"
#include "domain/quiet_sink.h"

namespace assay::protocol {
namespace {

struct Piece {
  Category category = Category::text;
  std::string text{};
};

// One event of a stream as the server means it.
struct Meant {
  std::string bytes{};  // as sent, blank line included
  std::size_t over{};   // of them, behind the event's end: the LF of a blank line's CRLF
  std::vector<Piece> fragments{};
  Category category = Category::other;  // where it has no fragment
  FinishReason finish = FinishReason::none;
  Usage usage{};
  bool is_event = true;  // a comment is none
  bool malformed = false;
  bool has_choice = false;
  std::string error{};
};

std::string random_text(Rng& rng) {
  std::string out;
  for (std::uint64_t n = 1 + rng.below(12); n-- > 0;) out += static_cast<char>('a' + rng.below(26));
  return out;
}

Meant framed(Meant meant, const std::string& data, Rng& rng) {
  meant.over = rng.below(2);
  const std::string end = meant.over == 0 ? "\n" : "\r\n";
  meant.bytes = format("data:{}{}{}{}", rng.below(2) == 0 ? "" : " ", data, end, end);
  return meant;
}

// A delta with up to two kinds of fragment, in the order in which the decoder gives them.
Meant delta(Rng& rng) {
  Meant out{.has_choice = true};
  std::string fields;
  if (rng.below(3) == 0) out.fragments.push_back({Category::reasoning, random_text(rng)});
  if (rng.below(2) == 0) out.fragments.push_back({Category::text, random_text(rng)});
  for (const Piece& one : out.fragments) {
    fields += format(R"({}"{}":"{}")", fields.empty() ? "" : ",",
                     one.category == Category::text ? "content" : "reasoning_content", one.text);
  }
  if (out.fragments.empty()) {
    fields = R"("role":"assistant")";
    out.category = Category::role;
  }
  std::string finish = "null";
  if (rng.below(6) == 0) {
    out.finish = rng.below(2) == 0 ? FinishReason::stop : FinishReason::length;
    finish = format(R"("{}")", to_string(out.finish));
    if (out.fragments.empty()) out.category = Category::finish;
  }
  const std::string data =
      format(R"({{"choices":[{{"index":0,"delta":{{{}}},"finish_reason":{}}}]}})", fields, finish);
  return framed(out, data, rng);
}

Meant usage(Rng& rng) {
  const auto number = [&] { return static_cast<std::int32_t>(rng.below(1000)); };
  Meant out{.category = Category::usage, .usage = {number(), number(), number(), number()}};
  const Usage& u = out.usage;
  const std::string data =
      format(R"({{"choices":[],"usage":{{"prompt_tokens":{},"completion_tokens":{},)"
             R"("prompt_tokens_details":{{"cached_tokens":{}}},)"
             R"("completion_tokens_details":{{"reasoning_tokens":{}}}}}}})",
             u.prompt_tokens, u.completion_tokens, u.cached_tokens, u.reasoning_tokens);
  return framed(out, data, rng);
}

Meant comment() {
  Meant out{.is_event = false};
  out.bytes = ": ping\n\n";
  return out;
}

Meant done_marker(Rng& rng) { return framed({.category = Category::marker}, "[DONE]", rng); }

Meant random_event(Rng& rng) {
  switch (rng.below(12)) {
    case 0:
      return usage(rng);
    case 1:
      return comment();
    case 2:
      if (rng.below(8) != 0) return delta(rng);
      return framed({.malformed = true}, R"({"choices":[)", rng);
    case 3: {
      if (rng.below(8) != 0) return delta(rng);
      Meant error{.category = Category::error, .error = random_text(rng)};
      return framed(error, format(R"({{"error":{{"message":"{}"}}}})", error.error), rng);
    }
    default:
      return delta(rng);
  }
}

// Most end in [DONE]; after it some servers send their usage, or repeat it.
std::vector<Meant> random_stream(Rng& rng) {
  std::vector<Meant> out(1 + rng.below(20));
  for (Meant& one : out) one = random_event(rng);
  if (rng.below(3) == 0) return out;
  out.push_back(done_marker(rng));
  if (rng.below(4) == 0) out.push_back(usage(rng));
  if (rng.below(4) == 0) out.push_back(comment());
  if (rng.below(8) == 0) out.push_back(done_marker(rng));
  return out;
}

struct Read {
  std::size_t end = 0;  // of its bytes, in the stream
  Stamp stamp{};
};

// Reads of random lengths; stamps go up, and our own read is some time behind the kernel's.
std::vector<Read> random_reads(Rng& rng, std::size_t bytes) {
  std::vector<Read> out;
  Instant at = Instant{} + 1_s;
  while (out.empty() || out.back().end < bytes) {
    const std::size_t begin = out.empty() ? 0 : out.back().end;
    const std::uint64_t longest = rng.below(4) == 0 ? 2000 : 60;
    at = at + 1_us * static_cast<std::int64_t>(1 + rng.below(1000));
    const bool kernel = rng.below(20) != 0;
    const Instant read = kernel ? at + 1_us * static_cast<std::int64_t>(rng.below(50)) : at;
    out.push_back({std::min(bytes, begin + 1 + rng.below(longest)),
                   {.arrival = at, .read = read, .kernel = kernel}});
    at = read;
  }
  return out;
}

struct ToldEvent {
  StreamEvent event{};
  std::string text{};
  bool unsure = false;  // for the twin: whether it shares its read depends on the cuts
};

class KeepAll final : public QuietSink {
 public:
  void on_stream_event(const Query& query, const StreamEvent& event,
                       std::string_view text) override {
    EXPECT_EQ(query.index, 7U);
    events.push_back({.event = event, .text = std::string(text)});
  }
  void on_done(const Event& event, std::string_view why) override {
    ASSERT_FALSE(done) << "a query ends once";
    done = event;
    detail = why;
  }
  std::vector<ToldEvent> events{};
  std::optional<Event> done{};
  std::string detail{};
};

// A piece of the body with readable bytes behind it, as receive buffers have them.
struct Padded {
  explicit Padded(std::string_view bytes) : room(bytes.size() + kDecodePadding, '\0') {
    std::memcpy(room.data(), bytes.data(), bytes.size());
    text = std::string_view(room.data(), bytes.size());
  }
  std::vector<char> room;
  std::string_view text{};
};

struct ExchangeTwin {
  std::vector<ToldEvent> events{};
  Event done{};
};

void add(ExchangeTwin& twin, Category category, const std::string& text, bool shares,
         std::int32_t tokens, const Stamp& stamp) {
  Event& e = twin.done;
  if (is_fragment(category)) {
    if (e.fragments++ == 0) {
      e.first_fragment_bytes = static_cast<std::uint32_t>(text.size());
      e.first_token = stamp.arrival;
      e.read_delay_first_token = stamp.read - stamp.arrival;
    }
    if (category == Category::text && !e.first_visible.known()) e.first_visible = stamp.arrival;
    e.last_token = stamp.arrival;
    e.output_bytes += text.size();
  }
  twin.events.push_back({.event = {.category = category,
                                   .kernel_stamped = stamp.kernel,
                                   .shares_read = shares,
                                   .bytes = static_cast<std::uint32_t>(text.size()),
                                   .tokens_so_far = tokens,
                                   .arrival = stamp.arrival,
                                   .read = stamp.read},
                         .text = text});
}

void set_outcome(Event& e, const std::vector<Meant>& stream, bool whole, Outcome cut) {
  bool error = false;
  bool malformed = false;
  bool choice = false;
  for (const Meant& one : stream) {
    error = error || !one.error.empty();
    malformed = malformed || one.malformed;
    choice = choice || one.has_choice;
  }
  if (!whole && !e.done_marker) {
    e.outcome = error ? Outcome::stream_error : malformed ? Outcome::bad_reply : cut;
  } else if (error) {
    e.outcome = Outcome::stream_error;
  } else if (malformed || (e.done_marker && !choice)) {
    e.outcome = Outcome::bad_reply;
  } else {
    e.outcome = e.done_marker || e.finish != FinishReason::none ? Outcome::ok : Outcome::truncated;
  }
}

void expect_event(ExchangeTwin& twin, const Meant& one, const Read& read, std::size_t end) {
  Event& e = twin.done;
  const Stamp& stamp = read.stamp;
  // Seven bytes behind it may be framing. Its LF may be in the same read, or in a later one.
  const std::size_t rest = read.end - end;
  const bool shares = rest > 7 + one.over;
  ++e.stream_events;
  if (!e.first_event.known()) e.first_event = stamp.arrival;
  if (one.finish != FinishReason::none) e.finish = one.finish;
  if (one.usage.prompt_tokens >= 0) e.usage = one.usage;
  if (one.category == Category::marker && !e.done_marker) {
    e.done_marker = true;
    e.done = stamp.arrival;
    e.read_delay_done = stamp.read - stamp.arrival;
  }
  for (std::size_t i = 0; i < one.fragments.size(); ++i) {
    const bool more = i + 1 < one.fragments.size();
    add(twin, one.fragments[i].category, one.fragments[i].text, shares || more, -1, stamp);
  }
  if (one.fragments.empty()) {
    add(twin, one.category, "", shares, one.usage.completion_tokens, stamp);
  }
  twin.events.back().unsure = one.over == 1 && rest == 8;
}

ExchangeTwin expect(const std::vector<Meant>& stream, const std::vector<Read>& reads, bool whole,
                    Outcome cut, const Stamp& end) {
  ExchangeTwin twin;
  Event& e = twin.done;
  e.first_byte = reads.front().stamp.arrival;
  e.kernel_stamped = true;
  for (const Read& read : reads) e.kernel_stamped = e.kernel_stamped && read.stamp.kernel;
  std::size_t at = 0;
  for (const Meant& one : stream) {
    at += one.bytes.size();
    if (!one.is_event) continue;
    // The read that brought the event's last byte.
    const std::size_t end_of = at - one.over;
    const auto read = std::ranges::find_if(reads, [&](const Read& r) { return r.end >= end_of; });
    expect_event(twin, one, *read, end_of);
  }
  set_outcome(e, stream, whole, cut);
  if (!e.done_marker || e.outcome != Outcome::ok) {
    e.done = end.arrival;
    e.read_delay_done = end.read - end.arrival;
  }
  e.released = std::max(e.done, end.arrival);
  return twin;
}

void compare_events(const KeepAll& got, const ExchangeTwin& twin) {
  ASSERT_EQ(got.events.size(), twin.events.size());
  for (std::size_t i = 0; i < got.events.size(); ++i) {
    SCOPED_TRACE(format("stream event {}", i));
    const StreamEvent& a = got.events[i].event;
    const StreamEvent& b = twin.events[i].event;
    EXPECT_EQ(a.category, b.category);
    EXPECT_EQ(got.events[i].text, twin.events[i].text);
    EXPECT_EQ(a.bytes, b.bytes);
    EXPECT_EQ(a.tokens_so_far, b.tokens_so_far);
    EXPECT_EQ(a.arrival, b.arrival);
    EXPECT_EQ(a.read, b.read);
    EXPECT_EQ(a.kernel_stamped, b.kernel_stamped);
    if (!twin.events[i].unsure) {
      EXPECT_EQ(a.shares_read, b.shares_read);
    }
  }
}

void compare(const KeepAll& got, const ExchangeTwin& twin) {
  compare_events(got, twin);
  ASSERT_TRUE(got.done);
  const Event& a = *got.done;
  const Event& b = twin.done;
  EXPECT_EQ(a.outcome, b.outcome) << got.detail;
  EXPECT_EQ(a.finish, b.finish);
  EXPECT_EQ(a.done_marker, b.done_marker);
  EXPECT_EQ(a.kernel_stamped, b.kernel_stamped);
  EXPECT_EQ(a.first_byte, b.first_byte);
  EXPECT_EQ(a.first_event, b.first_event);
  EXPECT_EQ(a.first_token, b.first_token);
  EXPECT_EQ(a.first_visible, b.first_visible);
  EXPECT_EQ(a.last_token, b.last_token);
  EXPECT_EQ(a.done, b.done);
  EXPECT_EQ(a.released, b.released);
  EXPECT_EQ(a.read_delay_first_token, b.read_delay_first_token);
  EXPECT_EQ(a.read_delay_done, b.read_delay_done);
  EXPECT_EQ(a.stream_events, b.stream_events);
  EXPECT_EQ(a.fragments, b.fragments);
  EXPECT_EQ(a.first_fragment_bytes, b.first_fragment_bytes);
  EXPECT_EQ(a.output_bytes, b.output_bytes);
  EXPECT_EQ(a.usage, b.usage);
}

// The bytes of one read come in pieces (TLS records, chunks): `rest` counts those still to come.
void feed(Exchange& exchange, std::string_view bytes, const Stamp& stamp, Rng& rng,
          ReplyDecoder& decoder, EventSink& sink) {
  exchange.on_bytes(bytes.size(), stamp);
  while (!bytes.empty()) {
    const std::size_t size = 1 + rng.below(bytes.size());
    const Padded piece(bytes.substr(0, rng.below(2) == 0 ? bytes.size() : size));
    bytes.remove_prefix(piece.text.size());
    EXPECT_TRUE(exchange.on_body(piece.text, bytes.size(), stamp, decoder, sink));
  }
}

void compare_with_twin(std::uint64_t seed, Exchange& exchange, ReplyDecoder& decoder) {
  SCOPED_TRACE(seed);
  Rng rng(seed);
  const std::vector<Meant> stream = random_stream(rng);
  std::string bytes;
  for (const Meant& one : stream) bytes += one.bytes;
  const std::vector<Read> reads = random_reads(rng, bytes.size());
  const bool whole = rng.below(4) != 0;
  const Outcome cut = rng.below(2) == 0 ? Outcome::reset : Outcome::truncated;
  Stamp end = reads.back().stamp;
  if (rng.below(2) == 0) {  // the framing's end came in a read of its own
    end.arrival = end.arrival + 3_ms;
    end.read = end.arrival + 11_us;
  }
  KeepAll sink;
  exchange.begin({.index = 7}, Instant{} + 900_ms, 3, Asked{});
  exchange.set_connected(2_ms);
  exchange.set_sent(Instant{} + 950_ms, Instant{} + 950_ms);
  exchange.on_head({.status = 200, .type = net::ContentType::event_stream});
  std::size_t at = 0;
  for (const Read& read : reads) {
    feed(exchange, std::string_view(bytes).substr(at, read.end - at), read.stamp, rng, decoder,
         sink);
    at = read.end;
  }
  if (whole) {
    exchange.complete(end, decoder, sink);
  } else {
    exchange.cut_short(cut, end, "the peer went away", decoder, sink);
  }
  compare(sink, expect(stream, reads, whole, cut, end));
  EXPECT_EQ(sink.done->received_bytes, bytes.size());
  EXPECT_EQ(sink.done->due, Instant{} + 900_ms);
  EXPECT_EQ(sink.done->sent, Instant{} + 950_ms);
  EXPECT_EQ(sink.done->endpoint, 3U);
  EXPECT_EQ(sink.done->http_status, 200U);
  EXPECT_TRUE(sink.done->streamed);
  EXPECT_TRUE(sink.done->connected);
  EXPECT_EQ(sink.done->connect_time, 2_ms);
}

TEST(Exchange, milestones_are_those_of_the_reads_that_brought_the_bytes) {
  Exchange exchange;  // one for all: the state of one query must not reach the next
  ReplyDecoder decoder;
  for (std::uint64_t seed = 0; seed < 3000 && !HasFailure(); ++seed) {
    compare_with_twin(seed, exchange, decoder);
  }
}

const Stamp kAt{.arrival = Instant{} + 2_s, .read = Instant{} + 2_s + 40_us, .kernel = true};

KeepAll reply_of(std::uint16_t status, std::string_view body, net::ContentType type) {
  Exchange exchange;
  ReplyDecoder decoder;
  KeepAll sink;
  exchange.begin({.index = 7}, Instant{} + 1_s, 0, Asked{});
  exchange.set_sent(Instant{} + 1_s, Instant{} + 1_s);
  exchange.on_bytes(body.size(), kAt);
  exchange.on_head({.status = status, .type = type});
  const Padded piece(body);
  exchange.on_body(piece.text, 0, kAt, decoder, sink);
  exchange.complete(kAt, decoder, sink);
  return sink;
}

TEST(Exchange, a_reply_that_is_not_streamed_has_its_text_and_no_instants_of_tokens) {
  const KeepAll sink =
      reply_of(200,
               R"({"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}],)"
               R"("usage":{"prompt_tokens":3,"completion_tokens":2}})",
               net::ContentType::json);
  ASSERT_TRUE(sink.done);
  EXPECT_EQ(sink.done->outcome, Outcome::ok);
  EXPECT_FALSE(sink.done->streamed);
  EXPECT_FALSE(sink.done->first_token.known());
  EXPECT_FALSE(sink.done->last_token.known());
  EXPECT_EQ(sink.done->done, kAt.arrival);
  EXPECT_EQ(sink.done->read_delay_done, 40_us);
  EXPECT_EQ(sink.done->fragments, 1U);
  EXPECT_EQ(sink.done->output_bytes, 5U);
  EXPECT_EQ(sink.done->usage.completion_tokens, 2);
  EXPECT_EQ(sink.done->finish, FinishReason::stop);
  ASSERT_EQ(sink.events.size(), 1U);
  EXPECT_EQ(sink.events[0].text, "Hello");
  EXPECT_FALSE(sink.events[0].event.shares_read);
}

TEST(Exchange, a_status_other_than_200_fails_with_the_servers_words) {
  const KeepAll sink =
      reply_of(429, R"({"error":{"message":"slow down"}})", net::ContentType::json);
  ASSERT_TRUE(sink.done);
  EXPECT_EQ(sink.done->outcome, Outcome::http_error);
  EXPECT_EQ(sink.done->http_status, 429U);
  EXPECT_EQ(sink.detail, "HTTP 429: slow down");
  EXPECT_TRUE(sink.events.empty());
}

TEST(Exchange, the_first_bytes_tell_a_body_of_no_type) {
  const KeepAll whole =
      reply_of(200, " {\"choices\":[{\"message\":{\"content\":\"x\"}}]}", net::ContentType::none);
  EXPECT_EQ(whole.done->outcome, Outcome::ok);
  EXPECT_FALSE(whole.done->streamed);
  for (const char* const field : {"", "event: message\n", "id: 1\n", ": hi\n", "retry: 5\n"}) {
    const KeepAll stream = reply_of(200,
                                    format("{}data: {}\n\ndata: [DONE]\n\n", field,
                                           R"({"choices":[{"delta":{"content":"x"}}]})"),
                                    net::ContentType::none);
    EXPECT_EQ(stream.done->outcome, Outcome::ok) << field;
    EXPECT_TRUE(stream.done->streamed);
  }
  EXPECT_EQ(reply_of(200, "<html>", net::ContentType::none).done->outcome, Outcome::bad_reply);
  EXPECT_EQ(reply_of(200, " \r\n", net::ContentType::none).done->outcome, Outcome::truncated);
}

// The key comes back in a failure's text, in a whole reply, and in a stream that cuts it up.
TEST(Exchange, a_secret_that_the_server_echoes_reaches_no_sink) {
  const std::string key = "sk-0123456789abcdef";
  const Redactor redactor({{key}});
  const auto told = [&](std::uint16_t status, const std::string& body, net::ContentType type) {
    Exchange exchange;
    ReplyDecoder decoder;
    KeepAll sink;
    exchange.begin({.index = 7}, Instant{} + 1_s, 0, Asked{}, &redactor);
    exchange.on_head({.status = status, .type = type});
    const Padded piece(body);
    exchange.on_body(piece.text, 0, kAt, decoder, sink);
    exchange.complete(kAt, decoder, sink);
    std::string out = sink.detail;
    for (const ToldEvent& one : sink.events) {
      EXPECT_EQ(one.text.size(), one.event.bytes);
      out += one.text;
    }
    return out;
  };
  EXPECT_EQ(
      told(401, R"({"error":{"message":"bad key Bearer )" + key + R"("}})", net::ContentType::json),
      "HTTP 401: bad key Bearer <redacted>");
  EXPECT_EQ(told(200, R"({"choices":[{"message":{"content":"it is )" + key + R"("}}]})",
                 net::ContentType::json),
            "it is " + std::string(key.size(), '*'));
  std::string stream;
  for (const char c : key) {
    stream += format("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n", c);
  }
  EXPECT_EQ(told(200, stream + "data: [DONE]\n\n", net::ContentType::event_stream),
            "sk-0123" + std::string(key.size() - 7, '*'));
}

TEST(Exchange, a_stream_without_an_event_is_truncated) {
  const KeepAll empty = reply_of(200, ": ping\n\n", net::ContentType::event_stream);
  EXPECT_EQ(empty.done->outcome, Outcome::truncated);
  EXPECT_EQ(empty.detail, "the stream ended before its first event");
}

TEST(Exchange, a_failure_stands_at_the_instant_that_saw_it) {
  Exchange exchange;
  KeepAll sink;
  exchange.begin({.index = 7}, Instant{} + 1_s, 0, Asked{});
  EXPECT_FALSE(exchange.reply_started());
  exchange.fail(Outcome::timed_out, Instant{} + 5_s, "30 s without an end", sink);
  EXPECT_EQ(sink.done->outcome, Outcome::timed_out);
  EXPECT_EQ(sink.done->done, Instant{} + 5_s);
  EXPECT_EQ(sink.done->released, Instant{} + 5_s);
  EXPECT_EQ(sink.done->read_delay_done, Duration{});
  EXPECT_FALSE(sink.done->first_byte.known());
  EXPECT_EQ(sink.detail, "30 s without an end");
}

}  // namespace
}  // namespace assay::protocol
