// A turn of a realtime session: what is sent, and how its events are read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/base64.h"
#include "base/format.h"
#include "base/text.h"
#include "net/url.h"
#include "protocol/codec.h"
#include "protocol/kind/kind.h"

namespace assay::protocol {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Generation turn_settings() {
  Generation out{.model = "m", .stream = true};
  out.max_new_tokens = 9;
  return out;
}

std::vector<std::string> script(const Sample& sample, const Generation& generation) {
  const auto body = make_body(Api::realtime, generation, sample, false);
  EXPECT_TRUE(body) << body.error().message;
  std::vector<std::string> out;
  std::string_view left = body ? std::string_view(body->bytes) : "";
  while (!left.empty()) {
    const std::size_t end = left.find('\n');
    out.emplace_back(left.substr(0, end));
    left.remove_prefix(end + 1);
  }
  return out;
}

std::string turn_refusal(std::string_view extra, Sample sample = {.prompt = "hi"}) {
  Generation generation = turn_settings();
  generation.extra_body = *Json::parse(extra);
  const auto body = make_body(Api::realtime, generation, sample, false);
  EXPECT_FALSE(body) << extra;
  return body ? "" : body.error().message;
}

Sample spoken(std::string bytes, std::string type = "") {
  Sample out;
  out.attachments.push_back(
      {.name = "file", .type = std::move(type), .file = "a.wav", .bytes = std::move(bytes)});
  return out;
}

// A WAV file of 16 bits, one channel, with a chunk of no interest before its samples.
std::string wav(std::uint32_t rate, const std::string& samples, std::uint16_t channels = 1,
                std::uint32_t form = 1, std::uint32_t bits = 16, std::uint32_t format_bytes = 16) {
  const auto number = [](std::uint32_t value, int size) {
    std::string out;
    for (int i = 0; i < size; ++i) out += static_cast<char>(value >> (8 * i) & 255);
    return out;
  };
  return "RIFF" + number(0, 4) + "WAVE" + "LIST" + number(3, 4) + "abc" + std::string(1, '\0') +
         "fmt " + number(format_bytes, 4) + number(form, 2) + number(channels, 2) +
         number(rate, 4) + number(2 * rate, 4) + number(2, 2) + number(bits, 2) + "data" +
         number(static_cast<std::uint32_t>(samples.size()), 4) + samples;
}

TEST(RealtimeTurn, is_a_session_its_messages_and_a_wish) {
  Sample sample;
  sample.prompt = "hi";
  sample.system = "Be brief.";
  const auto plain = script(sample, turn_settings());
  EXPECT_THAT(
      plain,
      ElementsAre(
          R"({"type":"session.update","session":{"type":"realtime","output_modalities":["audio"],)"
          R"("instructions":"Be brief.","audio":{"input":{"format":{"type":"audio/pcm",)"
          R"("rate":24000},"turn_detection":null},"output":{"format":{"type":"audio/pcm",)"
          R"("rate":24000},"voice":"alloy"}},"max_output_tokens":9}})",
          R"({"type":"conversation.item.create","item":{"type":"message","role":"user",)"
          R"("content":[{"type":"input_text","text":"hi"}]}})",
          R"({"type":"response.create"})"));
  Generation own = turn_settings();
  own.extra_body = *Json::parse(
      R"({"output_modalities":["text"],"voice":"x","sample_rate":8000,"response":{"metadata":{}}})");
  const auto changed = script(sample, own);
  EXPECT_THAT(changed.front(), HasSubstr(R"("output_modalities":["text"])"));
  EXPECT_THAT(changed.front(), HasSubstr(R"("rate":8000},"voice":"x"}})"));
  EXPECT_EQ(changed.back(), R"({"type":"response.create","response":{"metadata":{}}})");
}

TEST(RealtimeTurn, brings_the_whole_conversation) {
  Sample sample;
  sample.messages = Messages(
      *Json::parse(R"([{"role":"system","content":"s"},{"role":"user","content":"a"},)"
                   R"({"role":"assistant","content":"b"},{"role":"user","content":"c"}])"));
  const auto lines = script(sample, turn_settings());
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_THAT(lines[1],
              HasSubstr(R"("role":"system","content":[{"type":"input_text","text":"s"}])"));
  EXPECT_THAT(lines[3],
              HasSubstr(R"("role":"assistant","content":[{"type":"output_text","text":"b"}])"));
}

TEST(RealtimeTurn, a_sound_goes_in_pieces_of_a_tenth_of_a_second) {
  const std::string samples(10'000, 'x');
  const auto paced = script(spoken(wav(24'000, samples), "audio/wav"), turn_settings());
  ASSERT_EQ(paced.size(), 6U);
  EXPECT_EQ(paced[1], format(R"(@100000 {{"type":"input_audio_buffer.append","audio":"{}"}})",
                             encode_base64(samples.substr(0, 4'800))));
  EXPECT_EQ(paced[3], format(R"(@208333 {{"type":"input_audio_buffer.append","audio":"{}"}})",
                             encode_base64(samples.substr(0, 400))));
  EXPECT_EQ(paced[4], R"({"type":"input_audio_buffer.commit"})");
  Generation at_once = turn_settings();
  at_once.extra_body = *Json::parse(R"({"pace":"at_once"})");
  const auto fast = script(spoken(samples), at_once);
  ASSERT_EQ(fast.size(), 6U);
  EXPECT_EQ(fast[1].front(), '{');
}

TEST(RealtimeTurn, what_cannot_be_a_turn_is_refused) {
  EXPECT_THAT(turn_refusal(R"({"output_modalities":["audio","text"]})"), HasSubstr("must be"));
  EXPECT_THAT(turn_refusal(R"({"pace":"fast"})"), HasSubstr("realtime or at_once"));
  EXPECT_THAT(turn_refusal(R"({"sample_rate":0})"), HasSubstr("sample_rate"));
  EXPECT_THAT(turn_refusal(R"({"audio":{"input":{"turn_detection":{"type":"server_vad"}}}})"),
              HasSubstr("turn_detection: must be null"));
  EXPECT_THAT(turn_refusal(R"({"audio":{"input":{"format":{"rate":-1}}}})"), HasSubstr("rate"));
  EXPECT_THAT(turn_refusal("{}", spoken(wav(16'000, "xx"), "audio/wav")),
              HasSubstr("a.wav has 16000 samples a second, and the session hears 24000"));
  EXPECT_THAT(turn_refusal("{}", spoken(wav(24'000, "xx", 2), "audio/wav")),
              HasSubstr("one channel"));
  EXPECT_THAT(turn_refusal("{}", spoken("RIFF", "audio/wav")), HasSubstr("one channel"));
  EXPECT_THAT(turn_refusal("{}", spoken("ID3", "audio/mpeg")), HasSubstr("audio/mpeg"));
  EXPECT_THAT(turn_refusal("{}", Sample{}), HasSubstr("prompt"));
  Sample ids;
  ids.input_tokens = {1, 2};
  EXPECT_THAT(turn_refusal("{}", ids), HasSubstr("token ids"));
}

TEST(RealtimeTurn, the_rate_of_its_sound_is_the_formats) {
  const auto rate = [](std::string_view extra) {
    Generation generation = turn_settings();
    generation.extra_body = *Json::parse(extra);
    Sample sample;
    sample.prompt = "hi";
    const auto body = make_body(Api::realtime, generation, sample, false);
    EXPECT_TRUE(body);
    return body ? body->asked.sound_rate : 0;
  };
  EXPECT_EQ(rate("{}"), 48'000U);
  EXPECT_EQ(rate(R"({"sample_rate":16000})"), 32'000U);
  EXPECT_EQ(rate(R"({"audio":{"output":{"format":{"type":"audio/pcmu"}}}})"), 8'000U);
  EXPECT_EQ(rate(R"({"audio":{"output":{"format":{"type":"audio/opus"}}}})"), 0U);
}

TEST(RealtimeTurn, the_model_stands_in_the_address) {
  const auto target = [](std::string_view address) {
    return request_target(*net::parse_url(address), Api::realtime, "org/m 1");
  };
  EXPECT_EQ(target("http://h"), "/v1/realtime?model=org%2Fm%201");
  EXPECT_EQ(target("http://h/v1"), "/v1/realtime?model=org%2Fm%201");
  EXPECT_EQ(target("http://h/v1/realtime?model=other"), "/v1/realtime?model=other");
  EXPECT_EQ(target("http://h/openai?v=1"), "/openai/v1/realtime?v=1&model=org%2Fm%201");
}

// The facts of one event as a line.
std::string facts(std::string_view text) {
  std::string padded(text);
  padded.append(kDecodePadding, '\0');
  ReplyDecoder decoder;
  StreamState state;
  state.api = Api::realtime;
  DecodedEvent out;
  decoder.decode(std::string_view(padded).substr(0, text.size()), state, out);
  std::string line = format("{}", to_string(out.category));
  for (std::size_t i = 0; i < out.fragment_count; ++i) line += format(" {}", out.fragments[i].text);
  if (out.ends) line += " ends";
  if (out.finish != FinishReason::none) line += format(" {}", to_string(out.finish));
  if (!out.error.empty()) line += format(" error={}", out.error);
  if (out.has_usage) line += format(" {}+{}", out.usage.prompt_tokens, out.usage.completion_tokens);
  return line;
}

TEST(RealtimeReply, each_event_has_its_meaning) {
  EXPECT_EQ(facts(R"({"type":"response.created","response":{"status":"in_progress"}})"), "role");
  EXPECT_EQ(facts(R"({"type":"response.output_audio.delta","delta":"AAAA"})"), "sound AAAA");
  EXPECT_EQ(facts(R"({"type":"response.audio.delta","delta":"AAAA"})"), "sound AAAA");
  for (const char* name : {"output_text", "output_audio_transcript", "text", "audio_transcript"}) {
    EXPECT_EQ(facts(format(R"({{"type":"response.{}.delta","delta":"a\nb"}})", name)), "text a\nb");
  }
  EXPECT_EQ(facts(R"({"type":"response.output_text.done","text":"again"})"), "role");
  EXPECT_EQ(facts(R"({"type":"response.done","response":{"status":"completed","output":[],)"
                  R"("usage":{"input_tokens":7,"output_tokens":5}}})"),
            "finish ends stop 7+5");
  EXPECT_EQ(facts(R"({"type":"response.done","response":{"status":"completed",)"
                  R"("output":[{"type":"function_call","name":"f"}]}})"),
            "finish ends tool_calls");
  EXPECT_EQ(facts(R"({"type":"response.done","response":{"status":"incomplete",)"
                  R"("status_details":{"reason":"content_filter"}}})"),
            "finish ends content_filter");
  EXPECT_EQ(facts(R"({"type":"response.done","response":{"status":"failed"}})"),
            "error ends error=failed");
  EXPECT_EQ(facts(R"({"type":"error","error":{"message":"no"}})"), "error error=no");
  EXPECT_EQ(facts(R"({"type":"error","error":"no"})"), "error error=no");
}

TEST(RealtimeReply, a_call_begins_with_its_item) {
  EXPECT_THAT(facts(R"({"type":"response.output_item.added","output_index":1,)"
                    R"("item":{"type":"function_call","call_id":"c","name":"look"}})"),
              HasSubstr("look"));
  EXPECT_EQ(facts(R"({"type":"response.output_item.added","item":{"type":"message"}})"), "role");
  EXPECT_THAT(facts(R"({"type":"response.function_call_arguments.delta","output_index":1,)"
                    R"("delta":"{}"})"),
              HasSubstr("tool_call"));
}

bool is_beside(std::string_view text) {
  std::string padded(text);
  padded.append(kDecodePadding, '\0');
  return beside_the_turn(std::string_view(padded).substr(0, text.size()));
}

TEST(RealtimeReply, what_is_said_of_the_session_is_beside_the_turn) {
  for (const char* type : {"session.created", "conversation.item.added", "rate_limits.updated",
                           "input_audio_buffer.committed"}) {
    EXPECT_TRUE(is_beside(format(R"({{"event_id":"e","type":"{}"}})", type))) << type;
  }
  EXPECT_FALSE(is_beside(R"({"type":"response.created"})"));
  EXPECT_FALSE(is_beside(R"({"type":"error"})"));
  EXPECT_FALSE(is_beside(R"({"type":"session.created)"));
  EXPECT_FALSE(is_beside(R"({"x":1})"));
  EXPECT_FALSE(is_beside("[]"));
}

TEST(Realtime, what_a_session_lacks_begins_behind_the_assistants_last_words) {
  Generation generation = turn_settings();
  generation.extra_body = *Json::parse(R"({"session":"conversation"})");
  const auto lacks = [&](std::string_view messages, Sample sample = {}) {
    sample.messages = *Json::parse(messages);
    const auto body = make_body(Api::realtime, generation, sample, false);
    EXPECT_TRUE(body) << body.error().message;
    return body ? body->bytes.substr(body->goes_on_at) : "";
  };
  const std::string first = R"({"role":"system","content":"S"},{"role":"user","content":"U1"})";
  const std::string answered = first + R"(,{"role":"assistant","content":"A1"})";
  EXPECT_THAT(lacks("[" + first + "]"),
              testing::MatchesRegex(".*\"S\".*\n.*\"U1\".*\n.*response.create.*\n"));
  EXPECT_THAT(lacks("[" + answered + R"(,{"role":"user","content":"U2"}])"),
              testing::MatchesRegex("[^\n]*\"U2\"[^\n]*\n[^\n]*response.create[^\n]*\n"));
  EXPECT_THAT(lacks("[" + answered +
                    R"(,{"role":"user","content":"U2"},{"role":"assistant","content":"A2"},)" +
                    R"({"role":"user","content":"U3"}])"),
              testing::MatchesRegex("[^\n]*\"U3\"[^\n]*\n[^\n]*response.create[^\n]*\n"));
  EXPECT_THAT(lacks("[" + answered + "]", spoken(std::string(480, 'x'))),
              testing::StartsWith(R"(@10000 {"type":"input_audio_buffer.append")"));
  Sample plain{.prompt = "hi"};
  EXPECT_EQ(make_body(Api::realtime, turn_settings(), plain, false)->goes_on_at, 0U);
  EXPECT_THAT(turn_refusal(R"({"session":"call"})"), HasSubstr("must be turn or conversation"));
  Sample called;
  called.messages = *Json::parse(
      R"([{"role":"user","content":"U"},{"role":"assistant","content":null,"tool_calls":[{"id":"c",)"
      R"("type":"function","function":{"name":"f","arguments":"{}"}}]},)"
      R"({"role":"tool","tool_call_id":"c","content":"3"}])");
  EXPECT_THAT(turn_refusal(R"({"session":"conversation"})", called),
              HasSubstr("conversations with tools"));
}

std::string made_turn(std::string_view extra, const Sample& sample = {.prompt = "hi"}) {
  Generation generation = turn_settings();
  generation.extra_body = *Json::parse(extra);
  const auto body = make_body(Api::realtime, generation, sample, false);
  return body ? body->bytes : "refused: " + body.error().message;
}

TEST(RealtimeTurn, its_own_fields_are_taken_at_their_limits_and_not_beyond) {
  for (const char* const extra :
       {R"({"sample_rate":1})", R"({"sample_rate":1000000})", R"({"pace":"realtime"})",
        R"({"session":"turn"})", R"({"output_modalities":["text"]})",
        R"({"audio":{"input":{"format":{"type":"audio/pcm","rate":1}}}})",
        R"({"audio":{"input":{"format":{"type":"audio/pcm","rate":1000000}}}})"}) {
    EXPECT_THAT(made_turn(extra), testing::StartsWith("{\"type\":\"session.update\"")) << extra;
  }
  for (const char* const extra :
       {R"({"sample_rate":1000001})", R"({"sample_rate":1.5})", R"({"sample_rate":"8000"})",
        R"({"sample_rate":8000.0})", R"({"audio":{"input":{"format":{"rate":8000.0}}}})",
        R"({"pace":5})", R"({"session":5})", R"({"output_modalities":[]})",
        R"({"output_modalities":"audio"})", R"({"output_modalities":["video"]})",
        R"({"audio":{"input":{"format":{"rate":0}}}})",
        R"({"audio":{"input":{"format":{"rate":1000001}}}})",
        R"({"audio":{"input":{"format":{"rate":1.5}}}})"}) {
    EXPECT_THAT(made_turn(extra), testing::StartsWith("refused: ")) << extra;
  }
}

TEST(RealtimeTurn, a_voice_of_null_is_the_default_and_our_own_fields_are_not_sent) {
  EXPECT_THAT(made_turn(R"({"voice":"x"})"), HasSubstr(R"("voice":"x"}},"max_output_tokens")"));
  EXPECT_THAT(made_turn(R"({"voice":null})"), HasSubstr(R"("voice":"alloy")"));
  EXPECT_THAT(made_turn(R"({"model":"n","items":[]})"), testing::Not(HasSubstr("\"n\"")));
}

TEST(RealtimeTurn, samples_are_those_of_a_file_of_one_channel_of_16_bits) {
  const auto refused = [](const std::string& file) {
    return made_turn("{}", spoken(file, "audio/wav")).starts_with("refused: audio: a realtime");
  };
  const std::string good = wav(24'000, "abcd");
  EXPECT_FALSE(refused(good));
  EXPECT_FALSE(refused(wav(24'000, "abcd", 1, 0xfffe)));
  EXPECT_TRUE(refused(wav(24'000, "abcd", 1, 3)));
  EXPECT_TRUE(refused(wav(24'000, "abcd", 1, 1, 8)));
  EXPECT_TRUE(refused(wav(24'000, "abcd", 0)));
  EXPECT_TRUE(refused(wav(24'000, "abcd", 1, 1, 16, 15)));
  EXPECT_TRUE(refused(wav(24'000, "")));
  EXPECT_TRUE(refused(good.substr(0, 12)));
  EXPECT_TRUE(refused(good.substr(0, good.find("data")))) << "no samples";
  EXPECT_TRUE(refused(good.substr(0, 12) + good.substr(good.find("data")))) << "no format";
  // A file that is cut, as a recording under way is, has the samples that are there.
  EXPECT_THAT(made_turn("{}", spoken(good.substr(0, good.size() - 2), "audio/wav")),
              HasSubstr(encode_base64("ab")));
  EXPECT_THAT(made_turn("{}", spoken(good + "LISTxxxx", "audio/wav")),
              HasSubstr("\"" + encode_base64("abcd") + "\""));
}

TEST(RealtimeTurn, a_pieces_length_follows_from_the_rate_that_the_session_hears) {
  const auto pieces = [](std::int64_t rate, std::size_t bytes) {
    const std::string extra =
        format(R"({{"audio":{{"input":{{"format":{{"type":"audio/pcm","rate":{}}}}}}}}})", rate);
    const std::string text = made_turn(extra, spoken(std::string(bytes, 'x')));
    std::string at;
    for (const std::string_view line : split(text, '\n')) {
      if (line.starts_with('@')) at += std::string(line.substr(1, line.find(' ')));
    }
    return at;
  };
  EXPECT_EQ(pieces(8'000, 3'200), "100000 200000 ");
  EXPECT_EQ(pieces(8'000, 3'202), "100000 200000 200125 ");
  EXPECT_EQ(pieces(5, 4), "200000 400000 ") << "a sample at least";
  EXPECT_THAT(made_turn(R"({"audio":{"input":{"format":{"type":"audio/pcmu"}}}})", spoken("ab")),
              HasSubstr("is sent as audio/pcm"));
  EXPECT_THAT(made_turn("{}", spoken("ab", "audio/mpeg")), HasSubstr("a.wav is audio/mpeg"));
  EXPECT_THAT(made_turn("{}", spoken("ab", "text/plain")), HasSubstr("commit"));
  EXPECT_THAT(made_turn("{}", spoken("ab")), testing::Not(HasSubstr("item.create")));
}

TEST(RealtimeTurn, has_one_sound_or_a_text) {
  Sample two = spoken("ab");
  two.attachments.push_back(two.attachments[0]);
  EXPECT_THAT(made_turn("{}", two), HasSubstr("at most one sound"));
  Sample both = spoken("ab");
  both.prompt = "hi";
  EXPECT_THAT(made_turn("{}", both), testing::AllOf(HasSubstr("item.create"), HasSubstr("commit")));
  Sample ids{.prompt = "hi"};
  ids.input_tokens = {1};
  EXPECT_THAT(made_turn("{}", ids), HasSubstr("item.create"));
  Sample parts;
  parts.messages = Messages(
      *Json::parse(R"([{"role":"user","content":[{"type":"input_audio","audio":"AA"}]}])"));
  EXPECT_THAT(made_turn("{}", parts),
              HasSubstr(R"("content":[{"type":"input_audio","audio":"AA"}])"));
}

TEST(RealtimeTurn, the_bytes_of_a_second_are_known_where_its_format_says_them) {
  const auto rate = [](std::string_view form) {
    Generation generation = turn_settings();
    generation.extra_body =
        *Json::parse(format(R"({{"audio":{{"output":{{"format":{}}}}}}})", form));
    return make_body(Api::realtime, generation, {.prompt = "hi"}, false)->asked.sound_rate;
  };
  EXPECT_EQ(rate(R"({"type":"audio/pcma"})"), 8'000U);
  EXPECT_EQ(rate(R"({"type":"audio/pcm"})"), 48'000U);
  EXPECT_EQ(rate(R"({"type":"audio/pcm","rate":1})"), 2U);
  EXPECT_EQ(rate(R"({"type":"audio/pcm","rate":0})"), 0U);
  EXPECT_EQ(rate(R"({"type":"audio/pcm","rate":1000000})"), 2'000'000U);
  EXPECT_EQ(rate(R"({"type":"audio/pcm","rate":1000001})"), 0U);
}

TEST(RealtimeReply, an_end_has_its_reason_its_error_and_its_counts) {
  const auto ended = [](std::string_view response) {
    return facts(format(R"({{"type":"response.done","response":{}}})", response));
  };
  EXPECT_EQ(ended(R"({"status":"incomplete","status_details":{"reason":"max_output_tokens"}})"),
            "finish ends length");
  EXPECT_EQ(ended(R"({"status":"incomplete","status_details":{"x":1}})"), "finish ends other");
  EXPECT_EQ(ended(R"({"status":"incomplete"})"), "finish ends other");
  EXPECT_EQ(ended(R"({"status":"cancelled","status_details":{"reason":"turn_detected"}})"),
            "error ends error=turn_detected");
  EXPECT_EQ(ended(R"({"status":"cancelled"})"), "error ends error=cancelled");
  EXPECT_EQ(ended(R"({"status":"failed","status_details":{"error":{"message":"broke"}}})"),
            "error ends error=broke");
  EXPECT_EQ(ended(R"({"status":"completed","usage":null})"), "finish ends stop");
  EXPECT_EQ(ended(R"({"status":"completed","output":[{"type":"message"},)"
                  R"({"type":"function_call"},{"type":"message"}]})"),
            "finish ends tool_calls");
  EXPECT_EQ(ended(R"({"status":"completed","output":[{"type":"message"},5]})"), "finish ends stop");
}

TEST(RealtimeReply, counts_have_what_was_cached) {
  const std::string text =
      R"({"type":"response.done","response":{"usage":{"total_tokens":9,"input_tokens":5,)"
      R"("output_tokens":4,"input_token_details":{"text_tokens":1,"cached_tokens":2}}}})";
  std::string padded = text;
  padded.append(kDecodePadding, '\0');
  ReplyDecoder decoder;
  StreamState state;
  state.api = Api::realtime;
  DecodedEvent out;
  decoder.decode({padded.data(), text.size()}, state, out);
  EXPECT_TRUE(out.has_usage);
  EXPECT_EQ(out.usage, (Usage{.prompt_tokens = 5, .completion_tokens = 4, .cached_tokens = 2}));
}

TEST(RealtimeReply, what_is_no_event_or_breaks_off_is_malformed) {
  for (const char* const text :
       {R"({"type":})", R"({"delta":})", R"({"output_index":})", R"({"item":})", R"({"response":})",
        R"({"error":})", R"({"else":})", "[]", R"({"type":"response.created"} x)"}) {
    std::string padded(text);
    const std::size_t size = padded.size();
    padded.append(kDecodePadding, '\0');
    ReplyDecoder decoder;
    StreamState state;
    state.api = Api::realtime;
    DecodedEvent out;
    decoder.decode({padded.data(), size}, state, out);
    EXPECT_TRUE(out.malformed) << text;
    EXPECT_FALSE(is_beside(text)) << text;
  }
  EXPECT_EQ(facts(R"({"type":"session.updated"})"), "other");
  EXPECT_EQ(facts(R"({"type":"response.function_call_arguments.delta","delta":""})"), "role");
}

TEST(RealtimeReply, a_turn_ends_with_its_response_or_with_an_error) {
  const auto ends = [](std::string_view text) {
    std::string padded(text);
    padded.append(kDecodePadding, '\0');
    return ends_the_turn(std::string_view(padded).substr(0, text.size()));
  };
  EXPECT_TRUE(ends(R"({"type":"response.done"})"));
  EXPECT_TRUE(ends(R"({"event_id":"e","type":"error"})"));
  EXPECT_FALSE(ends(R"({"type":"response.created"})"));
  EXPECT_FALSE(ends(R"({"type":"response.done")"));
  EXPECT_FALSE(ends(R"({"x":1})"));
  EXPECT_FALSE(ends("[]"));
}

}  // namespace
}  // namespace assay::protocol
