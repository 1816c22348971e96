// The reference client's videogen: trtllm-serve's POST /v1/videos/generations, one blocking call a
// video. A row gives the prompt, and may give any of the other fields, whose defaults are the
// reference client's; no model is named. By default the server keeps the video and the reply has
// its path, which is the reply's text, so a query ends when the video is made.
//
// A reply has exactly video_id and one of video_path and video_bytes (base64, not decoded here); a
// body that is an MP4 itself is a video too.
#include "protocol/kind/kind.h"
#include "protocol/kind/request_parts.h"
#include "protocol/kind/typed_reader.h"

namespace assay::protocol {
namespace {

// A row's own value, or the reference client's default.
void set_video_field(Json& body, const Sample& sample, std::string_view key,
                     const Json& otherwise) {
  const Json& own = sample.body[key];
  body.set(key, own.is_null() ? otherwise : own);
}

bool is_mp4(std::string_view text) { return text.size() >= 8 && text.substr(4, 4) == "ftyp"; }

}  // namespace

Json videos_body(const Generation&, const Sample& sample, char filler) {
  Json body = Json::object();
  body.set("prompt", prompt_of(sample, filler));
  set_from_row(body, sample, "negative_prompt");
  set_video_field(body, sample, "size", "720x1280");
  set_video_field(body, sample, "seconds", 5.0);
  set_video_field(body, sample, "fps", 16);
  set_video_field(body, sample, "num_inference_steps", 20);
  set_video_field(body, sample, "guidance_scale", 4.0);
  set_video_field(body, sample, "guidance_scale_2", 3.0);
  set_video_field(body, sample, "seed", 42);
  set_video_field(body, sample, "num_frames", 81);
  set_video_field(body, sample, "boundary_ratio", 0.875);
  set_from_row(body, sample, "latent_path");
  set_video_field(body, sample, "output_format", "auto");
  set_video_field(body, sample, "response_format", "video_path");
  set_rest_of_row(body, sample);
  return body;
}

bool read_video(std::string_view text, ReplyFields& out) {
  if (is_mp4(text)) {
    out.units = 1;
    out.has_choice = true;
    return true;
  }
  bool id = false;
  bool bytes = false;
  bool others = false;
  const bool sound = read_root(text, out, [&](JsonCursor& at, const RawString& key) {
    if (is_key(key, "error")) return error_value(at, out.error);
    RawString value;
    if (is_key(key, "video_id")) {
      const bool read = at.string_or_skip(value);
      id = value.data != nullptr;
      return read;
    }
    if (is_key(key, "video_path")) return at.string_or_skip(out.content);
    if (is_key(key, "video_bytes")) {
      const bool read = at.string_or_skip(value);
      bytes = !value.empty();
      return read;
    }
    others = true;
    return at.skip();
  });
  out.has_choice = id && !others && (bytes != !out.content.empty());
  out.units = out.has_choice ? 1 : 0;
  return sound;
}

}  // namespace assay::protocol
