// Where a probe's findings begin and end: limits, counts, and kinds of API other than chat.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocol/kind/kind.h"
#include "protocol/testing_probe.h"

namespace assay::protocol {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A stream of words at these instants after the query, each in a read of its own.
ProbeAnswers paced(const std::vector<Duration>& at, Duration done_after = 1_ms,
                   Duration end_after = {}, const std::string& word = probe_word("w")) {
  ProbeAnswers answers = sane();
  answers.streamed = recorded({std::string(kStreamHead)});
  answers.streamed.reads[0].at = answers.streamed.sent;
  Instant last = answers.streamed.sent;
  for (const Duration time : at) {
    last = answers.streamed.sent + time;
    answers.streamed.reads.push_back({last, word});
  }
  last = last + done_after;
  answers.streamed.reads.push_back({last, kProbeFinish + sse("[DONE]")});
  answers.streamed.reads.push_back({last + end_after, "0\r\n\r\n"});
  return answers;
}

std::string counted(int tokens, int events) {
  std::vector<std::string> parts(static_cast<std::size_t>(events), probe_word("w"));
  parts.push_back(kProbeFinish);
  parts.push_back(sse(
      format(R"({{"choices":[],"usage":{{"prompt_tokens":9,"completion_tokens":{}}}}})", tokens)));
  parts.push_back(kProbeDone);
  return with_stream(probe_stream(parts));
}

TEST(ProbeLimits, one_token_an_event_is_so_within_a_tenth) {
  EXPECT_THAT(counted(11, 10), HasSubstr("good tokens: one an event"));
  EXPECT_THAT(counted(12, 10), HasSubstr("note tokens: 1.20 an event"));
  EXPECT_THAT(counted(9, 10), HasSubstr("good tokens: one an event"));
  EXPECT_THAT(counted(8, 10), HasSubstr("note tokens: 0.800 an event"));
  EXPECT_THAT(counted(0, 10), Not(HasSubstr(" tokens: "))) << "no count to compare with";
}

TEST(ProbeLimits, a_limit_is_kept_up_to_it) {
  EXPECT_THAT(counted(32, 32), Not(HasSubstr("bad limit")));
  EXPECT_THAT(counted(33, 33), HasSubstr("bad limit"));
}

TEST(ProbeLimits, a_count_that_is_missing_or_zero_beside_text_is_no_good_one) {
  EXPECT_THAT(counted(0, 3),
              HasSubstr("bad usage: prompt 9, completion 0, though 3 fragments came: output"));
  EXPECT_THAT(counted(0, 0),
              HasSubstr("good usage: counted by the server: prompt 9, completion 0"));
  const auto with = [](std::string_view usage) {
    const std::string event = sse(format(R"({{"choices":[],"usage":{}}})", usage));
    return with_stream(probe_stream({probe_word("a"), kProbeFinish, event, kProbeDone}));
  };
  EXPECT_THAT(with(R"({"prompt_tokens":9})"),
              HasSubstr("bad usage: prompt 9, completion unknown: output tokens must be"));
  const std::string no_prompt = with(R"({"completion_tokens":1})");
  EXPECT_THAT(no_prompt, AllOf(HasSubstr("counted by the server: prompt unknown, completion 1"),
                               Not(HasSubstr("for the same prompt"))));
}

TEST(ProbeLimits, the_two_queries_counts_of_a_prompt_are_compared_where_both_are_known) {
  const auto with = [](std::string_view streamed, std::string_view plain) {
    ProbeAnswers answers = sane();
    const auto usage = [](std::string_view prompt) {
      return format(R"({{{}"completion_tokens":1}})", prompt);
    };
    const std::string event = sse(format(R"({{"choices":[],"usage":{}}})", usage(streamed)));
    answers.streamed = recorded(probe_stream({probe_word("a"), kProbeFinish, event, kProbeDone}));
    answers.plain = recorded({probe_plain(plain_body(usage(plain)))});
    return findings(answers);
  };
  constexpr std::string_view kNone = R"("prompt_tokens":0,)";
  constexpr std::string_view kNine = R"("prompt_tokens":9,)";
  EXPECT_THAT(with(kNone, kNine), HasSubstr("counts 9 prompt tokens where the stream counted 0"));
  EXPECT_THAT(with(kNine, kNone), HasSubstr("counts 0 prompt tokens where the stream counted 9"));
  for (const auto& [streamed, plain] : {std::pair{kNine, kNine}, {kNine, ""}, {"", kNine}}) {
    EXPECT_THAT(with(streamed, plain), Not(HasSubstr("for the same prompt")));
  }
}

TEST(ProbeKinds, a_stream_of_lines_is_one_whatever_its_type_is_called) {
  ProbeAnswers answers = sane();
  answers.api = Api::ollama_chat;
  answers.plain_asked = false;
  answers.streamed = recorded(
      {"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
       probe_chunk(R"({"message":{"content":"a"},"done":false})"
                   "\n"),
       probe_chunk(R"({"message":{"content":""},"done":true,"done_reason":"stop",)"
                   R"("prompt_eval_count":9,"eval_count":1})"
                   "\n") +
           "0\r\n\r\n"});
  EXPECT_THAT(findings(answers),
              AllOf(HasSubstr("good content type: application/json, read as lines"),
                    HasSubstr("good first event: brings the first token"),
                    HasSubstr("counted by the server: prompt 9, completion 1")));
}

TEST(ProbeLimits, a_connection_is_kept_alive_by_a_whole_reply_that_does_not_say_close) {
  ProbeAnswers answers = sane();
  EXPECT_THAT(findings(answers), HasSubstr("µs, kept alive"));
  answers.streamed.reads.pop_back();
  EXPECT_THAT(findings(answers), Not(HasSubstr("kept alive"))) << "the reply was cut off";
  answers = sane();
  answers.plain_asked = false;
  answers.streamed.reads[0].bytes.insert(std::string_view("HTTP/1.1 200 OK\r\n").size(),
                                         "Connection: close\r\n");
  EXPECT_THAT(findings(answers), Not(HasSubstr("kept alive")));
}

TEST(ProbeLimits, the_sentences_agree_with_their_numbers) {
  const auto split = [](std::vector<std::string> parts) {
    parts.push_back(kProbeDone);
    return with_stream(probe_stream(std::move(parts)));
  };
  const std::string half = probe_word("\xE2\x82");
  EXPECT_THAT(split({half, probe_word("a")}), HasSubstr("1 fragment ends or begins inside"));
  EXPECT_THAT(split({half, probe_word("a"), half, probe_word("b")}),
              HasSubstr("2 fragments end or begin inside"));
  EXPECT_THAT(split({probe_word("a") + probe_word("b")}), HasSubstr("2 events came in 1 read:"));
  const std::string thought = sse(probe_delta(R"("reasoning_content":"x")"));
  EXPECT_THAT(split({probe_word("a"), thought}),
              HasSubstr("the first visible one comes at the same instant"));
  EXPECT_THAT(split({thought, probe_word("a")}),
              HasSubstr("the first visible one comes 10.0 ms later"));
}

TEST(ProbeLimits, what_is_held_back_comes_late_and_at_once) {
  const auto at = [](Duration first) {
    std::vector<Duration> out;
    for (int i = 0; i < 4; ++i) out.push_back(first + 1_ms * i);
    return findings(paced(out));
  };
  // 3 ms of words after a wait: held back if that is less than a 50th of the wait.
  EXPECT_THAT(at(150_ms), Not(HasSubstr(" pace: all")));
  EXPECT_THAT(at(151_ms), HasSubstr("bad pace: all 4 events came within 3.00 ms: something holds"));
  const std::string thought = sse(probe_delta(R"("reasoning_content":"x")"));
  EXPECT_THAT(findings(paced({151_ms, 152_ms, 153_ms, 154_ms}, 1_ms, {}, thought)),
              HasSubstr("bad pace: all 4 events came within 3.00 ms: something holds"))
      << "thoughts are tokens too";
  const auto together = [](Duration when) {
    ProbeAnswers answers = sane();
    answers.streamed = recorded(
        probe_stream({kWords[0] + kWords[1] + kWords[2] + kWords[3] + kProbeFinish, kProbeDone}));
    answers.streamed.reads[1].at = answers.streamed.sent + when;
    return findings(answers);
  };
  EXPECT_THAT(together(100_ms), HasSubstr("note pace: all 4 events came in one read"));
  EXPECT_THAT(together(101_ms), HasSubstr("bad pace: all 4 events came in one read"));
  EXPECT_THAT(findings(paced({200_ms, 200_ms, 200_ms})), Not(HasSubstr(" pace: all")))
      << "three events say nothing";
}

TEST(ProbeLimits, events_that_share_reads_are_gathered_from_a_third_on) {
  const auto gathered = [](std::vector<std::string> parts) {
    parts.push_back(kProbeDone);
    return with_stream(probe_stream(std::move(parts)));
  };
  const std::string two = probe_word("a") + probe_word("b");
  EXPECT_THAT(gathered({two, probe_word("c")}), Not(HasSubstr("note pace")))
      << "3 events in 2 reads";
  EXPECT_THAT(gathered({two, two, probe_word("c")}),
              HasSubstr("note pace: 5 events came in 3 reads"));
}

TEST(ProbeLimits, a_gap_is_long_from_200_ms_and_ten_times_the_usual_one) {
  const auto with_gap = [](Duration usual, Duration longest) {
    return findings(paced(
        {10_ms, 10_ms + usual, 10_ms + usual * 2, 10_ms + usual * 3, 10_ms + usual * 3 + longest}));
  };
  EXPECT_THAT(with_gap(10_ms, 200_ms), Not(HasSubstr("the longest gap")));
  EXPECT_THAT(with_gap(10_ms, 201_ms), HasSubstr("the longest gap between tokens is 201 ms"));
  EXPECT_THAT(with_gap(30_ms, 300_ms), Not(HasSubstr("the longest gap")));
  EXPECT_THAT(with_gap(30_ms, 301_ms), HasSubstr("the usual one 30.0 ms"));
  EXPECT_THAT(findings(paced({10_ms, 20_ms, 900_ms})), Not(HasSubstr("the longest gap")))
      << "of two gaps none is usual";
}

TEST(ProbeLimits, an_end_is_late_beyond_25_ms_and_four_gaps) {
  const std::vector<Duration> words{10_ms, 20_ms, 30_ms, 40_ms};
  EXPECT_THAT(findings(paced(words, 40_ms)), Not(HasSubstr("after the last token")));
  EXPECT_THAT(findings(paced(words, 41_ms)), HasSubstr("note end: comes 41.0 ms after the last"));
  const std::vector<Duration> quick{10_ms, 11_ms, 12_ms, 13_ms};
  EXPECT_THAT(findings(paced(quick, 25_ms)), Not(HasSubstr("after the last token")));
  EXPECT_THAT(findings(paced(quick, 26_ms)), HasSubstr("after the last token"));
  EXPECT_THAT(findings(paced(words, 1_ms, 5_ms)), Not(HasSubstr("the stream ends")));
  EXPECT_THAT(findings(paced(words, 1_ms, 6_ms)),
              HasSubstr("the stream ends 6.00 ms after [DONE]"));
}

TEST(ProbeLimits, counts_in_more_than_two_events_make_each_larger) {
  const auto with_usage = [](int times) {
    auto parts = kWords;
    parts.push_back(kProbeFinish);
    for (int i = 0; i < times; ++i) parts.push_back(kProbeUsage);
    parts.push_back(kProbeDone);
    return with_stream(probe_stream(parts));
  };
  EXPECT_THAT(with_usage(2), HasSubstr("good usage"));
  EXPECT_THAT(with_usage(3),
              HasSubstr("note usage: prompt 9, completion 4; counts come with 3 of"));
}

TEST(ProbeRefusals, the_way_out_depends_on_what_was_given) {
  ProbeAnswers answers = sane();
  const auto refused = [&](std::string_view status, const ProbeQuestion& asked) {
    answers.streamed = recorded({probe_plain("{}", "application/json", status)});
    return findings(answers, asked);
  };
  ProbeQuestion with_key = probe_question();
  with_key.api_key = "k-123456";
  EXPECT_THAT(refused("403 Forbidden", probe_question()),
              HasSubstr("give a key by --api-key-env NAME"));
  EXPECT_THAT(refused("403 Forbidden", with_key), HasSubstr("the key was not accepted"));
  EXPECT_THAT(refused("401 Unauthorized", with_key), HasSubstr("the key was not accepted"));
  EXPECT_THAT(refused("429 Too Many", probe_question()), Not(HasSubstr("it asks to wait")));
  EXPECT_THAT(refused("500 Oops", probe_question()), Not(HasSubstr(";")));
  answers.streamed =
      recorded({"HTTP/1.1 302 Found\r\nLocation: http://other/\r\nContent-Length: 0\r\n\r\n"});
  EXPECT_THAT(findings(answers), HasSubstr("HTTP 302: it has moved to http://other/"));
  answers.streamed = recorded({"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"});
  EXPECT_THAT(findings(answers), HasSubstr("bad content type: none on a stream"));
}

TEST(ProbeRefusals, the_plain_reply_may_be_missing_or_compressed) {
  EXPECT_THAT(with_plain(probe_plain("{}", "application/json", "404 Not Found")),
              HasSubstr("bad plain: HTTP 404"));
  EXPECT_THAT(with_plain("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 2\r\n\r\n{}"),
              HasSubstr("bad plain: comes compressed"));
  EXPECT_THAT(with_plain(probe_plain(R"({"choices":[{"message":{"content":""}}],"usage":null})")),
              AllOf(HasSubstr("note plain: the reply is empty"), HasSubstr("note plain: no finish"),
                    HasSubstr("good plain: a whole reply in ")));
  ProbeAnswers unasked = sane();
  unasked.plain_asked = false;
  EXPECT_THAT(findings(unasked), AllOf(Not(HasSubstr(" plain:")), HasSubstr("kept alive")));
}

TEST(ProbeModels, what_is_listed_is_told_in_few_words) {
  ProbeAnswers answers = sane();
  answers.models = {"a", "m", "z"};
  EXPECT_THAT(findings(answers), HasSubstr("good models: 3 listed; asked m"));
  answers.models = {"a", "z"};
  EXPECT_THAT(findings(answers),
              AllOf(HasSubstr("note models: 'm' is not among the 2 it lists (the first is 'a')"),
                    Not(HasSubstr("good models"))));
  answers.models.clear();
  answers.models_status = 0;
  EXPECT_THAT(findings(answers), HasSubstr("it lists none (no reply to GET /v1/models)"));
  answers.models_status = 200;
  EXPECT_THAT(findings(answers), HasSubstr("it lists none (HTTP 200, and no model in it)"));
  answers.models_asked = false;
  EXPECT_THAT(findings(answers), Not(HasSubstr(" models: ")));
}

TEST(ProbeKinds, a_route_is_there_unless_it_is_denied) {
  ProbeAnswers answers = sane();
  answers.kinds = {
      {Api::openai, 400},           {Api::openai_completions, 404}, {Api::sglang, 405},
      {Api::openai_responses, 401}, {Api::anthropic_messages, 403}, {Api::ollama_chat, 0},
      {Api::ollama_generate, 200}};
  const ProbeReport report = find(probe_question(), answers);
  EXPECT_THAT(report.kinds, testing::ElementsAre("openai", "ollama_generate"));
  EXPECT_THAT(findings(answers),
              AllOf(HasSubstr("good kinds: it has the routes of openai, ollama_generate"),
                    HasSubstr("note kinds: a key is needed to see whether it has "
                              "openai_responses, anthropic_messages")));
  EXPECT_THAT(to_json(report)["kinds"].dump(), R"(["openai","ollama_generate"])");
}

TEST(ProbeKinds, a_stream_that_ends_itself_is_judged_by_its_own_end) {
  ProbeAnswers answers = sane();
  answers.api = Api::anthropic_messages;
  answers.plain_asked = false;
  const std::string begun =
      sse(R"({"type":"message_start","message":{"usage":{"input_tokens":9}}})");
  const std::string text = sse(R"({"type":"content_block_delta","delta":{"text":"a"}})");
  const std::string over = sse(R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},)"
                               R"("usage":{"output_tokens":1}})");
  const std::string stop = sse(R"({"type":"message_stop"})");
  answers.streamed = recorded(probe_stream({begun, text, over, stop + "0\r\n\r\n"}));
  EXPECT_THAT(findings(answers),
              AllOf(HasSubstr("good end: finish reason 'stop', and message_stop"),
                    HasSubstr("counted by the server: prompt 9, completion 1")));
  answers.streamed = recorded(probe_stream({begun, text, over, "0\r\n\r\n"}));
  EXPECT_THAT(findings(answers), HasSubstr("bad end: no message_stop"));
  answers.streamed = recorded(probe_stream({text, stop + "0\r\n\r\n"}));
  EXPECT_THAT(findings(answers),
              AllOf(HasSubstr("note end: message_stop, but no finish reason"),
                    HasSubstr("bad usage: no token counts: output tokens must be counted")));
}

