// What a request for speech may ask, and the sound that is made for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/wav.h"
#include "endpoint/ask.h"
#include "endpoint/dialect/tone.h"

namespace assay::endpoint {
namespace {

using testing::HasSubstr;

Ask speech_ask(std::string_view body) {
  AskReader reader;
  Ask ask;
  const auto read = reader.read(Route::speech, body, ask);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(read)) << std::get<ApiError>(read).message;
  return ask;
}

std::string speech_refusal(std::string_view body) {
  AskReader reader;
  Ask ask;
  const auto read = reader.read(Route::speech, body, ask);
  const ApiError* const error = std::get_if<ApiError>(&read);
  return error == nullptr ? "" : error->message;
}

TEST(SpeechAsk, the_defaults_are_openais) {
  const Ask ask = speech_ask(R"({"model":"m","input":"twelve bytes","voice":"alloy","extra":1})");
  EXPECT_EQ(ask.route, Route::speech);
  EXPECT_EQ(ask.model, "m");
  EXPECT_TRUE(ask.stream);
  EXPECT_EQ(ask.prompt_tokens, 3U);
  EXPECT_EQ(ask.speech.form, SpeechForm::mp3);
  EXPECT_FALSE(ask.speech.events);
  EXPECT_EQ(ask.speech.sample_rate, 24'000U);
}

TEST(SpeechAsk, what_is_asked_for_is_taken) {
  const Ask ask =
      speech_ask(R"({"input":"x","voice":{"id":"v"},"response_format":"wav","stream_format":"sse",)"
                 R"("sample_rate":8000,"speed":4,"stream":false})");
  EXPECT_EQ(ask.speech.form, SpeechForm::wav);
  EXPECT_TRUE(ask.speech.events);
  EXPECT_EQ(ask.speech.sample_rate, 8'000U);
  EXPECT_FALSE(ask.stream);
}

TEST(SpeechAsk, what_cannot_be_made_is_refused) {
  EXPECT_THAT(speech_refusal("{"), HasSubstr("not valid JSON"));
  EXPECT_THAT(speech_refusal("[]"), HasSubstr("must be a JSON object"));
  EXPECT_THAT(speech_refusal(R"({"voice":"a"})"), HasSubstr("input: is required"));
  EXPECT_THAT(speech_refusal(R"({"voice":"a","input":""})"), HasSubstr("input: is required"));
  EXPECT_THAT(speech_refusal(R"({"input":"x"})"), HasSubstr("voice: is required"));
  const auto refused = [](std::string_view more) {
    return speech_refusal(R"({"input":"x","voice":"a",)" + std::string(more) + "}");
  };
  EXPECT_THAT(refused(R"("response_format":"opus")"), HasSubstr("makes pcm, wav and mp3"));
  EXPECT_THAT(refused(R"("stream_format":"x")"), HasSubstr("must be audio or sse"));
  EXPECT_THAT(refused(R"("sample_rate":11025)"), HasSubstr("8000, 16000, 24000 or 48000"));
  EXPECT_THAT(refused(R"("speed":4.5)"), HasSubstr("from 0.25 to 4"));
  EXPECT_THAT(refused(R"("stream":1)"), HasSubstr("must be a boolean"));
  EXPECT_THAT(refused(R"("model":7)"), HasSubstr("must be a string"));
}

TEST(Tone, is_one_sound_however_it_is_cut) {
  for (const std::uint32_t rate : {8'000U, 16'000U, 24'000U, 48'000U}) {
    const std::string whole = tone(rate, 0, 50);
    EXPECT_EQ(whole.size(), rate * 2 * kTokenSoundMs * 50 / 1000);
    EXPECT_EQ(tone(rate, 0, 7) + tone(rate, 7, 1) + tone(rate, 8, 42), whole);
    EXPECT_NE(whole.find_first_not_of('\0'), std::string::npos);
  }
}

TEST(Tone, the_head_of_its_file_says_what_follows) {
  const std::string head = wav_head(24'000, 1152);
  ASSERT_EQ(head.size(), 44U);
  EXPECT_EQ(head.substr(0, 4) + head.substr(8, 8) + head.substr(36, 4), "RIFFWAVEfmt data");
  EXPECT_EQ(head.substr(40), std::string("\x80\x04\0\0", 4));
  EXPECT_EQ(head.substr(28, 4), std::string("\x80\xbb\0\0", 4));  // 48,000 bytes a second
  EXPECT_EQ(wav_head(24'000, 0xffff'ffff).substr(4, 4), "\xff\xff\xff\xff");
}

}  // namespace
}  // namespace assay::endpoint
