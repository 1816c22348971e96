// What a reader finds in a recorded exchange: each fact of a reply, and the read that brought it.
#include "protocol/recording.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "protocol/testing_probe.h"

namespace assay::protocol {
namespace {

using RecordedEnding = Recording::Ending;

constexpr std::string_view kPlainHead = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";

Instant after_the_query(int ms) { return Instant{} + 1_s + 1_ms * ms; }

ReplyFacts read_parts(std::vector<std::string> parts,
                      RecordedEnding ending = RecordedEnding::open) {
  return read_recording(recorded(probe_stream(std::move(parts)), ending));
}

ReplyFacts read_body(std::string_view body) {
  return read_recording(
      recorded({format("{}Content-Length: {}\r\n\r\n{}", kPlainHead, body.size(), body)}));
}

TEST(ReadRecording, finds_each_event_of_a_stream_and_when_it_came) {
  const ReplyFacts facts =
      read_parts({kRole, probe_word("One"), probe_word(" two") + probe_word(" three"), kProbeFinish,
                  kProbeUsage, kProbeDone});
  EXPECT_TRUE(facts.has_head && facts.complete && facts.streamed);
  EXPECT_FALSE(facts.is_sound || facts.usage_before_finish || facts.carriage_returns);
  EXPECT_EQ(facts.head.status, 200);
  EXPECT_EQ(facts.reads, 7U);
  ASSERT_EQ(facts.events.size(), 7U);
  EXPECT_EQ(facts.events[0].category, Category::role);
  EXPECT_TRUE(facts.events[0].has_choice);
  EXPECT_EQ(facts.events[0].read, 1U);
  EXPECT_EQ(facts.events[2].read, 3U);
  EXPECT_EQ(facts.events[3].read, 3U);
  EXPECT_EQ(facts.events[3].at, after_the_query(80));
  EXPECT_EQ(facts.events[4].finish, FinishReason::length);
  EXPECT_TRUE(facts.events[5].has_usage);
  EXPECT_FALSE(facts.events[4].has_usage);
  EXPECT_EQ(facts.events[5].usage.completion_tokens, 4);
  EXPECT_EQ(facts.events[6].category, Category::marker);
  EXPECT_EQ(facts.first_byte, after_the_query(50));
  EXPECT_EQ(facts.first_event, after_the_query(60));
  EXPECT_EQ(facts.first_token, after_the_query(70));
  EXPECT_EQ(facts.first_visible, after_the_query(70));
  EXPECT_EQ(facts.last_token, after_the_query(80));
  EXPECT_EQ(facts.done_marker, after_the_query(110));
  EXPECT_EQ(facts.end, after_the_query(110));
  EXPECT_EQ(facts.fragments, 3U);
  EXPECT_EQ(facts.joined_events, 1U);
  EXPECT_EQ(facts.usage_events, 1U);
  EXPECT_EQ(facts.reasoning_fragments + facts.tool_fragments + facts.sound_pieces +
                facts.malformed + facts.comments + facts.split_characters + facts.events_after_done,
            0U);
  EXPECT_EQ(facts.finish, FinishReason::length);
  EXPECT_EQ(facts.usage.prompt_tokens, 9);
  EXPECT_EQ(facts.text, "One two three");
  EXPECT_EQ(facts.fault + facts.error + facts.reasoning + facts.tool_calls, "");
  EXPECT_LT(facts.sound_length, Duration{});
  EXPECT_FALSE(facts.first_sound.known());
}

TEST(ReadRecording, tells_reasoning_and_calls_from_what_a_user_sees) {
  const std::string call = probe_delta(
      R"("tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}])");
  const ReplyFacts facts = read_parts({sse(probe_delta(R"("reasoning_content":"hm")")), sse(call),
                                       probe_word("\xE2\x82"), probe_word("\xAC"), kProbeDone});
  EXPECT_EQ(facts.fragments, 4U);
  EXPECT_EQ(facts.reasoning_fragments, 1U);
  EXPECT_EQ(facts.reasoning, "hm");
  EXPECT_EQ(facts.tool_fragments, 1U);
  EXPECT_NE(facts.tool_calls.find("{}"), std::string::npos);
  EXPECT_EQ(facts.text, "\xE2\x82\xAC");
  EXPECT_EQ(facts.split_characters, 2U);
  EXPECT_EQ(facts.first_token, after_the_query(60));
  EXPECT_EQ(facts.first_visible, after_the_query(80));
  EXPECT_EQ(facts.last_token, after_the_query(90));
}

