#include "protocol/probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/format.h"
#include "base/text.h"
#include "protocol/testing_probe.h"

namespace assay::protocol {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(Probe, a_sane_endpoint_has_short_good_findings_only) {
  EXPECT_EQ(findings(sane()),
            "good connection: HTTP/1.1, connected in 85.0 µs, kept alive\n"
            "good models: one: m\n"
            "good content type: text/event-stream\n"
            "good first event: brings the first token\n"
            "good tokens: one an event\n"
            "good end: finish reason 'length', then [DONE]\n"
            "good usage: counted by the server: prompt 9, completion 4\n"
            "good plain: a whole reply, 4 tokens in 50.0 ms\n");
  EXPECT_TRUE(find(probe_question(), sane()).answers);
}

TEST(Probe, the_recording_gives_every_milestone) {
  const ReplyFacts facts = read_recording(recorded(whole_stream()));
  const Instant sent = Instant{} + 1_s;
  EXPECT_EQ(facts.first_byte, sent + 50_ms);
  EXPECT_EQ(facts.first_token, sent + 60_ms);
  EXPECT_EQ(facts.last_token, sent + 90_ms);
  EXPECT_EQ(facts.done_marker, sent + 120_ms);
  EXPECT_TRUE(facts.complete);
  EXPECT_EQ(facts.text, "One two three four");
  EXPECT_EQ(facts.usage, (Usage{9, 4, -1, -1}));
  EXPECT_EQ(header_of(facts, "server"), "uvicorn");
  EXPECT_EQ(header_of(facts, "x-none"), "");
}

TEST(Probe, says_what_is_wrong_with_a_stream_and_what_follows_from_it) {
  auto role_first = whole_stream();
  role_first.insert(role_first.begin() + 1, kRole);
  EXPECT_THAT(with_stream(role_first),
              HasSubstr("note first event: is empty (role): tools that time the first event will "
                        "report a TTFT 10.0 ms too early; Assay does not"));
  auto with_token = whole_stream();
  with_token[1] = kRole + with_token[1];
  EXPECT_THAT(with_stream(with_token), HasSubstr("good first event: is empty, but comes with"));

  auto no_usage = whole_stream();
  no_usage.erase(no_usage.end() - 2);
  EXPECT_THAT(with_stream(no_usage), HasSubstr("bad usage: stream_options asked"));

  auto no_done = whole_stream();
  no_done.back() = "0\r\n\r\n";
  EXPECT_THAT(with_stream(no_done), HasSubstr("note end: finish reason 'length', but no [DONE]"));
  no_done.erase(no_done.end() - 3);
  EXPECT_THAT(with_stream(no_done), HasSubstr("bad end: neither a finish reason nor [DONE]"));
  auto no_finish = whole_stream();
  no_finish.erase(no_finish.end() - 3);
  EXPECT_THAT(with_stream(no_finish), HasSubstr("note end: [DONE], but no finish reason"));

  auto error =
      probe_stream({kWords[0], sse(R"({"error":{"message":"out of\nmemory"}})"), kProbeDone});
  EXPECT_THAT(with_stream(error),
              AllOf(HasSubstr("bad error: HTTP 200, then an error inside the stream: \"out of\\n"),
                    Not(HasSubstr("bad usage"))));
  auto named = probe_stream({kWords[0], probe_chunk("event: error\ndata: engine died\n\n")});
  EXPECT_THAT(with_stream(named), HasSubstr("inside the stream: \"engine died\""));
  auto garbage = whole_stream();
  garbage[2] = sse("{\"choices\":[{\"delta\"");
  EXPECT_THAT(with_stream(garbage), HasSubstr("bad events: 1 of 7 is not a JSON object"));
  EXPECT_THAT(with_stream(probe_stream({kRole, kProbeFinish, kProbeDone})),
              HasSubstr("bad text: no event"));

  auto pings = whole_stream();
  pings.insert(pings.begin() + 1, sse(R"({"type":"ping"})"));
  EXPECT_THAT(with_stream(pings), HasSubstr("good events: 1 event without a choice"));

  auto after = whole_stream();
  after.back() = sse("[DONE]") + kProbeUsage + "0\r\n\r\n";
  EXPECT_THAT(with_stream(after), HasSubstr("note end: 1 event after [DONE]"));
  auto every = whole_stream();
  for (int i = 1; i <= 4; ++i) {
    every[static_cast<std::size_t>(i)] =
        sse(format(R"({{"choices":[{{"delta":{{"content":"w"}}}}],"usage":{{"prompt_tokens":9,)"
                   R"("completion_tokens":{}}}}})",
                   i));
  }
  EXPECT_THAT(with_stream(every),
              HasSubstr("note usage: prompt 9, completion 4; counts come with 5"));
}

TEST(Probe, says_what_is_wrong_with_the_http_around_a_stream) {
  EXPECT_THAT(with_stream(whole_stream("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                                       "Transfer-Encoding: chunked\r\n\r\n")),
              HasSubstr("bad content type: 'application/json' on a stream"));
  EXPECT_THAT(with_stream(whole_stream("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")),
              HasSubstr("bad content type: none on a stream"));
  EXPECT_THAT(with_stream(whole_stream("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                                       "Content-Encoding: gzip\r\n"
                                       "Transfer-Encoding: chunked\r\n\r\n")),
              HasSubstr("bad compression"));
  const std::string words = "data: " + probe_delta(R"("content":"a")") + "\r\n\r\n" +
                            "data: " + probe_delta("", R"("stop")") + "\r\n\r\n: ping\r\n\r\n" +
                            "data: [DONE]\r\n\r\n";
  EXPECT_THAT(
      with_stream({format("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                          "Content-Length: {}\r\n\r\n{}",
                          words.size(), words)}),
      AllOf(HasSubstr("bad framing: the stream has a Content-Length"),
            HasSubstr("note line ends: CR LF"), HasSubstr("good comments: 1 comment line")));
  const std::string until_close = "HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
  EXPECT_THAT(with_stream({until_close, words}, Recording::Ending::closed),
              AllOf(HasSubstr("bad connection: HTTP/1.0"),
                    HasSubstr("note framing: the stream ends where the connection ends")));

  auto broken = whole_stream();
  broken.resize(3);
  EXPECT_THAT(with_stream(broken, Recording::Ending::closed),
              AllOf(HasSubstr("bad framing: the connection broke inside the stream"),
                    Not(HasSubstr("bad end")), Not(HasSubstr("bad usage"))));
  EXPECT_THAT(with_stream(broken, Recording::Ending::timed_out),
              HasSubstr("bad framing: the stream did not end in time"));
  auto no_last_chunk = whole_stream();
  no_last_chunk.back() = sse("[DONE]");
  EXPECT_THAT(
      with_stream(no_last_chunk, Recording::Ending::reset),
      HasSubstr("note framing: the connection broke inside the stream, but [DONE] had come"));

  EXPECT_THAT(with_stream({probe_plain(plain_body())}),
              HasSubstr("bad stream: asked for a stream, got one whole reply"));
  EXPECT_THAT(with_stream({}, Recording::Ending::reset), HasSubstr("reset without a reply"));
  EXPECT_THAT(with_stream({}, Recording::Ending::closed), HasSubstr("closed without a reply"));
  EXPECT_THAT(with_stream({}, Recording::Ending::timed_out),
              HasSubstr("bad stream: no reply in 60.0 s"));
  EXPECT_THAT(with_stream({"SSH-2.0-OpenSSH_9.2\r\n\r\n"}), HasSubstr("no sound HTTP"));
}

TEST(Probe, names_the_way_out_of_a_refusal) {
  const auto refused = [](std::string_view status, std::string_view body) {
    return with_stream({probe_plain(body, "application/json", status)});
  };
  EXPECT_THAT(refused("401 Unauthorized", R"({"error":{"message":"no key"}})"),
              HasSubstr("bad stream: HTTP 401: no key; give a key by --api-key-env NAME"));
  EXPECT_THAT(refused("404 Not Found", R"({"detail":"Not Found"})"),
              HasSubstr("is the URL its base"));
  EXPECT_THAT(with_stream({"HTTP/1.1 429 Too Many\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n"}),
              HasSubstr("it asks to wait 7 s"));
  ProbeAnswers answers = sane();
  answers.streamed = recorded({probe_plain("{}", "application/json", "500 Oops")});
  answers.plain = answers.streamed;
  EXPECT_FALSE(find(probe_question(), answers).answers);
  EXPECT_THAT(to_text(find(probe_question(), answers)), HasSubstr("It does not answer"));
}

TEST(Probe, sees_what_is_gathered_or_held_back_or_stalls) {
  auto parts = kWords;
  std::string together;
  for (const std::string& part : parts) together += part;
  EXPECT_THAT(with_stream(probe_stream({together, kProbeFinish, kProbeUsage, kProbeDone})),
              HasSubstr("note pace: all 4 events came in one read: the reply takes no time"));
  Recording late = recorded(probe_stream({together + kProbeFinish + kProbeUsage + kProbeDone}));
  late.reads[1].at = late.reads[1].at + 300_ms;
  ProbeAnswers answers = sane();
  answers.streamed = late;
  EXPECT_THAT(findings(answers), HasSubstr("bad pace: all 4 events came in one read: something"));

  std::vector<std::string> pairs;
  for (int i = 0; i < 4; ++i) pairs.push_back(kWords[0] + kWords[1] + kWords[2]);
  pairs.push_back(kProbeDone);
  EXPECT_THAT(with_stream(probe_stream(pairs)), HasSubstr("note pace: 12 events came in 4 reads"));

  auto long_stream = whole_stream();
  long_stream.insert(long_stream.begin() + 1, kWords.begin(), kWords.end());
  answers.streamed = recorded(long_stream);
  for (std::size_t i = 5; i < answers.streamed.reads.size(); ++i) {
    answers.streamed.reads[i].at = answers.streamed.reads[i].at + 2_s;
  }
  EXPECT_THAT(
      findings(answers),
      HasSubstr("note pace: the longest gap between tokens is 2.01 s, the usual one 10.0 ms"));
  answers.streamed = recorded(whole_stream());
  answers.streamed.reads.back().at = answers.streamed.reads.back().at + 100_ms;
  EXPECT_THAT(findings(answers), HasSubstr("note end: comes 130 ms after the last token"));
  auto late_end = whole_stream();
  late_end.back() = sse("[DONE]");
  late_end.emplace_back("0\r\n\r\n");
  EXPECT_THAT(with_stream(late_end), HasSubstr("note end: the stream ends 10.0 ms after [DONE]"));
}

TEST(Probe, compares_tokens_with_events_and_with_the_limit) {
  const auto counted = [](int tokens) {
    auto reads = whole_stream();
    reads[reads.size() - 2] = sse(
        format(R"({{"choices":[],"usage":{{"prompt_tokens":9,"completion_tokens":{}}}}})", tokens));
    return with_stream(reads);
  };
  EXPECT_THAT(counted(4), HasSubstr("good tokens: one an event"));
  EXPECT_THAT(counted(10), HasSubstr("note tokens: 2.50 an event"));
  EXPECT_THAT(counted(2), HasSubstr("note tokens: 0.500 an event: more events than tokens"));
  EXPECT_THAT(counted(33), HasSubstr("bad limit: streamed: asked for at most 32 tokens, got 33"));
  ProbeAnswers refused = sane();
  refused.usage_refused = true;
  refused.usage_refusal = "HTTP 400: unknown field stream_options";
  EXPECT_THAT(findings(refused), HasSubstr("bad usage: stream_options is refused (HTTP 400: unk"));
}

TEST(Probe, sees_reasoning_and_split_characters) {
  auto reads = whole_stream();
  reads[1] = sse(probe_delta(R"("reasoning_content":"hm")"));
  EXPECT_THAT(with_stream(reads), HasSubstr("note reasoning: 1 of 4 fragments are reasoning: TTFT "
                                            "counts from the first of any kind; the first visible "
                                            "one comes 10.0 ms later"));
  for (std::size_t i = 1; i <= 4; ++i) reads[i] = reads[1];
  EXPECT_THAT(with_stream(reads), HasSubstr("within 32 tokens a user would have seen nothing"));
  reads = whole_stream();
  reads[1] = probe_word("\xE2\x82");
  reads[2] = probe_word("\xAC");
  EXPECT_THAT(with_stream(reads), HasSubstr("note characters: 2 fragments end or begin"));
}

TEST(Probe, looks_at_the_plain_reply_too) {
  EXPECT_THAT(with_plain(probe_plain(plain_body("null"))),
              HasSubstr("note plain: no token counts"));
  EXPECT_THAT(with_plain(probe_plain(plain_body(), "text/plain")),
              HasSubstr("note plain: content type 'text/plain'"));
  EXPECT_THAT(with_plain(probe_plain(plain_body(R"({"prompt_tokens":5,"completion_tokens":99})"))),
              AllOf(HasSubstr("counts 5 prompt tokens where the stream counted 9"),
                    HasSubstr("bad limit: plain: asked for at most 32 tokens, got 99")));
  EXPECT_THAT(with_plain(probe_plain(R"({"error":{"message":"busy"}})")),
              HasSubstr("bad plain: HTTP 200 with an error: \"busy\""));
  EXPECT_THAT(with_plain(probe_plain("<html>hello</html>", "text/html")),
              HasSubstr("bad plain: no reply of openai: <html>hello"));
  EXPECT_THAT(with_plain("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{}"),
              HasSubstr("bad plain: the connection broke"));
  std::string streamed;
  for (const std::string& part : whole_stream()) streamed += part;
  EXPECT_THAT(with_plain(streamed), HasSubstr("bad plain: asked for a whole reply, got a stream"));
}

TEST(Probe, looks_at_connection_and_models) {
  ProbeAnswers answers = sane();
  answers.plain_on_same_connection = false;
  EXPECT_THAT(findings(answers), HasSubstr("bad connection: HTTP/1.1, but closed after a reply "
                                           "whose head promised to keep it: each query pays"));
  // A connection that no second query asked for has not been lost.
  answers.plain_asked = false;
  EXPECT_THAT(findings(answers), HasSubstr("good connection: HTTP/1.1, connected in"));
  answers = sane();
  answers.plain_on_same_connection = false;
  answers.streamed = recorded(probe_stream(kWords));
  EXPECT_THAT(findings(answers), HasSubstr("good connection: HTTP/1.1, connected in"));
  answers = sane();
  answers.tls_version = "TLSv1.3";
  ProbeQuestion insecure = probe_question();
  insecure.insecure = true;
  EXPECT_THAT(findings(answers, insecure), AllOf(HasSubstr("HTTP/1.1 over TLSv1.3"),
                                                 HasSubstr("note TLS: its certificate was not")));
  answers.models = {};
  answers.models_status = 404;
  EXPECT_THAT(findings(answers), HasSubstr("it lists none (HTTP 404); asked without a name"));
  ProbeQuestion named = probe_question();
  named.model = answers.model = "mine";
  EXPECT_THAT(findings(answers, named), HasSubstr("'mine' was asked for"));
  answers.models = {"a", "b"};
  EXPECT_THAT(findings(answers, named), HasSubstr("'mine' is not among the 2 it lists"));
}

TEST(Probe, the_letter_has_the_answer_first_and_no_control_bytes) {
  ProbeAnswers answers = sane();
  auto reads = whole_stream();
  reads.insert(reads.begin() + 1, kRole);
  reads[2] = probe_word("\\u001b[2J");
  answers.streamed = recorded(reads);
  const std::string text = to_text(find(probe_question(), answers));
  EXPECT_TRUE(
      text.starts_with("assay probe   m @ http://h:8000\n\n"
                       "It answers, and its stream is sane; one thing to know.\n\n"
                       "  note  first event   is empty (role): tools that time"))
      << text;
  EXPECT_THAT(text, AllOf(HasSubstr("It said: \\x1b[2J"), Not(HasSubstr("\x1b"))));
  for (const std::string_view line : split(text, '\n')) EXPECT_LE(line.size(), 110U) << line;

  reads[2] = probe_word(std::string(300, 'w'));
  answers.streamed = recorded(reads);
  const std::string long_words = to_text(find(probe_question(), answers));
  EXPECT_THAT(long_words, HasSubstr("It said: www"));
  for (const std::string_view line : split(long_words, '\n')) {
    const bool words = line.starts_with("It said: ");
    EXPECT_LE(words ? line.size() : 0, 102U) << "100 columns and a sign of three bytes: " << line;
  }
  reads[2] = probe_word("\\u001b[2J");
  answers.streamed = recorded(reads);

  const Json json = to_json(find(probe_question(), answers));
  EXPECT_TRUE(json["answers"].as_bool());
  EXPECT_EQ(json["findings"][0]["topic"].as_string(), "first event");
  EXPECT_EQ(json["findings"][0]["verdict"].as_string(), "note");
  EXPECT_EQ(json["streamed"]["usage"]["completion_tokens"].as_int(), 4);
  EXPECT_EQ(json["streamed"]["first_token_ms"].as_double(), 70.0);
  EXPECT_EQ(json["plain"]["finish_reason"].as_string(), "length");
}

}  // namespace
}  // namespace assay::protocol