TEST(ProbeKinds, what_is_to_be_ranked_is_asked_with_documents_and_nothing_else_is) {
  EXPECT_EQ(probe_sample({Api::rerank, nullptr}, "x").body["documents"].size(), 2U);
  EXPECT_TRUE(probe_sample({Api::openai, nullptr}, "x").body["documents"].is_null());
}

TEST(ProbeKinds, one_without_streams_has_one_reply_of_its_own_units) {
  ProbeAnswers answers = sane();
  answers.api = Api::openai_images;
  answers.streamed = {};
  answers.plain = recorded({probe_plain(R"({"data":[{"b64_json":"QQ=="},{"b64_json":"QQ=="}]})")});
  EXPECT_THAT(findings(answers), AllOf(HasSubstr("good reply: 2 images in 50.0 ms\n"),
                                       Not(HasSubstr(" plain: ")), Not(HasSubstr(" stream: "))));
  answers.plain = recorded({probe_plain("{}")});
  EXPECT_THAT(findings(answers), HasSubstr("bad reply: no reply of openai_images: {}"));
}

TEST(ProbeReport, an_endpoint_answers_if_one_of_the_two_queries_was_whole) {
  ProbeAnswers answers = sane();
  const Recording nothing = recorded({}, Recording::Ending::reset);
  answers.streamed = nothing;
  EXPECT_TRUE(find(probe_question(), answers).answers);
  answers.plain = nothing;
  EXPECT_FALSE(find(probe_question(), answers).answers);
  answers.streamed = recorded(probe_stream({kWords[0], sse("[DONE]")}), Recording::Ending::reset);
  EXPECT_TRUE(find(probe_question(), answers).answers) << "only framing is missing";
  answers.streamed = recorded(probe_stream({kWords[0]}), Recording::Ending::reset);
  EXPECT_FALSE(find(probe_question(), answers).answers);
  answers.streamed = recorded(probe_stream({sse(R"({"error":"x"})"), kProbeDone}));
  EXPECT_FALSE(find(probe_question(), answers).answers);
}

