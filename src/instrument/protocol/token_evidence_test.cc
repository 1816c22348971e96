// A reply's facts about its tokens reach the sink: usage of each event, choices, limits, and
// fragments after [DONE].
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/format.h"
#include "domain/quiet_sink.h"
#include "protocol/exchange.h"

namespace assay::protocol {
namespace {

class Heard final : public QuietSink {
 public:
  void on_stream_event(const Query&, const StreamEvent& event, std::string_view text) override {
    lines.push_back(format("{} {} {} '{}'", to_string(event.category), event.choice,
                           event.tokens_so_far, text));
  }
  void on_done(const Event& event, std::string_view) override { done = event; }

  std::vector<std::string> lines{};
  Event done{};
};

// One reply, all of it in one read.
Heard hear(std::string_view body, net::ContentType type, const Asked& asked = {}) {
  Heard heard;
  ReplyDecoder decoder;
  Exchange exchange;
  const Stamp stamp{.arrival = Instant{1000}, .read = Instant{1000}};
  exchange.begin(Query{}, Instant{0}, 0, asked);
  exchange.on_bytes(body.size(), stamp);
  net::ResponseHead head{};
  head.status = 200;
  head.type = type;
  exchange.on_head(head);
  std::string padded(body);
  padded.append(net::kSsePadding + kDecodePadding, '\0');
  exchange.on_body({padded.data(), body.size()}, 0, stamp, decoder, heard);
  exchange.complete(stamp, decoder, heard);
  return heard;
}

Heard hear_stream(const std::vector<std::string>& events, const Asked& asked = {}) {
  std::string body;
  for (const std::string& event : events) body += "data: " + event + "\n\n";
  return hear(body, net::ContentType::event_stream, asked);
}

std::string indexed_delta(int index, std::string_view text) {
  return format(R"({{"index":{},"delta":{{"content":"{}"}}}})", index, text);
}
std::string event(const std::string& choices, std::string_view usage = "") {
  return format(R"({{"choices":[{}]{}}})", choices, usage);
}
const std::string kStop = R"({"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})";

TEST(TokenEvidence, each_event_carries_its_own_usage_and_choice) {
  const Heard heard = hear_stream(
      {event(indexed_delta(0, "a"), R"(,"usage":{"completion_tokens":4})"),
       event(indexed_delta(1, "b")), event(indexed_delta(0, "c")), event(indexed_delta(0, "d")),
       kStop, event("", R"(,"usage":{"completion_tokens":9})"), "[DONE]"});
  EXPECT_EQ(heard.lines, (std::vector<std::string>{"text 0 4 'a'", "text 1 -1 'b'", "text 0 -1 'c'",
                                                   "text 0 -1 'd'", "finish 0 -1 ''",
                                                   "usage 0 9 ''", "marker 0 -1 ''"}));
  EXPECT_EQ(heard.done.usage.completion_tokens, 9);
}

TEST(TokenEvidence, all_choices_of_one_event_are_heard) {
  for (const bool indexed : {true, false}) {
    const std::string third =
        indexed ? R"({"index":7,"delta":{"content":"c"}})" : R"({"delta":{"content":"c"}})";
    const Heard heard =
        hear_stream({event(indexed_delta(0, "a") + " , " + indexed_delta(1, "b\\n") + "," + third),
                     kStop, "[DONE]"});
    ASSERT_EQ(heard.lines.size(), 5u);
    EXPECT_EQ(heard.lines[0], "text 0 -1 'a'");
    EXPECT_EQ(heard.lines[1], "text 1 -1 'b\n'");
    EXPECT_EQ(heard.lines[2], indexed ? "text 7 -1 'c'" : "text 2 -1 'c'");
    EXPECT_EQ(heard.done.fragments, 3u);
    EXPECT_EQ(heard.done.outcome, Outcome::ok);
  }
}

