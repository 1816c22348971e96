// Speech: what is asked, and how its events are read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "protocol/codec.h"
#include "protocol/kind/kind.h"

namespace assay::protocol {
namespace {

using testing::HasSubstr;

Generation speech_settings() { return {.model = "m", .stream = true}; }

Sample spoken_text(std::string_view row = "{}") {
  Sample sample;
  sample.prompt = "Hello";
  sample.body = *Json::parse(row);
  return sample;
}

TEST(SpeechRequest, asks_for_samples_unless_the_row_says_otherwise) {
  const auto plain = make_body(Api::openai_speech, speech_settings(), spoken_text(), false);
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_EQ(plain->bytes,
            R"({"model":"m","input":"Hello","voice":"alloy","response_format":"pcm"})");
  EXPECT_TRUE(plain->asked.stream);
  EXPECT_EQ(plain->asked.sound_rate, 48'000U);
  EXPECT_EQ(plain->asked.choices, 1);
  Sample sample = spoken_text(
      R"({"voice":{"id":"v1"},"response_format":"wav","speed":1.5,"stream_format":"sse"})");
  sample.system = "Whisper.";
  Generation whole = speech_settings();
  whole.stream = false;
  const auto own = make_body(Api::openai_speech, whole, sample, false);
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_EQ(own->bytes,
            R"({"model":"m","input":"Hello","voice":{"id":"v1"},"response_format":"wav",)"
            R"("instructions":"Whisper.","speed":1.5,"stream_format":"sse"})");
  EXPECT_FALSE(own->asked.stream);
  EXPECT_EQ(own->asked.sound_rate, 0U);
}

TEST(SpeechRequest, a_rate_of_samples_that_is_asked_for_is_the_rate_of_play) {
  const auto body = make_body(Api::openai_speech, speech_settings(),
                              spoken_text(R"({"sample_rate":8000})"), false);
  ASSERT_TRUE(body) << body.error().message;
  EXPECT_EQ(body->asked.sound_rate, 16'000U);
}

TEST(SpeechRequest, a_salt_goes_before_the_text) {
  const auto body = make_body(Api::openai_speech, speech_settings(), spoken_text(), true);
  ASSERT_TRUE(body) << body.error().message;
  EXPECT_EQ(body->bytes.substr(body->salt_offset - 1, 25), "[0000000000000000] Hello\"");
}

TEST(SpeechRequest, what_the_api_does_not_have_is_refused) {
  const auto why = [](std::string_view row) {
    const auto body = make_body(Api::openai_speech, speech_settings(), spoken_text(row), false);
    EXPECT_FALSE(body) << row;
    return body ? std::string() : body.error().message;
  };
  EXPECT_THAT(why(R"({"response_format":"ogg"})"),
              HasSubstr("response_format: must be one of mp3, opus, aac, flac, wav, pcm"));
  EXPECT_THAT(why(R"({"stream_format":"lines"})"),
              HasSubstr(R"(stream_format: must be one of audio, sse, is "lines")"));
  EXPECT_THAT(why(R"({"stream_format":""})"), HasSubstr("must be one of audio, sse, is \"\""));
  EXPECT_THAT(why(R"({"response_format":""})"), HasSubstr("wav, pcm, is \"\""));
  EXPECT_THAT(why(R"({"sample_rate":1000001})"),
              HasSubstr("sample_rate: must be a whole number from 1 to 1000000, is 1000001"));
  EXPECT_THAT(why(R"({"sample_rate":0})"), HasSubstr("sample_rate: must be a whole number"));
  EXPECT_THAT(why(R"({"sample_rate":"high"})"), HasSubstr("is \"high\""));
  EXPECT_THAT(why(R"({"stream":false})"), HasSubstr("set streaming instead"));
  Sample silent;
  const auto body = make_body(Api::openai_speech, speech_settings(), silent, false);
  ASSERT_FALSE(body);
  EXPECT_THAT(body.error().message, HasSubstr("no prompt"));
}

DecodedEvent speech_event(ReplyDecoder& decoder, StreamState& state, std::string& room,
                          std::string_view json) {
  room = std::string(json);
  const std::size_t size = room.size();
  room.append(kDecodePadding, '\0');
  DecodedEvent event;
  decoder.decode({room.data(), size}, state, event);
  return event;
}

TEST(SpeechReply, events_bring_sound_in_base64_and_the_last_one_counts) {
  ReplyDecoder decoder;
  StreamState state;
  state.api = Api::openai_speech;
  std::string room;
  for (const char* audio : {"AAAA", "BBBB", "CC\\/C"}) {
    const DecodedEvent event =
        speech_event(decoder, state, room,
                     std::string(R"({"type":"speech.audio.delta","audio":")") + audio + R"("})");
    EXPECT_EQ(event.category, Category::sound);
    ASSERT_EQ(event.fragment_count, 1);
    EXPECT_EQ(event.fragments[0].category, Category::sound);
    EXPECT_EQ(event.fragments[0].text, audio == std::string_view("CC\\/C") ? "CC/C" : audio);
    EXPECT_TRUE(event.has_choice);
    EXPECT_FALSE(event.ends);
  }
  EXPECT_GT(state.template_hits, 0U);
  const DecodedEvent done = speech_event(
      decoder, state, room,
      R"({"type":"speech.audio.done","usage":{"input_tokens":2,"output_tokens":4,"total_tokens":6}})");
  EXPECT_TRUE(done.ends);
  EXPECT_EQ(done.category, Category::finish);
  EXPECT_EQ(done.usage.prompt_tokens, 2);
  EXPECT_EQ(done.usage.completion_tokens, 4);
  EXPECT_EQ(speech_event(decoder, state, room, R"({"type":"ping","audio":"AAAA"})").fragment_count,
            0);
  const DecodedEvent error = speech_event(
      decoder, state, room,
      R"({"type":"speech.audio.error","error":{"message":"gone"},"partial_audio":true})");
  EXPECT_EQ(error.category, Category::error);
  EXPECT_EQ(error.error, "gone");
}

TEST(SpeechReply, a_reply_in_json_is_an_error_or_none_of_this_api) {
  const auto read = [](std::string_view json) {
    const auto reply = decode_whole(json, Api::openai_speech);
    return reply ? reply->error : reply.error().message;
  };
  EXPECT_EQ(read(R"({"error":{"message":"no such voice"}})"), "no such voice");
  EXPECT_THAT(read(R"({"text":"Hello"})"), HasSubstr("no choices"));
}

}  // namespace
}  // namespace assay::protocol
