// The exact result of an Exchange for each kind of reply, to the word and the byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "domain/quiet_sink.h"
#include "protocol/exchange.h"

// GCC 12 takes the members of a braced list's temporaries for uninitialized where it destroys them.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace assay::protocol {
namespace {

using net::ContentType;

constexpr Instant kDue{1'000'000'000};
const Stamp kCame{.arrival = kDue + 5_ms, .read = kDue + 6_ms, .kernel = true};

// All reports to the sink, as text: two exchanges with the same text are equal.
class Story final : public QuietSink {
 public:
  void on_stream_event(const Query& query, const StreamEvent& e, std::string_view text) override {
    fragments += text;
    lines += format("{} {} choice {} shares {} tokens {} at {} read {} unsure {} '{}'\n",
                    query.index, to_string(e.category), e.choice, e.shares_read, e.tokens_so_far,
                    e.arrival.ns, e.read.ns, e.uncertainty.ns, text);
  }
  void on_done(const Event& e, std::string_view why) override {
    done = e;
    detail = why;
    lines +=
        format("{} {} {} streamed {} connected {} stamped {} marker {} status {} endpoint {}\n",
               e.query.index, to_string(e.outcome), to_string(e.finish), e.streamed, e.connected,
               e.kernel_stamped, e.done_marker, e.http_status, e.endpoint);
    lines +=
        format("due {} sent {} byte {} event {} token {} visible {} last {} done {} released {}\n",
               e.due.ns, e.sent.ns, e.first_byte.ns, e.first_event.ns, e.first_token.ns,
               e.first_visible.ns, e.last_token.ns, e.done.ns, e.released.ns);
    lines += format("retry {} delays {} {} connect {} unsure {} {} {} {}\n", e.retry_after.ns,
                    e.read_delay_first_token.ns, e.read_delay_done.ns, e.connect_time.ns,
                    e.sent_uncertainty.ns, e.first_token_uncertainty.ns,
                    e.first_visible_uncertainty.ns, e.done_uncertainty.ns);
    lines += format("events {} fragments {} first {} output {} received {} usage {} {} {} {}\n",
                    e.stream_events, e.fragments, e.first_fragment_bytes, e.output_bytes,
                    e.received_bytes, e.usage.prompt_tokens, e.usage.completion_tokens,
                    e.usage.reasoning_tokens, e.usage.cached_tokens);
    lines += format("asked {} {} {} late {} '{}'\n", e.stream_asked, e.tokens_max, e.choices_asked,
                    e.fragments_after_done, why);
  }
  std::string lines{};
  std::string fragments{};
  std::string detail{};
  Event done{};
};

struct Came {
  net::ResponseHead head{.status = 200, .type = ContentType::event_stream};
  std::vector<std::string> pieces{};
  Outcome cut = Outcome::ok;  // otherwise it is cut short with this outcome
  Stamp stamp = kCame;
};

// A piece of the body with readable bytes behind it, as receive buffers have them.
bool take_piece(Exchange& exchange, std::string body, std::size_t rest, const Stamp& stamp,
                ReplyDecoder& decoder, EventSink& sink) {
  const std::size_t size = body.size();
  body.append(net::kSsePadding + kDecodePadding, '\0');
  return exchange.on_body({body.data(), size}, rest, stamp, decoder, sink);
}

Story told_by(Exchange& exchange, const Came& reply, const Redactor* redactor = nullptr) {
  Story story;
  ReplyDecoder decoder;
  exchange.begin({.index = 7}, kDue, 2, {.stream = true, .tokens_max = 9, .choices = 3}, redactor);
  exchange.set_sent(kDue + 1_ms, kDue + 2_ms);
  bool going = exchange.on_head(reply.head);
  for (std::size_t i = 0; going && i < reply.pieces.size(); ++i) {
    exchange.on_bytes(reply.pieces[i].size(), reply.stamp);
    going = take_piece(exchange, reply.pieces[i], 0, reply.stamp, decoder, story);
  }
  EXPECT_EQ(going, !exchange.given_up());
  if (reply.cut == Outcome::ok) {
    exchange.complete(reply.stamp, decoder, story);
  } else {
    exchange.cut_short(reply.cut, reply.stamp, "it was cut", decoder, story);
  }
  return story;
}

Story told(const Came& reply) {
  Exchange exchange;
  return told_by(exchange, reply);
}

std::string event_of(std::string_view json) { return format("data: {}\n\n", json); }
std::string says(std::string_view text) {
  return event_of(format(R"({{"choices":[{{"delta":{{"content":"{}"}}}}]}})", text));
}
const std::string kFinished = event_of(R"({"choices":[{"delta":{},"finish_reason":"stop"}]})");
const std::string kMarker = event_of("[DONE]");
const std::string kBroken = event_of("{");
const std::string kWhole =
    R"({"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}})";

