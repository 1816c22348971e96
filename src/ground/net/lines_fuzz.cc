// Random bytes as a body of lines; the first chooses the cuts. The lines are those of the whole
// body, each has no line end, and together with the line ends they are the body.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "net/lines.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t step = 1 + data[0] % 16;
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto lines = [&](std::size_t piece_bytes) {
    assay::net::LineParser parser;
    std::vector<std::string> out;
    const auto on_line = [&](std::string_view line, std::size_t) { out.emplace_back(line); };
    for (std::size_t at = 0; at < body.size(); at += piece_bytes) {
      // Own memory, so that the sanitizer sees a read beyond the piece.
      const std::string piece(body.substr(at, piece_bytes));
      CHECK(parser.feed(piece, on_line));
    }
    parser.finish(on_line);
    return out;
  };
  const std::vector<std::string> whole = lines(std::max<std::size_t>(1, body.size()));
  CHECK(lines(step) == whole);
  std::size_t bytes = 0;
  for (const std::string& line : whole) {
    CHECK(!line.empty() && line.find('\n') == std::string::npos);
    bytes += line.size();
  }
  CHECK(bytes <= body.size());
  return 0;
}