TEST(ReadRecording, sees_counts_that_come_before_the_end_or_with_it) {
  const auto early = [](std::vector<std::string> parts) {
    parts.push_back(kProbeDone);
    const ReplyFacts facts = read_parts(std::move(parts));
    return format("{} {}", facts.usage_before_finish, facts.usage_events);
  };
  EXPECT_EQ(early({probe_word("a"), kProbeFinish, kProbeUsage}), "false 1");
  EXPECT_EQ(early({probe_word("a"), kProbeUsage, kProbeFinish}), "true 1");
  EXPECT_EQ(early({kProbeUsage, probe_word("a")}), "true 1");
  EXPECT_EQ(early({probe_word("a"), kProbeUsage, kProbeUsage}), "false 2");
  const std::string with_finish =
      sse(R"({"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"completion_tokens":4}})");
  EXPECT_EQ(early({probe_word("a"), with_finish}), "true 1");
}

TEST(ReadRecording, counts_what_comes_behind_the_done_marker) {
  const ReplyFacts facts =
      read_parts({probe_word("a"), sse("[DONE]"), probe_word("b") + sse("[DONE]"), "0\r\n\r\n"});
  EXPECT_EQ(facts.events_after_done, 2U);
  EXPECT_EQ(facts.done_marker, after_the_query(70));
  EXPECT_EQ(facts.end, after_the_query(90));
}

TEST(ReadRecording, sees_comments_line_ends_and_what_is_no_json) {
  ReplyFacts facts = read_parts({probe_chunk(": ping\n\n: pong\n\n"), sse("{"), kProbeDone});
  EXPECT_EQ(facts.comments, 2U);
  EXPECT_EQ(facts.malformed, 1U);
  EXPECT_TRUE(facts.events[0].malformed);
  EXPECT_FALSE(facts.carriage_returns);
  facts = read_parts({probe_chunk("data: [DONE]\r\n\r\n"), "0\r\n\r\n"});
  EXPECT_TRUE(facts.carriage_returns);
  EXPECT_EQ(facts.comments, 0U);
  EXPECT_TRUE(facts.done_marker.known());
}

TEST(ReadRecording, keeps_the_first_error_and_those_that_an_event_names) {
  ReplyFacts facts =
      read_parts({sse(R"({"error":{"message":"first"}})"), sse(R"({"error":"second"})")});
  EXPECT_EQ(facts.error, "first");
  EXPECT_EQ(facts.events[1].error, "second");
  facts = read_parts({probe_chunk("event: error\ndata: {\"message\":\"named\"}\n\n")});
  EXPECT_EQ(facts.error, "named");
  EXPECT_EQ(facts.events[0].category, Category::error);
}

TEST(ReadRecording, the_head_is_the_one_behind_interim_ones) {
  const auto head = [](std::vector<std::string> reads) {
    return read_recording(recorded(std::move(reads)));
  };
  const std::string final_head = "HTTP/1.1 201 Made\r\nX-A:  y \r\nContent-Length: 2";
  ReplyFacts facts = head({"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nX-A: z\r\n\r\n" +
                           final_head + "\r\n\r\n{}"});
  EXPECT_EQ(facts.head_text, final_head);
  EXPECT_EQ(facts.body, "{}");
  EXPECT_EQ(header_of(facts, "x-a"), "y");
  EXPECT_EQ(header_of(facts, "content-length"), "2");
  EXPECT_EQ(header_of(facts, "http/1.1 201 made"), "");
  EXPECT_EQ(header_of(facts, "x-b"), "");
  EXPECT_TRUE(facts.complete);
  EXPECT_TRUE(facts.events.empty()) << "of another status there is only the error";
  facts = head({final_head.substr(0, 20), final_head.substr(20) + "\r\n", "\r\n{", "}"});
  EXPECT_EQ(facts.head_text, final_head);
  EXPECT_EQ(facts.reads, 4U);
  facts = head({final_head});
  EXPECT_FALSE(facts.has_head || facts.complete);
  facts = head({});
  EXPECT_FALSE(facts.has_head || facts.complete || facts.first_byte.known());
  EXPECT_EQ(facts.reads, 0U);
}

TEST(ReadRecording, a_body_without_a_length_is_whole_where_the_peer_closed) {
  const std::string reply = std::string(kPlainHead) + "\r\n" + plain_body();
  EXPECT_TRUE(read_recording(recorded({reply}, RecordedEnding::closed)).complete);
  EXPECT_FALSE(read_recording(recorded({reply}, RecordedEnding::reset)).complete);
  EXPECT_FALSE(read_recording(recorded({reply}, RecordedEnding::open)).complete);
  EXPECT_EQ(read_recording(recorded({reply}, RecordedEnding::closed)).text, "Hi");
  EXPECT_FALSE(read_parts({probe_word("a")}, RecordedEnding::closed).complete)
      << "a chunk is missing";
  EXPECT_NE(read_recording(recorded({"no http\r\n\r\n"})).fault, "");
  // What comes behind a whole reply is not looked at.
  const ReplyFacts more = read_recording(recorded({probe_plain(plain_body()), "more"}));
  EXPECT_EQ(more.reads, 1U);
  EXPECT_EQ(more.end, after_the_query(50));
}