Came streamed(const std::string& body, Outcome cut = Outcome::ok) {
  return {.pieces = {body}, .cut = cut};
}
Came whole_reply(const std::string& body, ContentType type = ContentType::json) {
  return {.head = {.status = 200, .type = type}, .pieces = {body}};
}
Came error_page(std::uint16_t status, const std::string& body) {
  return {.head = {.status = status, .type = ContentType::text}, .pieces = {body}};
}

TEST(ExchangeRules, an_end_is_told_in_these_words) {
  struct EndCase {
    Came reply;
    Outcome outcome;
    std::string detail;
  };
  const std::vector<EndCase> cases{
      {streamed(says("a") + kFinished), Outcome::ok, ""},
      {streamed(says("a") + kMarker), Outcome::ok, ""},
      {streamed(says("a") + kFinished, Outcome::reset), Outcome::reset, "it was cut"},
      {streamed(says("a") + kMarker, Outcome::reset), Outcome::ok, ""},
      {streamed(says("a")), Outcome::truncated,
       "the stream ended without a finish reason and without [DONE]"},
      {streamed(": hi\n\n"), Outcome::truncated, "the stream ended before its first event"},
      {streamed(kMarker), Outcome::bad_reply,
       "the stream ended without a choice in any of its events"},
      {streamed(says("a") + kBroken + kBroken + kFinished), Outcome::bad_reply,
       "2 of 4 events of the stream are not a JSON object, the first \"{\": clients that parse "
       "each "
       "event fail there"},
      {streamed(kBroken + event_of(R"({"error":"one"})") + event_of(R"({"error":"two"})")),
       Outcome::stream_error, "one"},
      {streamed(event_of(R"({"error":"one"})") + kBroken + kMarker), Outcome::stream_error, "one"},
      {streamed(event_of(R"({"error":"one"})"), Outcome::timed_out), Outcome::stream_error, "one"},
      {streamed(kBroken, Outcome::timed_out), Outcome::bad_reply,
       "1 of 1 events of the stream is not a JSON object, the first \"{\": clients that parse each "
       "event fail there"},
      {whole_reply(kWhole), Outcome::ok, ""},
      {whole_reply(kWhole, ContentType::none), Outcome::ok, ""},
      {whole_reply("{}"), Outcome::bad_reply, "not a reply of this API: {}"},
      {whole_reply("<html>"), Outcome::bad_reply, "not a reply of this API: <html>"},
      {whole_reply(R"({"choices":[7]})"), Outcome::bad_reply,
       "not a reply of this API: {\"choices\":[7]}"},
      {whole_reply(R"({"error":{"message":"busy"}})"), Outcome::stream_error, "busy"},
      {whole_reply(R"({"choices":[{"message":{"content":"a"},"finish_reason":"stop"},)"
                   R"({"message":{},"finish_reason":"error"}]})"),
       Outcome::stream_error, "the server ended the reply with finish_reason error"},
      {whole_reply(" \n"), Outcome::truncated, "the reply is empty"},
      {error_page(500, "boom"), Outcome::http_error, "HTTP 500: boom"},
      {error_page(500, ""), Outcome::http_error, "HTTP 500: "},
      {error_page(201, kWhole), Outcome::http_error, "HTTP 201: " + kWhole},
      {{.head = {.status = 302, .location = "/b"}, .pieces = {"boom"}},
       Outcome::http_error,
       "HTTP 302: it has moved to /b"},
      {{.head = {.status = 500}, .pieces = {"boom"}, .cut = Outcome::reset},
       Outcome::http_error,
       "HTTP 500: boom"},
      {{.head = {.status = 500, .coding = net::ContentCoding::gzip}, .pieces = {"boom"}},
       Outcome::http_error,
       "HTTP 500: "},
      {{.head = {.status = 200, .coding = net::ContentCoding::br}},
       Outcome::bad_reply,
       "the reply is compressed (br), not asked for"},
      {{.head = {.status = 200, .coding = net::ContentCoding::br}, .cut = Outcome::reset},
       Outcome::bad_reply,
       "the reply is compressed (br), not asked for"},
      {{.cut = Outcome::timed_out}, Outcome::timed_out, "it was cut"},
  };
  for (const EndCase& c : cases) {
    const Story story = told(c.reply);
    EXPECT_EQ(to_string(story.done.outcome), to_string(c.outcome)) << c.detail;
    EXPECT_EQ(story.detail, c.detail);
    EXPECT_EQ(story.done.http_status, c.reply.head.status);
    EXPECT_EQ(story.done.done, kCame.arrival);
    EXPECT_EQ(story.done.read_delay_done, 1_ms);
  }
}

