// Any line of an endpoint's program: what is read of it is in range, and a call's text reads back.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "domain/tool_call.h"
#include "plug/plug_line.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay;
  const auto line =
      plug::read_plug_line(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!line) {
    CHECK(!line.error().message.empty());
    return 0;
  }
  if (line->kind == plug::PlugLine::Kind::ready) return 0;
  CHECK(line->has_fragment || line->done || line->failed || line->usage != Usage{});
  CHECK(line->usage.completion_tokens >= kNoCount && line->usage.prompt_tokens >= kNoCount);
  CHECK(!line->has_fragment || is_fragment(line->category));
  if (line->has_fragment && line->category == Category::tool_call) {
    CHECK(tool_calls_from(line->text).size() == 1);
  }
  return 0;
}