TEST(ReadRecording, a_body_is_a_stream_where_it_does_not_begin_as_a_document) {
  for (const char* const document : {"{}", " \t\r\n{}", "\xEF\xBB\xBF{}", "[]", "<html>"}) {
    EXPECT_FALSE(read_body(document).streamed) << document;
    EXPECT_EQ(read_body(document).events.size(), 1U) << document;
  }
  for (const char* const stream : {"data: [DONE]\n\n", "\n\ndata: [DONE]\n\n", ": ping\n\n"}) {
    EXPECT_TRUE(read_body(stream).streamed) << stream;
  }
  EXPECT_FALSE(read_body("  \n").streamed);
  EXPECT_TRUE(read_body("  \n").events.empty());
  const ReplyFacts whole = read_body(plain_body());
  ASSERT_EQ(whole.events.size(), 1U);
  EXPECT_EQ(whole.text, "Hi");
  EXPECT_EQ(whole.finish, FinishReason::length);
  EXPECT_EQ(whole.fragments, 1U);
  EXPECT_EQ(whole.usage.completion_tokens, 4);
  EXPECT_EQ(whole.first_token, after_the_query(50));
}

TEST(ReadRecording, another_status_has_its_error_and_a_coded_body_is_not_looked_into) {
  const ReplyFacts refused = read_recording(recorded(
      {"HTTP/1.1 500 Bad\r\nContent-Length: 30\r\n\r\n{\"error\":{\"message\":\"broken\"}}"}));
  EXPECT_EQ(refused.error, "broken");
  EXPECT_FALSE(refused.streamed);
  EXPECT_TRUE(refused.events.empty());
  const ReplyFacts coded = read_recording(
      recorded({"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}"}));
  EXPECT_EQ(coded.body, "{}");
  EXPECT_TRUE(coded.complete);
  EXPECT_TRUE(coded.events.empty());
}

TEST(ReadRecording, lines_are_a_stream_where_one_was_asked_for) {
  const std::string body =
      "{\"message\":{\"content\":\"a\"}}\n{\"message\":{\"content\":\"b\"},\"done\":true}\n";
  const auto lines = [](std::string_view text, bool asked, std::string_view fields = "") {
    return read_recording(
        recorded({format("HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n{}\r\n{}",
                         fields, text)},
                 RecordedEnding::closed),
        Api::ollama_chat, asked);
  };
  const ReplyFacts facts = lines(body, true);
  EXPECT_TRUE(facts.streamed && facts.complete);
  EXPECT_EQ(facts.text, "ab");
  EXPECT_EQ(facts.events.size(), 2U);
  EXPECT_EQ(facts.joined_events, 1U);
  EXPECT_EQ(facts.done_marker, after_the_query(50)) << "its kind's own end";
  EXPECT_EQ(lines(body.substr(0, body.size() - 1), true).text, "ab") << "the last may have no end";
  EXPECT_FALSE(lines(body, false).streamed);
  EXPECT_FALSE(lines(body, true, format("Content-Length: {}\r\n", body.size())).streamed)
      << "with a length it came whole";
}

