// OpenAI's speech: a text is spoken. The reply is sound and no JSON: the bytes of a file, in chunks
// as they are made, or typed events with pieces of it in base64 (stream_format: sse). The request
// does not say which streaming is meant; --streaming off reads the same reply as one whole.
//
// `pcm` is asked unless the row says otherwise, because its length is known without decoding it:
// 16 bits a sample, one channel, 24,000 samples a second as OpenAI has it, or the row's
// sample_rate, as some servers take it.
#include <algorithm>
#include <array>

#include "base/format.h"
#include "protocol/kind/kind.h"
#include "protocol/kind/request_parts.h"
#include "protocol/kind/typed_reader.h"

namespace assay::protocol {
namespace {

constexpr std::array<std::string_view, 6> kForms = {"mp3", "opus", "aac", "flac", "wav", "pcm"};
constexpr std::int64_t kSampleRate = 24'000;
constexpr std::int64_t kSampleRateMax = 1'000'000;
constexpr std::uint32_t kSampleBytes = 2;

Result<void> check_word(const Json& body, std::string_view key,
                        std::span<const std::string_view> words) {
  const Json& value = body[key];
  if (value.is_null() || std::ranges::find(words, value.as_string()) != words.end()) return {};
  std::string known;
  for (const std::string_view word : words)
    known += (known.empty() ? "" : ", ") + std::string(word);
  return invalid(format("{}: must be one of {}, is {}", key, known, value.dump()));
}

}  // namespace

Json speech_body(const Generation& generation, const Sample& sample, char filler) {
  Json body = Json::object();
  if (!generation.model.empty()) body.set("model", generation.model);
  body.set("input", prompt_of(sample, filler));
  set_from_row(body, sample, "voice");
  if (body.find("voice") == nullptr) body.set("voice", "alloy");
  set_from_row(body, sample, "response_format");
  if (body.find("response_format") == nullptr) body.set("response_format", "pcm");
  if (!sample.system.empty()) body.set("instructions", sample.system);
  set_rest_of_row(body, sample);
  return body;
}

Result<void> encode_speech(const Json& body, const Sample&, RequestBody& out) {
  constexpr std::array<std::string_view, 2> kStreams = {"audio", "sse"};
  TRY(check_word(body, "response_format", kForms));
  TRY(check_word(body, "stream_format", kStreams));
  const Json& rate = body["sample_rate"];
  if (!rate.is_null() &&
      (!rate.is_integer() || rate.as_int() < 1 || rate.as_int() > kSampleRateMax)) {
    return invalid(format("sample_rate: must be a whole number from 1 to {}, is {}", kSampleRateMax,
                          rate.dump()));
  }
  out.bytes = body.dump();
  return {};
}

std::uint32_t rate_of_speech(const Json& body) {
  // Without a format OpenAI sends mp3.
  if (body["response_format"].as_string("mp3") != "pcm") return 0;
  return static_cast<std::uint32_t>(body["sample_rate"].as_int(kSampleRate)) * kSampleBytes;
}

bool read_speech(std::string_view text, ReplyFields& out) {
  RawString type;
  const bool sound = read_root(text, out, [&](JsonCursor& at, const RawString& key) {
    if (is_key(key, "type")) return at.string_or_skip(type);
    if (is_key(key, "audio")) return at.string_or_skip(out.sound);
    if (is_key(key, "usage")) return usage_or_skip(at, out);
    if (is_key(key, "error")) return error_value(at, out.error);
    return at.skip();
  });
  const std::string_view name = type.view();
  out.has_choice = name == "speech.audio.delta";
  if (!out.has_choice) out.sound = {};
  out.ends = name == "speech.audio.done";
  if (out.ends) out.reason = FinishReason::stop;
  return sound;
}

// A whole reply in JSON is an error, or none of this API.
bool read_no_speech(std::string_view text, ReplyFields& out) {
  return read_root(text, out, [&](JsonCursor& at, const RawString& key) {
    return is_key(key, "error") ? error_value(at, out.error) : at.skip();
  });
}

}  // namespace assay::protocol