TEST(ProbeReport, objections_come_first_and_the_line_counts_them) {
  const auto line = [](const ProbeAnswers& answers) {
    const ProbeReport report = find(probe_question(), answers);
    EXPECT_TRUE(
        std::ranges::is_sorted(report.findings, std::ranges::greater{}, &ProbeFinding::verdict));
    return std::string(to_json(report)["verdict"].as_string());
  };
  EXPECT_EQ(line(sane()), "It answers, and its stream is sane.");
  ProbeAnswers noted = sane();
  noted.models = {"x"};
  EXPECT_EQ(line(noted), "It answers, and its stream is sane; one thing to know.");
  noted.plain = recorded({probe_plain(plain_body(), "text/plain")});
  EXPECT_EQ(line(noted), "It answers, and its stream is sane; 2 things to know.");
  noted.plain_on_same_connection = false;
  EXPECT_EQ(line(noted), "It answers, but one thing is not sane; 2 things to know.");
  ProbeAnswers bad = sane();
  bad.plain_on_same_connection = false;
  bad.usage_refused = true;
  EXPECT_EQ(line(bad), "It answers, but 2 things are not sane.");
}

TEST(ProbeReport, its_json_has_every_instant_of_the_stream_and_none_of_the_whole_reply) {
  const Json json = to_json(find(probe_question(), sane()));
  EXPECT_EQ(json["streamed"].dump(),
            R"({"http_status":200,"http_version":"1.1","content_type":"text/event-stream; )"
            R"(charset=utf-8","server":"uvicorn","complete":true,"streamed":true,"reads":8,)"
            R"("stream_events":7,"fragments":4,"reasoning_fragments":0,"first_byte_ms":50.0,)"
            R"("first_event_ms":60.0,"first_token_ms":60.0,"first_visible_ms":60.0,)"
            R"("last_token_ms":90.0,"end_ms":120.0,"done_marker":true,"finish_reason":"length",)"
            R"("usage":{"prompt_tokens":9,"completion_tokens":4,"reasoning_tokens":null,)"
            R"("cached_tokens":null},"error":null})");
  EXPECT_EQ(json["plain"]["stream_events"].dump(), "null");
  EXPECT_EQ(json["plain"].find("first_token_ms"), nullptr);
  EXPECT_EQ(json["plain"]["end_ms"].as_double(), 50.0);
  EXPECT_EQ(json["url"].as_string(), "http://h:8000");
  EXPECT_EQ(json["model"].as_string(), "m");
  EXPECT_EQ(json["models"].dump(), R"(["m"])");
  ProbeAnswers none = sane();
  none.streamed = recorded({}, Recording::Ending::reset);
  none.model.clear();
  EXPECT_TRUE(to_json(find(probe_question(), none))["streamed"].is_null());
  EXPECT_TRUE(to_json(find(probe_question(), none))["model"].is_null());
}