TEST(ReadRecording, a_sound_has_its_pieces_its_bytes_and_the_time_that_it_plays) {
  const auto spoken = [](std::vector<std::string> reads) {
    return read_recording(recorded(std::move(reads)), Api::openai_speech, true, 1000);
  };
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: audio/pcm\r\n";
  ReplyFacts facts = spoken({head + "Transfer-Encoding: chunked\r\n\r\n", probe_chunk("abcd"),
                             probe_chunk(std::string(496, 'x')), "0\r\n\r\n"});
  EXPECT_TRUE(facts.is_sound && facts.streamed && facts.complete);
  EXPECT_EQ(facts.sound_pieces, 2U);
  EXPECT_EQ(facts.sound_bytes, 500U);
  EXPECT_EQ(facts.sound_length, 500_ms);
  EXPECT_EQ(facts.first_sound, after_the_query(60));
  ASSERT_EQ(facts.events.size(), 2U);
  EXPECT_EQ(facts.events[1].category, Category::sound);
  EXPECT_TRUE(facts.events[1].has_choice);
  EXPECT_EQ(facts.events[1].read, 2U);
  EXPECT_EQ(facts.events[1].at, after_the_query(70));
  facts = spoken({head + "Content-Length: 4\r\n\r\nabcd"});
  EXPECT_TRUE(facts.is_sound);
  EXPECT_FALSE(facts.streamed) << "with a length it came whole";
  EXPECT_EQ(facts.sound_bytes, 4U);
  // What could have begun a head is sound at the end, which is of the last read.
  facts = spoken({head + "Transfer-Encoding: chunked\r\n\r\n", probe_chunk("R"), "0\r\n\r\n"});
  EXPECT_EQ(facts.sound_bytes, 1U);
  ASSERT_EQ(facts.events.size(), 1U);
  EXPECT_EQ(facts.events[0].read, 2U);
  EXPECT_EQ(facts.events[0].at, after_the_query(70));
  // Samples may look like a document; a document that says its type is one.
  EXPECT_TRUE(spoken({head + "Content-Length: 2\r\n\r\n{}"}).is_sound);
  EXPECT_FALSE(spoken({std::string(kPlainHead) + "Content-Length: 2\r\n\r\n{}"}).is_sound);
  EXPECT_TRUE(spoken({std::string(kPlainHead) + "Content-Length: 2\r\n\r\nab"}).is_sound);
  EXPECT_FALSE(spoken({"HTTP/1.1 400 No\r\nContent-Length: 2\r\n\r\nab"}).is_sound);
  // A rate that is not known gives no length.
  facts = read_recording(recorded({head + "Content-Length: 4\r\n\r\nabcd"}), Api::openai_speech);
  EXPECT_EQ(facts.sound_bytes, 4U);
  EXPECT_LT(facts.sound_length, Duration{});
}

TEST(ReadRecording, the_first_bytes_or_the_head_tell_a_sounds_events_from_samples) {
  const auto spoken = [](std::string_view type, std::string_view body, std::uint32_t rate = 1) {
    return read_recording(recorded({format("HTTP/1.1 200 OK\r\nX-Own:z\r\nContent-Type: {}\r\n"
                                           "Transfer-Encoding: chunked\r\n\r\n",
                                           type),
                                    probe_chunk(body) + "0\r\n\r\n"}),
                          Api::openai_speech, true, rate);
  };
  const std::string done = "data: {\"type\":\"speech.audio.done\"}\n\n";
  for (const std::string& body : {": ping\n\n" + done, done, "event: x\n" + done}) {
    const ReplyFacts facts = spoken("text/event-stream", body);
    EXPECT_TRUE(facts.streamed && facts.done_marker.known()) << body;
    EXPECT_FALSE(facts.is_sound) << body;
    EXPECT_EQ(spoken("audio/pcm", body).is_sound, body.front() == ':') << body;
  }
  // A last event may lack its blank line, and the bytes of a head may be sound in the end.
  EXPECT_TRUE(spoken("text/event-stream", done.substr(0, done.size() - 2)).done_marker.known());
  const ReplyFacts few = spoken("audio/pcm", "RIF");
  EXPECT_EQ(few.sound_bytes, 3U);
  EXPECT_EQ(few.sound_length, 3_s);
  EXPECT_EQ(header_of(few, "x-own"), "z");
  const ReplyFacts none = spoken("audio/wav", std::string_view("RIFF\0\0\0\0WAVE", 12));
  EXPECT_LE(none.sound_bytes, 12U);
  const ReplyFacts silent = spoken("text/event-stream", done);
  EXPECT_EQ(silent.sound_bytes, 0U);
  EXPECT_LT(silent.sound_length, Duration{}) << "nothing plays, for no time that is known";
}

TEST(ReadRecording, a_sound_in_events_is_their_bytes) {
  const auto delta = [](std::string_view bytes) {
    return sse(format(R"({{"type":"speech.audio.delta","audio":"{}"}})", encode_base64(bytes)));
  };
  const ReplyFacts facts =
      read_recording(recorded(probe_stream({delta("abcd"), delta("ef"),
                                            sse(R"({"type":"speech.audio.done"})"), "0\r\n\r\n"})),
                     Api::openai_speech, true, 1000);
  EXPECT_TRUE(facts.streamed);
  EXPECT_FALSE(facts.is_sound);
  EXPECT_EQ(facts.sound_pieces, 2U);
  EXPECT_EQ(facts.sound_bytes, 6U);
  EXPECT_EQ(facts.sound_length, 6_ms);
  EXPECT_EQ(facts.first_sound, after_the_query(60));
  EXPECT_EQ(facts.fragments, 0U);
}

}  // namespace
}  // namespace assay::protocol
