// Transcriptions: the form that is sent, and the two streams that servers answer with. Videos: the
// reference client's fields and the replies that it takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "protocol/codec.h"
#include "protocol/kind/kind.h"

namespace assay::protocol {
namespace {

using testing::HasSubstr;

Sample sound_sample() {
  Sample sample;
  sample.attachments.push_back(
      {.name = "file", .type = "audio/wav", .file = "a \"b\".wav", .bytes = "RIFF\r\n--x"});
  return sample;
}

Generation sound_settings(bool stream) { return {.model = "m", .stream = stream}; }

TEST(SoundRequest, a_form_holds_the_fields_and_then_the_file) {
  Sample sample = sound_sample();
  sample.body = *Json::parse(R"({"language":"de","timestamp_granularities":["word","segment"]})");
  const auto body = make_body(Api::openai_transcriptions, sound_settings(true), sample, false);
  ASSERT_TRUE(body) << body.error().message;
  const std::string line = "------assay-form-7d81f0c2";
  const auto field = [&](std::string_view name, std::string_view value) {
    return line + "\r\nContent-Disposition: form-data; name=\"" + std::string(name) + "\"\r\n\r\n" +
           std::string(value) + "\r\n";
  };
  EXPECT_EQ(body->bytes, field("model", "m") + field("language", "de") +
                             field("timestamp_granularities[]", "word") +
                             field("timestamp_granularities[]", "segment") +
                             field("response_format", "json") + field("stream", "true") + line +
                             "\r\nContent-Disposition: form-data; name=\"file\"; "
                             "filename=\"a %22b%22.wav\"\r\nContent-Type: audio/wav\r\n\r\n"
                             "RIFF\r\n--x\r\n" +
                             line + "--\r\n");
  EXPECT_TRUE(body->headers.empty());  // the kind's own type says the boundary
  EXPECT_TRUE(body->asked.stream);
}

TEST(SoundRequest, the_boundary_is_not_in_the_file) {
  Sample sample = sound_sample();
  sample.attachments[0].bytes = "x----assay-form-7d81f0c2y";
  const auto body = make_body(Api::openai_translations, sound_settings(false), sample, false);
  ASSERT_TRUE(body);
  EXPECT_THAT(body->headers[0].second, testing::EndsWith("boundary=----assay-form-7d81f0c2x"));
  EXPECT_THAT(body->bytes, testing::EndsWith("------assay-form-7d81f0c2x--\r\n"));
}

TEST(SoundRequest, what_cannot_be_asked_is_refused) {
  const auto why = [](const Generation& generation, const Sample& sample) {
    const auto body = make_body(Api::openai_transcriptions, generation, sample, false);
    EXPECT_FALSE(body);
    return body ? "" : body.error().message;
  };
  EXPECT_THAT(why(sound_settings(true), Sample{.prompt = "p"}), HasSubstr("a column 'audio'"));
  Generation subtitles = sound_settings(true);
  subtitles.extra_body = *Json::parse(R"({"response_format":"srt"})");
  EXPECT_THAT(why(subtitles, sound_sample()), HasSubstr("\"srt\" is not JSON"));
}

TEST(SoundRequest, the_probes_sound_is_a_second_of_pcm) {
  const Attachment sound = probe_sample({Api::openai_transcriptions}, "").attachments.at(0);
  EXPECT_EQ(sound.bytes.size(), 44U + 32'000U);
  EXPECT_TRUE(sound.bytes.starts_with("RIFF"));
  const auto number = [&](std::size_t at, int bytes) {
    std::uint32_t out = 0;
    for (int i = bytes; i-- > 0;) {
      out = out << 8U | static_cast<unsigned char>(sound.bytes[at + static_cast<std::size_t>(i)]);
    }
    return out;
  };
  EXPECT_EQ(number(4, 4), sound.bytes.size() - 8);
  EXPECT_EQ(sound.bytes.substr(8, 8), "WAVEfmt ");
  EXPECT_EQ(number(16, 4), 16U);
  EXPECT_EQ(number(20, 2), 1U) << "PCM";
  EXPECT_EQ(number(22, 2), 1U) << "one channel";
  EXPECT_EQ(number(24, 4), 16'000U);
  EXPECT_EQ(number(28, 4), 32'000U);
  EXPECT_EQ(number(32, 2), 2U);
  EXPECT_EQ(number(34, 2), 16U);
  EXPECT_EQ(sound.bytes.substr(36, 4), "data");
  EXPECT_EQ(number(40, 4), 32'000U);
  // A tone of 440 Hz: its sign changes twice a period.
  int most = 0;
  int changes = 0;
  int last = 0;
  for (std::size_t at = 44; at < sound.bytes.size(); at += 2) {
    const int sample = static_cast<std::int16_t>(number(at, 2));
    most = std::max(most, sample);
    if (sample * last < 0) ++changes;
    if (sample != 0) last = sample > 0 ? 1 : -1;
  }
  EXPECT_NEAR(most, 8000, 100);
  EXPECT_NEAR(changes, 880, 2);
}

TEST(SoundRequest, a_lone_sound_with_bytes_is_asked_for) {
  Sample sample = sound_sample();
  EXPECT_TRUE(make_body(Api::openai_transcriptions, sound_settings(true), sample, false));
  sample.attachments.push_back(sample.attachments[0]);
  EXPECT_FALSE(make_body(Api::openai_transcriptions, sound_settings(true), sample, false));
  sample.attachments.resize(1);
  sample.attachments[0].bytes.clear();
  EXPECT_FALSE(make_body(Api::openai_transcriptions, sound_settings(true), sample, false));
}

TEST(SoundRequest, names_in_the_form_are_written_as_browsers_do) {
  Sample sample = sound_sample();
  sample.attachments[0].file = "a\"b\r\nc.wav";
  sample.attachments[0].type.clear();
  const auto body = make_body(Api::openai_translations, sound_settings(false), sample, false);
  ASSERT_TRUE(body) << body.error().message;
  EXPECT_THAT(body->bytes, HasSubstr("filename=\"a%22b%0D%0Ac.wav\"\r\nContent-Type: "
                                     "application/octet-stream\r\n\r\n"));
}

struct SoundWords {
  std::string text{};
  DecodedEvent event{};
};

SoundWords sound_event(Api api, std::string data, bool whole = false) {
  const std::size_t size = data.size();
  data.append(kDecodePadding, '\\');
  ReplyDecoder decoder;
  SoundWords out;
  StreamState state;
  state.api = api;
  if (whole) {
    decoder.decode_reply(api, {data.data(), size}, out.event);
  } else {
    decoder.decode({data.data(), size}, state, out.event);
  }
  if (out.event.fragment_count > 0) out.text = out.event.fragments[0].text;
  return out;
}

TEST(SoundReply, both_streams_of_servers_are_read) {
  const Api api = Api::openai_transcriptions;
  const SoundWords typed =
      sound_event(api, R"({"type":"transcript.text.delta","delta":"h\u00e9"})");
  EXPECT_EQ(typed.text, "h\xc3\xa9");
  EXPECT_TRUE(typed.event.has_choice);
  const SoundWords done = sound_event(api, R"({"type":"transcript.text.done","text":"h",
    "usage":{"type":"tokens","input_tokens":7,"output_tokens":3,"total_tokens":10}})");
  EXPECT_TRUE(done.event.ends);
  EXPECT_EQ(done.event.category, Category::finish);
  EXPECT_EQ(done.event.fragment_count, 0);
  EXPECT_EQ(done.event.usage.prompt_tokens, 7);
  EXPECT_EQ(done.event.usage.completion_tokens, 3);
  const SoundWords chunk = sound_event(api, R"({"id":"t","object":"transcription.chunk",
    "choices":[{"delta":{"content":"hi"},"finish_reason":null}]})");
  EXPECT_EQ(chunk.text, "hi");
  EXPECT_FALSE(chunk.event.ends);
  EXPECT_EQ(sound_event(api, R"({"error":{"message":"too long"}})").event.category,
            Category::error);
  EXPECT_EQ(sound_event(api, "[DONE]").event.category, Category::marker);
}

TEST(SoundReply, a_whole_transcript_may_be_empty_but_must_be_there) {
  const Api api = Api::openai_translations;
  const SoundWords reply = sound_event(
      api, R"({"text":"hello","usage":{"type":"duration","seconds":3},"segments":[]})", true);
  EXPECT_EQ(reply.text, "hello");
  EXPECT_FALSE(reply.event.has_usage);
  EXPECT_TRUE(sound_event(api, R"({"text":""})", true).event.has_choice);
  EXPECT_FALSE(sound_event(api, R"({"words":[]})", true).event.has_choice);
}

TEST(VideoRequest, its_fields_are_the_reference_clients) {
  Sample sample;
  sample.prompt = "a cube";
  const auto plain = make_body(Api::videogen, sound_settings(false), sample, false);
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_EQ(plain->bytes,
            R"({"prompt":"a cube","size":"720x1280","seconds":5.0,"fps":16,)"
            R"("num_inference_steps":20,"guidance_scale":4.0,"guidance_scale_2":3.0,"seed":42,)"
            R"("num_frames":81,"boundary_ratio":0.875,"output_format":"auto",)"
            R"("response_format":"video_path"})");
  sample.body = *Json::parse(R"({"negative_prompt":"rain","seed":7,"latent_path":"/l.pt"})");
  const auto own = make_body(Api::videogen, sound_settings(false), sample, false);
  ASSERT_TRUE(own);
  const auto json = Json::parse(own->bytes);
  EXPECT_EQ((*json)["seed"].as_int(), 7);
  EXPECT_EQ((*json)["negative_prompt"].as_string(), "rain");
  EXPECT_EQ((*json)["latent_path"].as_string(), "/l.pt");
}

TEST(VideoReply, a_path_bytes_or_an_mp4_is_a_video_and_nothing_else) {
  const auto video = [](std::string_view text) {
    return sound_event(Api::videogen, std::string(text), true);
  };
  EXPECT_EQ(video(R"({"video_id":"v","video_path":"/v.mp4"})").text, "/v.mp4");
  EXPECT_EQ(video(R"({"video_id":"v","video_path":"/v.mp4","video_bytes":null})").event.units, 1U);
  EXPECT_EQ(video(R"({"video_id":"v","video_bytes":"AAAA"})").event.units, 1U);
  EXPECT_TRUE(video(std::string_view("\0\0\0\x10"
                                     "ftypisom\xff\xfe",
                                     14))
                  .event.has_choice);
  for (const char* const none :
       {R"({"video_id":"v"})", R"({"video_path":"/v"})", R"({"video_id":"v","video_path":""})",
        R"({"video_id":"v","video_path":"/v","video_bytes":"AAAA"})",
        R"({"video_id":"v","video_path":"/v","status":"ok"})"}) {
    EXPECT_FALSE(video(none).event.has_choice) << none;
  }
  EXPECT_EQ(video(R"({"error":{"message":"out of memory"}})").event.category, Category::error);
}

}  // namespace
}  // namespace assay::protocol
