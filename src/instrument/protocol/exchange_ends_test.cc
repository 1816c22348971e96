// The end of a reply: it is reported once, and what comes only with it is as exact as it is.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "domain/quiet_sink.h"
#include "protocol/exchange.h"

namespace assay::protocol {
namespace {

constexpr Instant kEndDue{1'000'000'000};

// Each event as "category text shares unsure", and how often the end was reported.
class EndNotes final : public QuietSink {
 public:
  void on_stream_event(const Query&, const StreamEvent& e, std::string_view text) override {
    events += format("{} '{}'{} {} ms\n", to_string(e.category), text, e.shares_read ? " +" : "",
                     e.uncertainty.ns / 1'000'000);
    words += text;
  }
  void on_done(const Event& e, std::string_view why) override {
    ++ends;
    done = e;
    detail = why;
  }
  std::string events{};
  std::string words{};
  std::string detail{};
  Event done{};
  int ends = 0;
};

struct LastReply {
  Api api = Api::openai;
  net::ResponseHead head{};
  std::string body{};
  bool stream = true;
};

Stamp end_stamp(bool kernel) {
  return {.arrival = kEndDue + 5_ms,
          .read = kEndDue + 6_ms,
          .kernel = kernel,
          .not_before = kEndDue + 2_ms};
}

// The body in one read, then the end with `at`.
EndNotes ended(Exchange& exchange, const LastReply& reply, const Stamp& at,
               const Redactor* redactor = nullptr) {
  EndNotes notes;
  ReplyDecoder decoder;
  exchange.begin({.index = 7}, kEndDue, 0,
                 {.api = reply.api, .stream = reply.stream, .sound_rate = 1000}, redactor);
  exchange.on_head(reply.head);
  std::string padded = reply.body;
  padded.append(net::kSsePadding + kDecodePadding, '\0');
  exchange.on_body({padded.data(), reply.body.size()}, 0, end_stamp(true), decoder, notes);
  exchange.complete(at, decoder, notes);
  return notes;
}

EndNotes ended(const LastReply& reply, bool kernel = true) {
  Exchange exchange;
  return ended(exchange, reply, end_stamp(kernel));
}

net::ResponseHead head_of(net::ContentType type, std::uint16_t status = 200) {
  return {.status = status, .type = type};
}
const net::ResponseHead kEventsHead = head_of(net::ContentType::event_stream);

std::string end_delta(std::string_view text) {
  return format("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{}\"}}}}]}}", text);
}
constexpr std::string_view kEndWhole =
    R"({"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]})";

// OpenAI's clients skip comments, parse the data of any other event, and fail where it is no
// object.
TEST(ExchangeEnds, a_heartbeat_that_is_an_event_fails_the_reply_and_is_named) {
  Exchange exchange;
  const auto told = [&exchange](std::string_view heartbeat) {
    const std::string body = end_delta("a") + "\n\n" + std::string(heartbeat) + "\n\n" +
                             end_delta("b") + "\n\ndata: [DONE]\n\n";
    const EndNotes notes = ended(exchange, {.head = kEventsHead, .body = body}, end_stamp(true));
    return std::string(to_string(notes.done.outcome)) + ": " + notes.detail;
  };
  const auto fails = [](std::string_view first) {
    return format(
        "bad_reply: 1 of 4 events of the stream is not a JSON object, the first {}: clients that "
        "parse each event fail there",
        first);
  };
  EXPECT_EQ(told("data: ping"), fails("\"ping\""));
  EXPECT_EQ(told("data: "), fails("without data"));
  EXPECT_EQ(told("data:"), fails("without data"));
  EXPECT_EQ(told("data: 7"), fails("\"7\"")) << "JSON, and no object";
  EXPECT_EQ(told("data: null"), fails("\"null\""));
  EXPECT_EQ(told("data: [1,2]"), fails("\"[1,2]\""));
  EXPECT_EQ(told("data: ping\n\n: ping"), fails("\"ping\"")) << "comments are not events";
  EXPECT_EQ(
      told("data: ping\n\ndata: pong"),
      "bad_reply: 2 of 5 events of the stream are not a JSON object, the first \"ping\": clients "
      "that parse each event fail there");
  // Each is good, also behind a reply that failed.
  EXPECT_EQ(told(": ping"), "ok: ");
  EXPECT_EQ(told("event: ping"), "ok: ");
  EXPECT_EQ(told("data: {}"), "ok: ");
}

