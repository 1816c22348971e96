// Random bytes as a request's body; the first chooses the API. The reader accepts it within its
// limits, or refuses it with valid JSON.
#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/json.h"
#include "endpoint/ask.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay::endpoint;
  if (size == 0) return 0;
  static const auto described = assay::parse_described_kind(
      *assay::Json::parse(R"({"kind":"tell","route":"/tell","reply":{"text":"say"},"request":{)"
                          R"("words":"{prompt}","all":["{messages}"],"live":"{stream}",)"
                          R"("how":{"most":"{output_tokens_max}","seed":"so {seed}"}}})"));
  CHECK(described);
  static AskReader reader(false, &*described);
  // Own memory, so that the sanitizer sees a read past the padding.
  std::string body(reinterpret_cast<const char*>(data) + 1, size - 1);
  body.resize(size - 1 + kAskPadding);
  Ask ask;
  ask.boundary = "b";
  ask.json_bytes = size % 7 == 0 ? size / 2 : 0;  // the rest is bytes of tensors
  const auto read = reader.read(static_cast<Route>(data[0] % kRoutes),
                                std::string_view(body).substr(0, size - 1), ask);
  if (const auto* const error = std::get_if<ApiError>(&read)) {
    CHECK(error->status >= 400 && error->status < 500 && !error->message.empty());
    const auto said = assay::Json::parse(error_body(*error));
    CHECK(said && (*said)["error"]["message"].is_string());
    return 0;
  }
  CHECK(ask.choices >= 1 && ask.choices <= kChoicesMax);
  CHECK(ask.tokens_min >= 0 && ask.tokens_max >= -1);
  CHECK(ask.tool_arguments.empty() || assay::Json::parse(ask.tool_arguments));
  return 0;
}