TEST(ExchangeRules, a_stream_is_known_by_its_type_or_by_its_first_byte) {
  for (const std::string begin : {"", " \t\r\n", "\xEF\xBB\xBF", "\n\n"}) {
    for (const char c : std::string("d:eir")) {
      const std::string line = c == 'd' ? "" : format("{}\n", c);
      const Story story = told(whole_reply(begin + line + says("a") + kMarker, ContentType::none));
      EXPECT_TRUE(story.done.streamed) << c;
    }
    EXPECT_FALSE(told(whole_reply(begin + kWhole, ContentType::none)).done.streamed) << begin;
  }
  EXPECT_FALSE(told(whole_reply("x" + says("a"), ContentType::other)).done.streamed);
  // White space first, and the rest in another read.
  EXPECT_EQ(told({.head = {.status = 200}, .pieces = {"\n", kWhole}}).done.outcome, Outcome::ok);
  EXPECT_EQ(told({.head = {.status = 200}, .pieces = {"\n", says("a") + kMarker}}).done.outcome,
            Outcome::ok);
  // A reply named a stream is read as one, for any first bytes.
  EXPECT_EQ(told(streamed(kWhole)).done.outcome, Outcome::truncated);
}

TEST(ExchangeRules, a_wish_to_be_left_alone_is_heard_up_to_an_hour) {
  const auto wish = [](std::uint16_t status, std::string_view seconds) {
    net::ResponseHead head{.status = status};
    if (!seconds.empty()) head.retry.take_retry_after(seconds);
    return told({.head = head}).done.retry_after;
  };
  EXPECT_EQ(wish(429, "0"), 0_s);
  EXPECT_EQ(wish(503, "7"), 7_s);
  EXPECT_EQ(wish(429, "3600"), 3600_s);
  EXPECT_EQ(wish(429, "3601"), 3600_s);
  EXPECT_LT(wish(429, ""), Duration{});
  EXPECT_LT(wish(200, "7"), Duration{});
}

TEST(ExchangeRules, usage_is_gathered_from_all_events_that_tell_some) {
  const Story story = told(streamed(
      says("a") + event_of(R"({"usage":{"prompt_tokens":3,"completion_tokens":1}})") +
      event_of(R"({"usage":{"completion_tokens":2,"reasoning_tokens":1}})") +
      event_of(R"({"usage":{"prompt_tokens_details":{"cached_tokens":0},"prompt_tokens":null}})") +
      kFinished));
  EXPECT_EQ(story.done.usage, (Usage{3, 2, 1, 0}));
  EXPECT_EQ(story.done.finish, FinishReason::stop);
  EXPECT_EQ(story.done.stream_events, 5U);
}

TEST(ExchangeRules, the_last_finish_reason_counts) {
  const std::string length = event_of(R"({"choices":[{"delta":{},"finish_reason":"length"}]})");
  EXPECT_EQ(told(streamed(kFinished + length + says("a"))).done.finish, FinishReason::length);
}

// The marker is the end: later fragments are noticed, but in no other count.
TEST(ExchangeRules, of_what_comes_behind_the_marker_only_the_number_is_kept) {
  const std::string two = event_of(
      R"({"choices":[{"delta":{"content":"x","reasoning":"y"},"finish_reason":"length"}]})");
  const Story story = told(streamed(says("a") + kFinished + kMarker + two + says("b") + kMarker));
  EXPECT_EQ(story.done.fragments, 1U);
  EXPECT_EQ(story.done.fragments_after_done, 3U);
  EXPECT_EQ(story.done.finish, FinishReason::stop);
  EXPECT_EQ(story.fragments, "a");
  // Usage without a fragment still counts there: some servers send it last.
  const Story late =
      told(streamed(says("a") + kMarker + event_of(R"({"usage":{"prompt_tokens":8}})")));
  EXPECT_EQ(late.done.usage.prompt_tokens, 8);
}