TEST(ExchangeEnds, an_error_without_words_is_called_so) {
  Exchange exchange;
  const auto told = [&exchange](const std::string& body) {
    return ended(exchange, {.head = kEventsHead, .body = body}, end_stamp(true)).detail;
  };
  EXPECT_EQ(told("data: {\"object\":\"error\",\"message\":\"\"}\n\n"),
            "an object named error, without a message");
  EXPECT_EQ(told("data: {\"object\":\"error\"}\n\n"), "an object named error, without a message");
  EXPECT_EQ(told("event: error\ndata:\n\n"), "an event named error, without words");
}

// Each choice that begins has its own end; [DONE] is the end of all.
TEST(ExchangeEnds, a_choice_that_never_ends_is_a_cut_reply_unless_the_marker_came) {
  const auto piece = [](int index) {
    return format("data: {{\"choices\":[{{\"index\":{},\"delta\":{{\"content\":\"a\"}}}}]}}\n\n",
                  index);
  };
  const auto end = [](int index) {
    return format("data: {{\"choices\":[{{\"index\":{},\"finish_reason\":\"stop\"}}]}}\n\n", index);
  };
  const std::string marker = "data: [DONE]\n\n";
  Exchange exchange;  // one after another: none knows of the reply before
  const auto outcome = [&exchange](const std::string& body) {
    const EndNotes notes = ended(exchange, {.head = kEventsHead, .body = body}, end_stamp(true));
    return std::string(to_string(notes.done.outcome)) + ", " + notes.detail;
  };
  const std::string cut =
      "truncated, the stream ended without a finish reason of each choice and without [DONE]";
  const std::string two = piece(0) + piece(1);
  EXPECT_EQ(outcome(two + end(1) + end(0)), "ok, ");
  EXPECT_EQ(outcome(two + end(0)), cut);
  EXPECT_EQ(outcome(two + end(1)), cut);
  EXPECT_EQ(outcome(two + end(1) + marker), "ok, ");
  EXPECT_EQ(outcome(piece(2) + end(2)), "ok, ");
  EXPECT_EQ(outcome(two + end(2)), cut);
  EXPECT_EQ(outcome(piece(127) + end(0)), cut);
  EXPECT_EQ(outcome(piece(128) + end(0)), "ok, ") << "no API has so many";
  EXPECT_EQ(outcome(end(0) + end(2) + piece(2)), "ok, ") << "an empty choice has an end as well";
}

// A reason to finish is no end there: a server that breaks off behind it has cut the reply.
TEST(ExchangeEnds, a_stream_of_a_kind_with_an_event_for_its_end_is_cut_without_it) {
  const auto outcome = [](Api api, const std::string& body) {
    const EndNotes notes = ended({.api = api, .head = kEventsHead, .body = body});
    return format("{}, {}", to_string(notes.done.outcome), notes.detail);
  };
  const std::string message =
      "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\","
      "\"text\":\"a\"}}\n\n";
  const std::string stop =
      "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n";
  const std::string end = "data: {\"type\":\"message_stop\"}\n\n";
  const std::string cut = "truncated, the stream ended without message_stop";
  EXPECT_EQ(outcome(Api::anthropic_messages, message), cut);
  EXPECT_EQ(outcome(Api::anthropic_messages, message + stop), cut);
  EXPECT_EQ(outcome(Api::anthropic_messages, message + stop + end), "ok, ");
  EXPECT_EQ(outcome(Api::openai_responses,
                    "data: {\"type\":\"response.output_text.delta\",\"delta\":\"a\"}\n\n"),
            "truncated, the stream ended without response.completed");
}

TEST(ExchangeEnds, each_is_told_once) {
  const net::ResponseHead json = head_of(net::ContentType::json);
  for (const LastReply& reply : std::vector<LastReply>{
           {.head = kEventsHead, .body = end_delta("a") + "\n\ndata: [DONE]\n\n"},
           {.head = kEventsHead, .body = end_delta("a")},
           {.head = kEventsHead, .body = "data: {\n\n"},
           {.api = Api::ollama_generate, .head = head_of({}), .body = "{\"done\":true}\n"},
           {.head = json, .body = std::string(kEndWhole)},
           {.head = json, .body = "{}"},
           {.head = json, .body = R"({"error":"no"})"},
           {.head = json, .body = " "},
           {.api = Api::openai_speech, .head = head_of({}), .body = "abcd"},
           {.api = Api::openai_images, .head = json, .body = R"({"data":[1]})"},
           {.api = Api::openai_images, .head = json, .body = R"({"data":[1,2]})"},
           {.api = Api::kserve_grpc, .head = head_of({}), .body = "xxxxxx"},
           {.head = head_of({}, 500), .body = "boom"}}) {
    const EndNotes notes = ended(reply);
    EXPECT_EQ(notes.ends, 1) << reply.body << ": " << notes.detail;
    EXPECT_EQ(notes.done.query.index, 7U);
  }
  for (const bool given_up : {true, false}) {
    Exchange exchange;
    ReplyDecoder decoder;
    EndNotes notes;
    exchange.begin({}, kEndDue, 0, {.api = Api::realtime});
    if (given_up) {
      exchange.on_head({.status = 200, .coding = net::ContentCoding::gzip});
    } else {
      exchange.on_socket();
    }
    exchange.complete(end_stamp(true), decoder, notes);
    EXPECT_EQ(notes.ends, 1) << notes.detail;
  }
}

