// What a probe says of an endpoint that speaks: its sound, and the events that may carry it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocol/testing_probe.h"

namespace assay::protocol {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kChunkedSound =
    "HTTP/1.1 200 OK\r\nContent-Type: audio/pcm\r\nTransfer-Encoding: chunked\r\n\r\n";

// A second of it is `rate` bytes; 0: only its head would tell.
ProbeAnswers speech_probe(std::vector<std::string> parts, std::uint32_t rate = 1000,
                          std::string_view head = kChunkedSound) {
  ProbeAnswers answers = sane();
  answers.api = Api::openai_speech;
  answers.sound_rate = rate;
  answers.plain_asked = false;
  answers.streamed = recorded(probe_stream(std::move(parts), head));
  return answers;
}

std::vector<std::string> two_pieces(std::size_t bytes) {
  const std::string piece = probe_chunk(std::string(bytes / 2, 'x'));
  return {piece, piece, "0\r\n\r\n"};
}

// The last byte comes 80 ms after the query.
TEST(ProbeSound, is_as_fast_as_it_plays_or_slower_or_of_an_unknown_length) {
  EXPECT_THAT(findings(speech_probe(two_pieces(1000))),
              AllOf(HasSubstr("good sound: audio/pcm: 1.00 s of sound in 80.0 ms, 12.5 times as "
                              "fast as it plays\n"),
                    HasSubstr("good stream: 2 pieces, the first after 60.0 ms\n")));
  EXPECT_THAT(findings(speech_probe(two_pieces(80))), HasSubstr("in 80.0 ms, 1.00 times as fast"));
  EXPECT_THAT(findings(speech_probe(two_pieces(78))),
              HasSubstr("note sound: audio/pcm: 78.0 ms of sound in 80.0 ms: slower than it plays, "
                        "so a listener would have to wait\n"));
  EXPECT_THAT(findings(speech_probe(two_pieces(1000), 0)),
              HasSubstr("note sound: 1.00 kB of audio/pcm: only a decoder knows how long"));
  // Less than a nanosecond plays for no time, which is a length.
  EXPECT_THAT(findings(speech_probe({probe_chunk("x"), "0\r\n\r\n"}, 4'000'000'000)),
              HasSubstr(" of sound in 70.0 ms: slower than it plays"));
  EXPECT_THAT(findings(speech_probe({probe_chunk("xy"), "0\r\n\r\n"})),
              HasSubstr("good stream: 1 piece, the first after 60.0 ms\n"));
}

TEST(ProbeSound, that_comes_with_its_length_has_no_first_piece) {
  const std::string head =
      "HTTP/1.1 200 OK\r\nContent-Type: audio/pcm\r\nContent-Length: 1000\r\n\r\n";
  EXPECT_THAT(findings(speech_probe({std::string(1000, 'x')}, 1000, head)),
              AllOf(HasSubstr("good sound: audio/pcm: 1.00 s of sound in 60.0 ms"),
                    HasSubstr("note stream: the sound came whole, with its length: no first"),
                    Not(HasSubstr("good stream"))));
}

TEST(ProbeSound, that_did_not_come_or_broke_off_is_named) {
  EXPECT_THAT(findings(speech_probe({"0\r\n\r\n"})), HasSubstr("bad sound: no sound came: "));
  auto cut = two_pieces(1000);
  cut.pop_back();
  EXPECT_THAT(findings(speech_probe(cut)),
              AllOf(HasSubstr("bad sound: the connection broke before the sound's end"),
                    Not(HasSubstr("good "
                                  "stream"))));
  ProbeAnswers answers = speech_probe({});
  answers.streamed = recorded({probe_plain(R"({"error":{"message":"busy"}})")});
  EXPECT_THAT(findings(answers), HasSubstr("bad sound: HTTP 200 with an error: \"busy\""));
  answers.streamed = recorded({probe_plain("{}", "application/json", "404 Not Found")});
  EXPECT_THAT(findings(answers), AllOf(HasSubstr("bad sound: HTTP 404"), Not(HasSubstr("came"))));
}

TEST(ProbeSound, its_events_are_judged_beside_it) {
  const std::string piece = sse(R"({"type":"speech.audio.delta","audio":"QUJD"})");
  const std::string done = sse(R"({"type":"speech.audio.done"})");
  const std::string counted =
      sse(R"({"type":"speech.audio.done","usage":{"input_tokens":3,"output_tokens":4}})");
  ProbeAnswers answers = speech_probe(two_pieces(1000));
  answers.plain_asked = true;
  const auto with = [&](std::vector<std::string> parts, std::string_view head = kStreamHead) {
    parts.emplace_back("0\r\n\r\n");
    answers.plain = recorded(probe_stream(std::move(parts), head));
    return findings(answers);
  };
  EXPECT_THAT(with({piece, piece, done}),
              HasSubstr("good events: stream_format sse brings 2 pieces\n"));
  EXPECT_THAT(with({piece, counted}), HasSubstr("brings 1 piece, and counts of tokens\n"));
  EXPECT_THAT(with({piece}), HasSubstr("bad events: the stream has no speech.audio.done"));
  EXPECT_THAT(with({piece, sse(R"({"error":{"message":"out of\nbreath"}})"), done}),
              HasSubstr("bad events: an error inside the stream: \"out of\\nbreath\""));
  EXPECT_THAT(with({probe_chunk("xyz")}, kChunkedSound),
              HasSubstr("note events: stream_format sse brings no events"));
  answers.plain = recorded({probe_plain("{}", "application/json", "400 Bad")});
  EXPECT_THAT(findings(answers), HasSubstr("note events: stream_format sse brings no events"));
  answers.plain = recorded({});
  EXPECT_THAT(findings(answers), HasSubstr("note events: stream_format sse brings no events"));
  answers.plain_asked = false;
  EXPECT_THAT(findings(answers), Not(HasSubstr(" events: ")));
}

}  // namespace
}  // namespace assay::protocol