TEST(ExchangeRules, of_an_error_page_64_kib_are_read) {
  const std::size_t most = 64 * 1024;
  const auto read_on = [](const std::vector<std::string>& pieces) {
    Exchange exchange;
    Story story;
    ReplyDecoder decoder;
    exchange.begin({}, kDue, 0, {});
    exchange.on_head({.status = 500});
    bool going = true;
    for (const std::string& piece : pieces) {
      EXPECT_TRUE(going);
      going = exchange.on_body(piece, 0, kCame, decoder, story);
    }
    exchange.complete(kCame, decoder, story);
    EXPECT_EQ(story.detail.substr(0, 12), "HTTP 500: xx");
    return going;
  };
  EXPECT_TRUE(read_on({std::string(most - 1, 'x')}));
  EXPECT_FALSE(read_on({std::string(most, 'x')}));
  EXPECT_FALSE(read_on({std::string(most + 9, 'x')}));
  EXPECT_FALSE(read_on({std::string(100, 'x'), std::string(most, 'x')}));
  EXPECT_TRUE(read_on({std::string(100, 'x'), std::string(most - 101, 'x')}));
}

TEST(ExchangeRules, a_reply_that_finds_no_room_is_told_as_such_whatever_else_it_says) {
  MemoryBudget budget(40'000);
  const std::string much(60'000, 'x');
  for (const Came& reply :
       {streamed("data: " + much), streamed("data: " + much.substr(0, 15'000) + "\ndata: " + much),
        whole_reply("{\"a\":\"" + much), streamed(says(much), Outcome::reset),
        streamed(event_of(R"({"error":"one"})") + "data: " + much)}) {
    Exchange exchange(&budget);
    const Story story = told_by(exchange, reply);
    EXPECT_EQ(to_string(story.done.outcome), "over_memory");
    EXPECT_EQ(story.detail,
              "reply over the memory budget of 40.0 kB for all connections (--memory-max)");
    EXPECT_TRUE(exchange.given_up());
  }
  EXPECT_EQ(budget.in_use(), 0U);
  // An error page's text is left out, but not its status.
  Exchange exchange(&budget);
  EXPECT_EQ(told_by(exchange, error_page(500, std::string(50'000, 'x'))).detail, "HTTP 500: ");
  EXPECT_TRUE(exchange.given_up());
}

// A decoder's buffer is part of the budget too: for an event, and for a whole reply.
TEST(ExchangeRules, a_reply_that_finds_no_room_to_be_decoded_is_told_as_such) {
  const std::string text(20'000, 'x');
  for (const bool streamed : {true, false}) {
    MemoryBudget budget(30'000);
    ReplyDecoder decoder(&budget);
    Exchange exchange(&budget);
    Story story;
    exchange.begin({}, kDue, 0, {});
    exchange.on_head(
        {.status = 200, .type = streamed ? ContentType::event_stream : ContentType::json});
    const std::string body = streamed
                                 ? says(text) + event_of(R"({"error":"late"})") + kMarker
                                 : R"({"choices":[{"message":{"content":")" + text + R"("}}]})";
    EXPECT_EQ(take_piece(exchange, body, 0, kCame, decoder, story), !streamed);
    exchange.complete(kCame, decoder, story);
    EXPECT_EQ(to_string(story.done.outcome), "over_memory");
    EXPECT_THAT(story.detail, testing::StartsWith("reply over the memory budget"));
    EXPECT_EQ(budget.in_use(), 0U);
  }
}

TEST(ExchangeRules, it_knows_when_nothing_more_can_change_the_outcome) {
  Exchange exchange;
  Story story;
  ReplyDecoder decoder;
  const auto begin = [&](std::uint16_t status) {
    exchange.begin({}, kDue, 0, {});
    EXPECT_FALSE(exchange.settled());
    EXPECT_FALSE(exchange.done_marker());
    EXPECT_FALSE(exchange.given_up());
    EXPECT_FALSE(exchange.reply_started());
    exchange.on_bytes(0, kCame);
    EXPECT_TRUE(exchange.reply_started());
    EXPECT_TRUE(exchange.on_head({.status = status, .type = ContentType::event_stream}));
  };
  const auto read = [&](const std::string& body) {
    take_piece(exchange, body, 0, kCame, decoder, story);
  };
  begin(200);
  read(says("a") + kFinished);
  EXPECT_FALSE(exchange.settled());
  read(kMarker);
  EXPECT_TRUE(exchange.settled());
  EXPECT_TRUE(exchange.done_marker());
  exchange.complete(kCame, decoder, story);
  begin(200);
  read(kBroken);
  EXPECT_TRUE(exchange.settled());
  EXPECT_FALSE(exchange.done_marker());
  exchange.complete(kCame, decoder, story);
  begin(404);
  EXPECT_TRUE(exchange.settled());
  exchange.complete(kCame, decoder, story);
  exchange.begin({.index = 3}, kDue, 0, {});
  exchange.set_sent(kDue + 4_ms, kDue + 5_ms);
  EXPECT_EQ(exchange.query().index, 3U);
  EXPECT_EQ(exchange.due(), kDue);
  EXPECT_EQ(exchange.sent(), kDue + 4_ms);
}

// If an event's end cannot be placed exactly, it lies between the last empty read and this one.
TEST(ExchangeRules, an_instant_that_is_not_exact_came_since_the_socket_was_empty) {
  Stamp stamp = kCame;
  EXPECT_EQ(stamp.uncertainty(true), Duration{});
  EXPECT_EQ(stamp.uncertainty(false), Duration{});  // nothing is known
  stamp.not_before = kCame.arrival - 3_ms;
  EXPECT_EQ(stamp.uncertainty(true), Duration{});
  EXPECT_EQ(stamp.uncertainty(false), 3_ms);
  stamp.emptied = false;
  EXPECT_EQ(stamp.uncertainty(true), 3_ms);
  stamp.emptied = true;
  stamp.kernel = false;
  EXPECT_EQ(stamp.uncertainty(true), 3_ms);
  stamp.not_before = kCame.arrival + 1_ms;
  EXPECT_EQ(stamp.uncertainty(false), Duration{});
}

TEST(ExchangeRules, an_end_is_as_uncertain_as_the_read_that_brought_it) {
  const Stamp unsure{
      .arrival = kCame.arrival, .read = kCame.read, .not_before = kCame.arrival - 3_ms};
  for (Came reply : {streamed(says("a") + kFinished), streamed(says("a"), Outcome::reset),
                     whole_reply(kWhole), error_page(500, "x"), streamed(kMarker)}) {
    reply.stamp = unsure;
    EXPECT_EQ(told(reply).done.done_uncertainty, 3_ms);
    reply.stamp.kernel = true;
    EXPECT_EQ(told(reply).done.done_uncertainty, Duration{});
  }
}

// A piece is exact and alone in its read where at most a chunk's end follows it.
void expect_shared_read(Exchange& exchange, const std::string& piece, const Asked& asked,
                        ContentType type) {
  ReplyDecoder decoder;
  Stamp stamp = kCame;
  stamp.not_before = kCame.arrival - 3_ms;
  for (const std::size_t rest : {0U, 2U, 3U, 7U, 8U}) {
    Story story;
    exchange.begin({}, kDue, 0, asked);
    exchange.on_head({.status = 200, .type = type});
    EXPECT_TRUE(take_piece(exchange, piece, rest, stamp, decoder, story));
    EXPECT_THAT(story.lines, testing::HasSubstr(format("shares {} ", rest > 7))) << rest;
    EXPECT_THAT(story.lines, testing::HasSubstr(format("unsure {} ", rest > 2 ? 3'000'000 : 0)))
        << rest;
    exchange.complete(stamp, decoder, story);
  }
}

TEST(ExchangeRules, an_event_is_exact_where_only_the_end_of_its_chunk_follows_it) {
  Exchange exchange;
  expect_shared_read(exchange, says("a"), {}, ContentType::event_stream);
}

TEST(ExchangeRules, a_done_that_is_before_the_end_is_let_go_of_at_the_end) {
  Exchange exchange;
  ReplyDecoder decoder;
  Story story;
  exchange.begin({}, kDue, 0, {});
  exchange.on_head({.status = 200, .type = ContentType::event_stream});
  take_piece(exchange, says("a") + kMarker, 0, kCame, decoder, story);
  const Stamp end{.arrival = kCame.arrival + 9_ms, .read = kCame.read + 9_ms, .kernel = true};
  exchange.cut_short(Outcome::reset, end, "late", decoder, story);
  EXPECT_EQ(story.done.outcome, Outcome::ok);
  EXPECT_EQ(story.done.done, kCame.arrival);
  EXPECT_EQ(story.done.released, end.arrival);
}

// One exchange serves query after query: each result is the same as for a first query.
TEST(ExchangeRules, nothing_of_a_reply_is_left_for_the_next) {
  const Redactor redactor({{.text = "secret-key"}});
  const std::vector<Came> replies{
      streamed(says("a") + event_of(R"({"usage":{"prompt_tokens":3,"completion_tokens":1}})") +
               kMarker),
      streamed(event_of(R"({"choices":[{"index":4,"delta":{"reasoning":"r"}}]})") + kFinished),
      streamed(event_of(R"({"error":"one"})")),
      streamed(kBroken),
      streamed(kMarker),
      streamed("data: {\"choices\""),
      streamed("event: error\n: half", Outcome::reset),
      streamed(event_of(R"({"text":"abc"})") + event_of(R"({"text":"abcd"})")),
      streamed(says("se") + says("cret-key")),
      whole_reply(kWhole),
      whole_reply("{\"choices\"", ContentType::none),
      whole_reply(" ", ContentType::none),
      error_page(429, "slow"),
      {.head = {.status = 302, .location = "/b"}},
      {.head = {.status = 200, .coding = net::ContentCoding::br}},
      {.cut = Outcome::timed_out},
      {.head = {.status = 500}, .pieces = {std::string(70'000, 'x')}},
      {.pieces = {says("a")}, .stamp = {.arrival = kDue + 8_ms, .read = kDue + 8_ms}},
  };
  for (const Came& before : replies) {
    for (const Came& after : replies) {
      Exchange exchange;
      told_by(exchange, before, &redactor);
      EXPECT_EQ(told_by(exchange, after).lines, told(after).lines);
    }
  }
  Exchange exchange;
  told_by(exchange, replies[0]);
  Exchange connected;
  connected.begin({}, kDue, 0, {});
  connected.set_connected(3_ms);
  Story story;
  connected.fail(Outcome::reset, kDue, "", story);
  EXPECT_TRUE(story.done.connected);
  EXPECT_EQ(story.done.connect_time, 3_ms);
  EXPECT_EQ(told_by(connected, replies[0]).lines, told(replies[0]).lines);
}

TEST(ExchangeRules, a_line_shares_its_read_and_is_exact_as_an_event_is) {
  Exchange exchange;
  expect_shared_read(exchange, "{\"response\":\"a\"}\n", {.api = Api::ollama_generate}, {});
  ReplyDecoder decoder;
  // What is left of a line does not reach the next reply, and without one it is the last line.
  for (const bool cut : {true, false}) {
    Story story;
    exchange.begin({}, kDue, 0, {.api = Api::ollama_generate});
    exchange.on_head({.status = 200});
    take_piece(exchange, "{\"response\":\"b\",\"done\":true}", 0, kCame, decoder, story);
    EXPECT_EQ(story.fragments, "");
    if (cut) exchange.cut_short(Outcome::reset, kCame, "cut", decoder, story);
    if (!cut) exchange.complete(kCame, decoder, story);
    EXPECT_EQ(story.fragments, cut ? "" : "b");
    EXPECT_EQ(story.done.outcome, cut ? Outcome::reset : Outcome::ok);
  }
}

TEST(ExchangeRules, a_line_that_finds_no_room_is_told_as_such) {
  MemoryBudget budget(40'000);
  Exchange exchange(&budget);
  ReplyDecoder decoder;
  Story story;
  exchange.begin({}, kDue, 0, {.api = Api::ollama_generate});
  exchange.on_head({.status = 200});
  EXPECT_FALSE(take_piece(exchange, "{\"response\":\"a\"}\n" + std::string(60'000, '{'), 0, kCame,
                          decoder, story));
  exchange.complete(kCame, decoder, story);
  EXPECT_EQ(story.done.outcome, Outcome::over_memory);
  EXPECT_EQ(story.fragments, "a");
}

TEST(ExchangeRules, an_event_or_a_line_that_never_ends_is_given_up_at_64_mib) {
  for (const Api api : {Api::openai, Api::ollama_generate}) {
    Exchange exchange;
    ReplyDecoder decoder;
    Story story;
    exchange.begin({}, kDue, 0, {.api = api});
    const bool events = api == Api::openai;
    exchange.on_head(
        {.status = 200, .type = events ? ContentType::event_stream : ContentType::none});
    const std::string piece = "data: " + std::string((std::size_t{16} << 20) - 6, '{');
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(exchange.on_body(piece, 0, kCame, decoder, story)) << i;
    EXPECT_FALSE(exchange.on_body(piece, 0, kCame, decoder, story));
    exchange.complete(kCame, decoder, story);
    EXPECT_EQ(story.done.outcome, Outcome::bad_reply);
    EXPECT_EQ(story.detail,
              format("one {} of the stream is longer than 64 MiB", events ? "event" : "line"));
  }
}

TEST(ExchangeRules, a_message_shares_its_read_with_any_byte_behind_it) {
  Stamp stamp = kCame;
  stamp.not_before = kCame.arrival - 3_ms;
  for (const std::size_t behind : {0U, 1U, 9U}) {
    Exchange exchange;
    ReplyDecoder decoder;
    Story story;
    exchange.begin({}, kDue, 0, {.api = Api::realtime});
    exchange.on_socket();
    std::string message = R"({"type":"response.output_text.delta","delta":"hi"})";
    const std::size_t size = message.size();
    message.append(kDecodePadding, '\0');
    exchange.on_message({message.data(), size}, behind, stamp, decoder, story);
    EXPECT_EQ(story.fragments, "hi");
    EXPECT_THAT(story.lines, testing::HasSubstr(format("shares {} ", behind > 0)));
    EXPECT_THAT(story.lines, testing::HasSubstr(format("unsure {} ", behind > 0 ? 3'000'000 : 0)));
    exchange.complete(stamp, decoder, story);
    EXPECT_EQ(story.done.http_status, 101U);
    EXPECT_EQ(story.done.outcome, Outcome::truncated);
  }
}

// Two choices in one event: the first one has another behind it in the same read.
TEST(ExchangeRules, the_choices_of_one_event_share_its_read) {
  const Story story = told(streamed(event_of(
      R"({"choices":[{"index":0,"delta":{"content":"a"}},{"index":1,"delta":{"content":"b"}}]})")));
  EXPECT_THAT(story.lines, testing::HasSubstr("text choice 0 shares true "));
  EXPECT_THAT(story.lines, testing::HasSubstr("text choice 1 shares false "));
}

TEST(ExchangeRules, the_grain_of_a_look_widens_the_end_of_its_own_query_only) {
  Exchange exchange;
  ReplyDecoder decoder;
  for (const bool looked : {true, false}) {
    Story story;
    exchange.begin({}, kDue, 0, {.stream = false});
    if (looked) exchange.set_grain(30_ms);
    exchange.on_head({.status = 200, .type = ContentType::json});
    take_piece(exchange, kWhole, 0, kCame, decoder, story);
    const Stamp unsure{
        .arrival = kCame.arrival, .read = kCame.read, .not_before = kCame.arrival - 3_ms};
    exchange.complete(unsure, decoder, story);
    EXPECT_EQ(story.done.done_uncertainty, looked ? 33_ms : 3_ms);
  }
}

TEST(ExchangeRules, half_a_secret_in_a_reply_hides_nothing_of_the_next) {
  const Redactor redactor({{.text = "secret-key"}});
  Exchange exchange;
  told_by(exchange, streamed(says("secret-k") + kMarker), &redactor);
  EXPECT_EQ(told_by(exchange, streamed(says("ey") + kMarker), &redactor).fragments, "ey");
}

// A last event without its blank line may find no room only at the end.
TEST(ExchangeRules, a_reply_over_memory_stays_so_at_its_end_for_every_api) {
  MemoryBudget budget(40'000);
  for (const Api api : {Api::openai, Api::kserve_grpc}) {
    Exchange exchange(&budget);
    ReplyDecoder decoder;
    Story story;
    exchange.begin({}, kDue, 0, {.api = api, .stream = false});
    exchange.on_head({.status = 200, .type = ContentType::other});
    EXPECT_FALSE(take_piece(exchange, std::string(60'000, '{'), 0, kCame, decoder, story));
    exchange.set_grpc(13, "internal");
    exchange.complete(kCame, decoder, story);
    EXPECT_EQ(story.done.outcome, Outcome::over_memory) << story.detail;
  }
}

}  // namespace
}  // namespace assay::protocol