TEST(ProbeReport, its_json_has_each_count_under_its_name) {
  ProbeAnswers answers = sane();
  answers.streamed = recorded(
      probe_stream({probe_word("a"), kProbeFinish,
                    sse(R"({"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,)"
                        R"("prompt_tokens_details":{"cached_tokens":3},)"
                        R"("completion_tokens_details":{"reasoning_tokens":2}}})"),
                    kProbeDone}));
  EXPECT_EQ(to_json(find(probe_question(), answers))["streamed"]["usage"].dump(),
            R"({"prompt_tokens":9,"completion_tokens":4,"reasoning_tokens":2,"cached_tokens":3})");
  answers.streamed = recorded(probe_stream({probe_word("a"), kProbeFinish, kProbeDone}));
  EXPECT_TRUE(to_json(find(probe_question(), answers))["streamed"]["usage"].is_null());
}

TEST(ProbeReport, a_secret_that_leaks_letter_by_letter_is_in_no_part_of_it) {
  ProbeQuestion asked = probe_question();
  asked.api_key = "SEKRIT-KEY-77";
  ProbeAnswers answers = sane();
  answers.streamed =
      recorded(probe_stream({probe_word("SEKR"), probe_word("IT-K"), probe_word("EY-77"),
                             kProbeFinish, kProbeUsage, kProbeDone}));
  answers.plain = recorded({probe_plain(R"({"error":{"message":"bad SEKRIT-KEY-77"}})")});
  const ProbeReport report = find(asked, answers);
  EXPECT_EQ(report.streamed.text.find("SEKRIT"), std::string::npos);
  std::string fragments;
  for (const RecordedEvent& event : report.streamed.events) {
    for (const auto& [category, text] : event.fragments) fragments += text;
  }
  EXPECT_EQ(fragments.find("KEY-77"), std::string::npos) << fragments;
  EXPECT_EQ(to_text(report).find("KEY-77"), std::string::npos);
  EXPECT_EQ(to_json(report).dump().find("KEY-77"), std::string::npos);
}

}  // namespace
}  // namespace assay::protocol
