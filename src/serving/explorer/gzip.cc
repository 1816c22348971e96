#include "explorer/gzip.h"

#include <zlib.h>

#include <algorithm>

#include "base/check.h"
#include "base/text.h"

namespace assay::explorer {

bool accepts_gzip(std::string_view accept_encoding) {
  for (const std::string_view one : split(accept_encoding, ',')) {
    const auto parts = split(one, ';');
    if (parts.empty()) continue;
    const std::string name = lower(trim(parts.front()));
    if (name != "gzip" && name != "*") continue;
    // Zero is "0", "0.", "0.0" and so on.
    return std::none_of(parts.begin() + 1, parts.end(), [](std::string_view parameter) {
      const std::string text = lower(trim(parameter));
      return text.starts_with("q=0") && text.find_first_not_of("0.", 2) == std::string::npos;
    });
  }
  return false;
}

std::string gzip(std::string_view body) {
  z_stream stream{};
  constexpr int kGzipWindow = 15 + 16;  // 16 selects gzip framing in zlib.
  constexpr int kMemoryLevel = 8;
  CHECK(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzipWindow, kMemoryLevel,
                     Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, body.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
  stream.avail_in = static_cast<uInt>(body.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int ended = deflate(&stream, Z_FINISH);
  CHECK(ended == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace assay::explorer
