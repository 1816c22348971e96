// What a probe says where little or nothing came, to the word.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"
#include "protocol/testing_probe.h"

namespace assay::protocol {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string without_plain(ProbeAnswers answers) {
  answers.plain_asked = false;
  return findings(answers);
}

std::string found_of(std::string_view reply) {
  ProbeAnswers answers = sane();
  answers.streamed = recorded({std::string(reply)});
  return without_plain(answers);
}

TEST(ProbeWords, what_came_instead_of_a_stream_is_all_that_is_said_of_it) {
  const std::string before =
      "good connection: HTTP/1.1, connected in 85.0 µs, kept alive\n"
      "good models: one: m\n";
  EXPECT_EQ(
      found_of(probe_plain(plain_body())),
      "bad stream: asked for a stream, got one whole reply: TTFT and TPOT cannot be measured, "
      "only latency\n" +
          before);
  const std::string body = "{\"a\":\"" + std::string(100, 'x') + "\"}";
  EXPECT_EQ(found_of(probe_plain(body)),
            format("bad stream: no stream and no reply came: {}\n{}", body.substr(0, 100), before));
  EXPECT_EQ(found_of(probe_plain("{}", "application/json", "503 Busy")),
            "bad stream: HTTP 503: {}\n" + before);
}

TEST(ProbeWords, a_wish_to_wait_is_told_from_no_second_on) {
  for (const int seconds : {0, 1}) {
    EXPECT_THAT(found_of(format("HTTP/1.1 429 Slow\r\nRetry-After: {}\r\nContent-Length: 0\r\n\r\n",
                                seconds)),
                HasSubstr(format("bad stream: HTTP 429; it asks to wait {} s\n", seconds)));
  }
  EXPECT_THAT(found_of("HTTP/1.1 503 Slow\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"),
              Not(HasSubstr("it asks to wait")));
}

TEST(ProbeWords, thoughts_alone_are_told_once) {
  const std::string thought = sse(probe_delta(R"("reasoning_content":"x")"));
  const std::string told = with_stream(probe_stream({thought, thought, kProbeDone}));
  EXPECT_THAT(told, HasSubstr("note reasoning: all 2 fragments are reasoning: within 32 tokens"));
  EXPECT_THAT(told, Not(HasSubstr("TTFT counts from")));
  // In one read, soon: nothing held them back.
  EXPECT_THAT(with_stream(probe_stream({thought + thought + thought + thought, kProbeDone})),
              HasSubstr("note pace: all 4 events came in one read: the reply takes no time"));
}

TEST(ProbeWords, words_under_an_unknown_name_are_shown_with_it) {
  const std::string strange = sse(probe_delta(R"("thoughts":"x")"));
  const std::string known = sse(probe_delta(R"("content":"y")"));
  EXPECT_THAT(with_stream(probe_stream({strange, strange, known, kProbeDone})),
              HasSubstr("bad names: 2 events have words under \"thoughts\", a name that Assay does "
                        "not know: they count for nothing, and TTFT is that of the first words "
                        "under a known one"));
  EXPECT_THAT(with_stream(probe_stream({strange, known, kProbeDone})),
              Not(HasSubstr("first event: is empty")));
  EXPECT_THAT(with_stream(probe_stream({strange, kProbeDone})),
              HasSubstr("bad names: an event has words under \"thoughts\""));
  EXPECT_THAT(with_stream(probe_stream({known, kProbeDone})), Not(HasSubstr("names: ")));
}

TEST(ProbeWords, one_token_and_one_fragment_are_compared_too) {
  const auto with = [](int tokens) {
    return with_stream(probe_stream(
        {probe_word("a"), probe_word("b"),
         sse(format(R"({{"choices":[],"usage":{{"prompt_tokens":9,"completion_tokens":{}}}}})",
                    tokens)),
         kProbeDone}));
  };
  EXPECT_THAT(with(1), HasSubstr("note tokens: 0.500 an event"));
  EXPECT_THAT(with(0), Not(HasSubstr(" tokens: ")));
  EXPECT_THAT(
      with_stream(
          probe_stream({probe_word("a"), kProbeFinish,
                        sse(R"({"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":0}})"),
                        kProbeDone})),
      HasSubstr("bad usage: prompt 9, completion 0, though 1 fragment came: output tokens"));
}

TEST(ProbeWords, the_counts_of_a_whole_reply_are_told_from_0_on) {
  const std::string none = with_plain(probe_plain(plain_body(R"({"completion_tokens":0})")));
  EXPECT_THAT(none, AllOf(HasSubstr("good plain: a whole reply, 0 tokens in 50.0 ms\n"),
                          Not(HasSubstr("no token counts"))));
  const std::string prompt = with_plain(probe_plain(plain_body(R"({"prompt_tokens":9})")));
  EXPECT_THAT(prompt, AllOf(HasSubstr("good plain: a whole reply in 50.0 ms\n"),
                            HasSubstr("note plain: no token counts: output tokens must be")));
  EXPECT_THAT(with_plain(probe_plain(plain_body(R"({"completion_tokens":1})"))),
              HasSubstr("good plain: a whole reply, 1 tokens in 50.0 ms\n"));
}

TEST(ProbeWords, a_line_that_is_a_whole_reply_is_no_stream) {
  ProbeAnswers answers = sane();
  answers.api = Api::ollama_chat;
  answers.plain =
      recorded({"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: "
                "chunked\r\n\r\n" +
                probe_chunk("{\"message\":{\"content\":\"a\"},\"done\":true,\"eval_count\":1}\n") +
                "0\r\n\r\n"});
  EXPECT_THAT(findings(answers), AllOf(HasSubstr("good plain: a whole reply, 1 tokens"),
                                       Not(HasSubstr("got a stream"))));
}

TEST(ProbeWords, a_server_that_says_nothing_of_its_tensors_is_told_by_its_words) {
  ProbeAnswers answers = sane();
  answers.api = Api::kserve;
  answers.streamed = {};
  const std::string longer = "<html>" + std::string(100, 'x');
  for (const std::string& body : {longer, std::string("{}"), std::string(R"({"name":7})")}) {
    answers.plain = recorded({probe_plain(body)});
    const ProbeReport report = find(probe_question(), answers);
    EXPECT_FALSE(report.answers) << body;
    EXPECT_EQ(findings(answers), format("bad tensors: no words of KServe's about it: {}\n"
                                        "good connection: HTTP/1.1, connected in 85.0 µs, kept "
                                        "alive\ngood models: one: m\n",
                                        body.substr(0, 100)));
  }
}

TEST(ProbeWords, an_events_own_error_hides_the_key) {
  ProbeQuestion asked = probe_question();
  asked.api_key = "SEKRIT-KEY-77";
  ProbeAnswers answers = sane();
  answers.streamed = recorded(
      probe_stream({probe_word("a"), sse(R"({"error":"bad SEKRIT-KEY-77"})"), kProbeDone}));
  const ProbeReport report = find(asked, answers);
  ASSERT_EQ(report.streamed.events.size(), 3U);
  EXPECT_EQ(report.streamed.events[1].error, "bad <redacted>");
  EXPECT_EQ(report.streamed.error, "bad <redacted>");
}

}  // namespace
}  // namespace assay::protocol