// In front of it another event, whose place in the read is not exact.
TEST(ExchangeEnds, a_last_event_without_its_blank_line_is_alone_and_as_exact_as_the_end) {
  const std::string two = end_delta("a") + "\n\n" + end_delta("b");
  EXPECT_EQ(ended({.head = kEventsHead, .body = two}).events, "text 'a' + 3 ms\ntext 'b' 0 ms\n");
  EXPECT_EQ(ended({.head = kEventsHead, .body = two}, false).events,
            "text 'a' + 3 ms\ntext 'b' 3 ms\n");
  LastReply lines{.api = Api::ollama_generate, .head = head_of({})};
  lines.body = "{\"response\":\"a\"}\n{\"response\":\"b\"}";
  EXPECT_EQ(ended(lines).events, "text 'a' + 3 ms\ntext 'b' 0 ms\n");
  EXPECT_EQ(ended(lines, false).events, "text 'a' + 3 ms\ntext 'b' 3 ms\n");
}

TEST(ExchangeEnds, what_came_whole_is_as_exact_as_its_end) {
  const LastReply whole{.head = head_of(net::ContentType::json), .body = std::string(kEndWhole)};
  EXPECT_EQ(ended(whole).events, "text 'hi' 0 ms\n");
  EXPECT_EQ(ended(whole, false).events, "text 'hi' 3 ms\n");
  const LastReply sound{
      .api = Api::openai_speech, .head = head_of({}), .body = "abcd", .stream = false};
  EXPECT_EQ(ended(sound).events, "sound '' 0 ms\n");
  EXPECT_EQ(ended(sound, false).events, "sound '' 3 ms\n");
}

TEST(ExchangeEnds, one_byte_that_could_begin_a_head_is_sound_at_the_end) {
  EXPECT_EQ(ended({.api = Api::openai_speech, .head = head_of({}), .body = "R"}).events,
            "other '' 0 ms\nsound '' 0 ms\nmarker '' 0 ms\n");
}

// The line of an event fits, and the event beside it does not.
TEST(ExchangeEnds, a_last_event_may_find_no_room_only_there) {
  MemoryBudget budget(50'000);
  Exchange exchange(&budget);
  const EndNotes notes =
      ended(exchange, {.head = kEventsHead, .body = "data: " + std::string(30'000, 'x')},
            end_stamp(true));
  EXPECT_EQ(notes.done.outcome, Outcome::over_memory) << notes.detail;
  EXPECT_EQ(notes.detail,
            "reply over the memory budget of 50.0 kB for all connections (--memory-max)");
  EXPECT_EQ(notes.done.stream_events, 0U);
}

TEST(ExchangeEnds, a_line_that_finds_no_room_to_be_decoded_ends_the_reply) {
  MemoryBudget budget(30'000);
  ReplyDecoder decoder(&budget);
  Exchange exchange(&budget);
  EndNotes notes;
  exchange.begin({}, kEndDue, 0, {.api = Api::ollama_generate});
  exchange.on_head({.status = 200});
  std::string body = format("{{\"response\":\"{}\"}}\n", std::string(20'000, 'x'));
  const std::size_t size = body.size();
  body.append(net::kSsePadding + kDecodePadding, '\0');
  EXPECT_FALSE(exchange.on_body({body.data(), size}, 0, end_stamp(true), decoder, notes));
  EXPECT_TRUE(exchange.given_up());
  exchange.complete(end_stamp(true), decoder, notes);
  EXPECT_EQ(notes.done.outcome, Outcome::over_memory);
}

TEST(ExchangeEnds, the_first_words_of_a_reply_are_no_rest_of_a_secret) {
  const Redactor redactor({{.text = "secret-key"}});
  Exchange exchange;
  for (const std::string_view rest : {"ecret-key", "cret-key", "key", "y"}) {
    const EndNotes notes =
        ended(exchange, {.head = kEventsHead, .body = end_delta(rest)}, end_stamp(true), &redactor);
    EXPECT_EQ(notes.words, rest);
  }
}

}  // namespace
}  // namespace assay::protocol