TEST(TokenEvidence, all_choices_of_a_whole_reply_are_heard) {
  const Heard heard =
      hear(R"({"choices":[{"index":0,"message":{"content":"ab"},"finish_reason":"stop"},)"
           R"({"index":1,"message":{"content":"cd","reasoning":"r"},"finish_reason":"length"}],)"
           R"("usage":{"completion_tokens":5}})",
           net::ContentType::json);
  EXPECT_EQ(heard.lines,
            (std::vector<std::string>{"text 0 -1 'ab'", "reasoning 1 -1 'r'", "text 1 -1 'cd'"}));
  EXPECT_EQ(heard.done.output_bytes, 5u);
  EXPECT_EQ(heard.done.usage.completion_tokens, 5);
  EXPECT_FALSE(heard.done.streamed);
  EXPECT_TRUE(heard.done.stream_asked) << "that a stream was asked for is kept";
}

TEST(TokenEvidence, what_comes_after_the_marker_is_in_no_count) {
  const Heard heard = hear_stream(
      {event(indexed_delta(0, "a"), R"(,"usage":{"completion_tokens":1})"), kStop, "[DONE]",
       event(indexed_delta(0, "late"), R"(,"usage":{"completion_tokens":900})")});
  EXPECT_EQ(heard.done.fragments, 1u);
  EXPECT_EQ(heard.done.fragments_after_done, 1u);
  EXPECT_EQ(heard.done.output_bytes, 1u);
  EXPECT_EQ(heard.done.usage.completion_tokens, 1);
  EXPECT_EQ(heard.lines[3], "other 0 -1 ''");
  EXPECT_EQ(heard.done.outcome, Outcome::ok);
}

TEST(TokenEvidence, a_count_that_is_none_is_told_from_no_count) {
  struct Case {
    const char* json;
    std::int32_t expected;
  };
  for (const Case& c :
       {Case{"20", 20}, Case{"20.0", 20}, Case{"2e1", 20}, Case{"0", 0}, Case{"-0", 0},
        Case{"null", -1}, Case{"20.5", kNoCount}, Case{"-1", kNoCount}, Case{"\"20\"", kNoCount},
        Case{"true", kNoCount}, Case{"[20]", kNoCount}, Case{"2147483647", 2147483647},
        Case{"2147483648", kNoCount}, Case{"9223372036854775808", kNoCount},
        Case{"-9223372036854775808", kNoCount}, Case{"1e400", kNoCount}}) {
    const Heard heard = hear_stream(
        {event(indexed_delta(0, "a")), kStop,
         event("", format(R"(,"usage":{{"completion_tokens":{}}})", c.json)), "[DONE]"});
    EXPECT_EQ(heard.done.usage.completion_tokens, c.expected) << c.json;
  }
}

TEST(TokenEvidence, the_request_says_what_the_reply_is_held_against) {
  const Heard heard = hear_stream({event(indexed_delta(0, "a")), kStop, "[DONE]"},
                                  {.stream = true, .tokens_max = 64, .choices = 2});
  EXPECT_EQ(heard.done.tokens_max, 64);
  EXPECT_EQ(heard.done.choices_asked, 2);
  Generation generation{};
  generation.max_new_tokens = 100;
  Sample sample{};
  sample.prompt = "Hi";
  const auto asked = [&](Api api) { return make_body(api, generation, sample, false)->asked; };
  for (const Api api : {Api::openai, Api::openai_completions, Api::sglang}) {
    EXPECT_EQ(asked(api).tokens_max, 100) << to_string(api);
    EXPECT_EQ(asked(api).choices, 1);
  }
  sample.output_tokens_max = 7;
  sample.body = *Json::parse(R"({"n":3})");
  EXPECT_EQ(asked(Api::openai).tokens_max, 7) << "the row's own limit";
  EXPECT_EQ(asked(Api::openai).choices, 3);
  generation.extra_body = *Json::parse(R"({"max_completion_tokens":null})");
  EXPECT_EQ(asked(Api::openai).tokens_max, -1) << "no limit was asked for";
  generation.extra_body = *Json::parse(R"({"max_tokens":500})");
  EXPECT_EQ(asked(Api::openai).tokens_max, 500) << "a server may take either";
}

}  // namespace
}  // namespace assay::protocol
