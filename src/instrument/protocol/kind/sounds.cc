// OpenAI's transcriptions and translations: a sound in a form (multipart), its words back, streamed
// or in one reply. The sound is the sample's attachment `file`; every other field of the body is a
// field of the form: a list is repeated as NAME[], and a prompt, if the row has one, is a hint for
// the model.
//
// Two streams are spoken for one request, and both are read: OpenAI's typed events
// (transcript.text.delta, …, transcript.text.done) and chunks of a chat's shape, ended by [DONE]
// (vLLM, SGLang).

#include "base/format.h"
#include "protocol/kind/kind.h"
#include "protocol/kind/request_parts.h"
#include "protocol/kind/typed_reader.h"

namespace assay::protocol {

Result<void> check_sound(const Sample& sample) {
  if (sample.attachments.size() == 1 && !sample.attachments[0].bytes.empty()) return {};
  return invalid(
      "sample: no sound: a column 'audio' must name a file beside the data set, or hold its bytes");
}

Json sound_body(const Generation& generation, const Sample& sample, char filler) {
  Json body = Json::object();
  if (!generation.model.empty()) body.set("model", generation.model);
  if (!sample.prompt.empty()) body.set("prompt", prompt_of(sample, filler));
  set_from_row(body, sample, "language");
  set_if(body, "temperature", generation.temperature);
  set_if(body, "seed", generation.seed);
  set_rest_of_row(body, sample);
  if (body.find("response_format") == nullptr) body.set("response_format", "json");
  if (generation.stream) body.set("stream", true);
  return body;
}

Result<void> encode_sound(const Json& body, const Sample& sample, RequestBody& out) {
  const std::string_view form = body["response_format"].as_string();
  if (form != "json" && form != "verbose_json") {
    return invalid(format("response_format: {} is not JSON; use json or verbose_json",
                          body["response_format"].dump()));
  }
  encode_form(body, sample, out);
  return {};
}

bool read_transcript_event(std::string_view text, ReplyFields& out) {
  RawString type;
  RawString delta;
  std::string_view usage;
  ReplyFields typed;
  const bool sound = read_root(text, typed, [&](JsonCursor& at, const RawString& key) {
    if (is_key(key, "type")) return at.string_or_skip(type);
    if (is_key(key, "delta")) return at.string_or_skip(delta);
    if (is_key(key, "usage")) return slice_or_skip(at, '{', usage);
    if (is_key(key, "error")) return error_value(at, typed.error);
    return at.skip();
  });
  if (!sound || !type.view().starts_with("transcript.")) return read_reply(text, out);
  out = typed;
  out.ends = type.view() == "transcript.text.done";
  out.has_choice = out.ends || type.view() == "transcript.text.delta";
  if (out.ends) out.reason = FinishReason::stop;
  if (type.view() == "transcript.text.delta") out.content = delta;
  if (!usage.empty()) {
    JsonCursor cursor(usage);
    usage_or_skip(cursor, out);
  }
  return true;
}

bool read_transcript(std::string_view text, ReplyFields& out) {
  const bool sound = read_root(text, out, [&](JsonCursor& at, const RawString& key) {
    if (is_key(key, "text")) return at.string_or_skip(out.content);
    if (is_key(key, "usage")) return usage_or_skip(at, out);
    if (is_key(key, "error")) return error_value(at, out.error);
    return at.skip();
  });
  out.has_choice = out.content.data != nullptr;
  return sound;
}

}  // namespace assay::protocol
