#include "endpoint/sound_ask.h"

#include <algorithm>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "endpoint/form.h"

namespace assay::endpoint {
namespace {

constexpr std::size_t kSoundBytesAToken = 640;

ApiError bad_part(std::string_view param, std::string_view why, int status = 400) {
  return {.status = status, .message = format("{}: {}", param, why), .param = std::string(param)};
}

}  // namespace

std::variant<std::monostate, ApiError> read_sound_ask(Route route, std::string_view body,
                                                      Ask& ask) {
  ask.route = route;
  std::vector<FormPart> parts;
  if (!read_form(body, ask.boundary, parts)) {
    return ApiError{.status = 422, .message = "The body is not a form (multipart/form-data)."};
  }
  bool file = false;
  for (const FormPart& part : parts) {
    if (part.name == "file") {
      // As vLLM: a part without a file's name is a text.
      if (!part.is_file) return bad_part("file", "must be a file, with a name", 422);
      if (part.value.empty()) return bad_part("file", "is empty");
      file = true;
      ask.asked = part.file;  // an answer book knows a sound by its file's name
      ask.prompt_tokens = static_cast<std::uint32_t>(
          std::max<std::size_t>(1, part.value.size() / kSoundBytesAToken));
    } else if (part.name == "model") {
      ask.model = part.value;
    } else if (part.name == "stream") {
      if (part.value != "true" && part.value != "false") {
        return bad_part("stream", "must be true or false", 422);
      }
      ask.stream = part.value == "true";
    } else if (part.name == "response_format") {
      if (part.value != "json" && part.value != "verbose_json") {
        return bad_part("response_format", "this endpoint answers json and verbose_json");
      }
    } else if (part.name == "seed") {
      const auto seed = parse_int(part.value);
      if (!seed) return bad_part("seed", "must be an integer", 422);
      ask.seed = static_cast<std::uint64_t>(*seed);
      ask.has_seed = true;
    }
  }
  if (!file) return bad_part("file", "is required", 422);
  return std::monostate{};
}

}  // namespace assay::endpoint
