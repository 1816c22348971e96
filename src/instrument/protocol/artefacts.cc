#include "protocol/artefacts.h"

#include <utility>

#include "base/base64.h"
#include "base/json.h"

namespace assay::protocol {
namespace {

struct FileType {
  std::string_view type{};
  std::string_view ending{};
};

// By the first bytes; what they do not show is by the kind.
FileType type_of_bytes(std::string_view bytes, FileType otherwise) {
  if (bytes.starts_with("\x89PNG")) return {"image/png", "png"};
  if (bytes.starts_with("\xFF\xD8\xFF")) return {"image/jpeg", "jpg"};
  if (bytes.starts_with("RIFF") && bytes.size() >= 12) {
    const std::string_view form = bytes.substr(8, 4);
    if (form == "WEBP") return {"image/webp", "webp"};
    if (form == "WAVE") return {"audio/wav", "wav"};
    return {"video/x-msvideo", "avi"};
  }
  if (bytes.size() >= 8 && bytes.substr(4, 4) == "ftyp") return {"video/mp4", "mp4"};
  if (bytes.starts_with("fLaC")) return {"audio/flac", "flac"};
  if (bytes.starts_with("OggS")) return {"audio/ogg", "ogg"};
  if (bytes.starts_with("ID3")) return {"audio/mpeg", "mp3"};
  return otherwise;
}

FileType type_of_kind(Api api) {
  const bool sound = api == Api::openai_speech || api == Api::realtime;
  return sound ? FileType{"audio/pcm", "pcm"} : FileType{"application/octet-stream", "bin"};
}

void add_artefact(Api api, std::string bytes, std::vector<Artefact>& out) {
  if (bytes.empty()) return;
  const FileType type = type_of_bytes(bytes, type_of_kind(api));
  out.push_back({.bytes = std::move(bytes), .type = type.type, .ending = type.ending});
}

Result<void> add_base64(Api api, const Json& text, std::vector<Artefact>& out) {
  ASSIGN_OR_RETURN(std::string bytes, decode_base64(text.as_string()));
  add_artefact(api, std::move(bytes), out);
  return {};
}

}  // namespace

bool has_artefacts(Api api) {
  return api == Api::openai_images || api == Api::openai_image_edits || api == Api::videogen ||
         api == Api::openai_videos || api == Api::openai_speech || api == Api::realtime;
}

Result<std::vector<Artefact>> artefacts_of(Api api, std::string_view body) {
  std::vector<Artefact> out;
  const bool pictures = api == Api::openai_images || api == Api::openai_image_edits;
  const bool may_be_json = pictures || api == Api::videogen || api == Api::openai_videos;
  if (!may_be_json || !body.starts_with('{')) {
    if (has_artefacts(api)) add_artefact(api, std::string(body), out);
    return out;
  }
  ASSIGN_OR_RETURN(const Json json, Json::parse(body));
  TRY(add_base64(api, json["video_bytes"], out));
  for (const Json& one : json["data"].items()) TRY(add_base64(api, one["b64_json"], out));
  return out;
}

}  // namespace assay::protocol
