// The same response, whole or byte by byte, and never a crash.
#include <cstdint>
#include <string>

#include "base/check.h"
#include "net/http1_response.h"

namespace {

using assay::net::ResponseParser;

std::string parse(std::string_view text, std::size_t step) {
  ResponseParser parser;
  std::string seen;
  std::size_t at = 0;
  while (at < text.size() && (parser.state() == ResponseParser::State::head ||
                              parser.state() == ResponseParser::State::body)) {
    const std::string piece(text.substr(at, step));
    std::string_view bytes = piece;
    parser.feed(
        bytes, [&](const assay::net::ResponseHead& head) { seen += std::to_string(head.status); },
        [&](std::string_view part) { seen += part; });
    at += piece.size() - bytes.size();
  }
  parser.end_of_input();
  return seen + "|" + std::string(parser.error());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data), size);
  CHECK(parse(text, size) == parse(text, 1));
  return 0;
}
