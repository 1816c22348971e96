#include "endpoint/speech_ask.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "base/json.h"

namespace assay::endpoint {
namespace {

ApiError bad_speech(std::string_view param, std::string_view why) {
  return {.message = format("{}: {}", param, why), .param = std::string(param)};
}

struct Form {
  std::string_view name{};
  SpeechForm form = SpeechForm::mp3;
};
constexpr std::array<Form, 3> kSpeechForms{
    {{"mp3", SpeechForm::mp3}, {"wav", SpeechForm::wav}, {"pcm", SpeechForm::pcm}}};
constexpr std::array<std::int64_t, 4> kSampleRates = {8'000, 16'000, 24'000, 48'000};

std::variant<std::monostate, ApiError> read_speech_form(const Json& body, SpeechAsk& out) {
  const std::string_view form = body["response_format"].as_string("mp3");
  const auto found = std::ranges::find(kSpeechForms, form, &Form::name);
  if (found == kSpeechForms.end()) {
    return bad_speech("response_format", "this endpoint makes pcm, wav and mp3");
  }
  out.form = found->form;
  const std::string_view stream = body["stream_format"].as_string("audio");
  if (stream != "audio" && stream != "sse")
    return bad_speech("stream_format", "must be audio or sse");
  out.events = stream == "sse";
  const Json& rate = body["sample_rate"];
  if (!rate.is_null() && (!rate.is_integer() ||
                          std::ranges::find(kSampleRates, rate.as_int()) == kSampleRates.end())) {
    return bad_speech("sample_rate", "must be 8000, 16000, 24000 or 48000");
  }
  out.sample_rate = static_cast<std::uint32_t>(rate.as_int(24'000));
  const Json& speed = body["speed"];
  if (!speed.is_null() &&
      (!speed.is_number() || speed.as_double() < 0.25 || speed.as_double() > 4)) {
    return bad_speech("speed", "must be from 0.25 to 4");
  }
  return std::monostate{};
}

}  // namespace

std::variant<std::monostate, ApiError> read_speech_ask(std::string_view body, Ask& ask) {
  ask.route = Route::speech;
  const auto json = Json::parse(body);
  if (!json) return ApiError{.message = "The body is not valid JSON."};
  if (!json->is_object()) return ApiError{.message = "The body must be a JSON object."};
  const Json& model = (*json)["model"];
  if (!model.is_null() && !model.is_string()) return bad_speech("model", "must be a string");
  ask.model = model.as_string();
  const Json& input = (*json)["input"];
  if (!input.is_string() || input.as_string().empty()) return bad_speech("input", "is required");
  ask.prompt_tokens = std::max<std::uint32_t>(1, estimate_tokens(input.as_string().size()));
  const Json& voice = (*json)["voice"];
  if (!voice.is_string() && !voice["id"].is_string()) return bad_speech("voice", "is required");
  const Json& stream = (*json)["stream"];
  if (!stream.is_null() && !stream.is_bool()) return bad_speech("stream", "must be a boolean");
  // A server of this API speaks while it makes the sound, unless the request forbids it.
  ask.stream = stream.as_bool(true);
  return read_speech_form(*json, ask.speech);
}

}  // namespace assay::endpoint
