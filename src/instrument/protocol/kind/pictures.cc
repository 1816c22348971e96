// OpenAI's images: pictures from a text, or from a text and pictures (edits, as a form), in one
// reply. The pictures come as base64 unless the row
// or extra_body asks for addresses (`response_format`); they are counted and not decoded. A row's
// `n` asks for several.
#include "protocol/kind/kind.h"
#include "protocol/kind/request_parts.h"

namespace assay::protocol {

Result<void> check_picture(const Sample& sample) {
  if (!sample.prompt.empty()) return {};
  return invalid("sample: no prompt; map a column to 'prompt'");
}

Result<void> check_picture_edit(const Sample& sample) {
  for (const Attachment& file : sample.attachments) {
    if (file.name.starts_with("image")) return check_picture(sample);
  }
  return invalid(
      "sample: no picture; a column 'image' must name a file beside the data set, or hold its "
      "bytes");
}

Json pictures_body(const Generation& generation, const Sample& sample, char filler) {
  Json body = Json::object();
  if (!generation.model.empty()) body.set("model", generation.model);
  body.set("prompt", prompt_of(sample, filler));
  set_from_row(body, sample, "n");
  set_from_row(body, sample, "size");
  set_from_row(body, sample, "response_format");
  if (body.find("response_format") == nullptr) body.set("response_format", "b64_json");
  set_if(body, "seed", generation.seed);
  set_rest_of_row(body, sample);
  return body;
}

std::uint16_t units_of_pictures(const Json& body) {
  // check_body() in request.cc has refused any other number.
  return static_cast<std::uint16_t>(body["n"].as_int(1));
}

}  // namespace assay::protocol
