// The same events, whole or cut in two at any place and fed byte by byte.
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "net/sse.h"

namespace {

std::vector<std::string> parse(std::string_view text, std::size_t step) {
  assay::net::SseParser parser;
  std::vector<std::string> events;
  const auto take = [&](std::string_view data, std::size_t) { events.emplace_back(data); };
  for (std::size_t at = 0; at < text.size(); at += step) {
    const std::string piece(text.substr(at, step));  // a read past its end is detected
    CHECK(parser.feed(piece, take));
  }
  parser.finish(take);
  return events;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto whole = parse(text, size);
  CHECK(whole == parse(text, 1));
  CHECK(whole == parse(text, 1 + static_cast<unsigned char>(text[0]) % 13U));
  return 0;
}
