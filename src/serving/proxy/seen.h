// Seen: one request and its reply as the proxy saw them pass. It holds their texts, in memory only:
// TraceRows makes a row without any of them, and the texts are freed then. Plain data; one thread
// at a time.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"

namespace assay::proxy {

struct Seen {
  Instant arrived{};  // the whole request was read
  bool post = false;
  std::string path{};
  std::string body{};
  std::uint16_t status = 0;  // 0: no head came
  bool event_stream = false;
  bool coded = false;  // gzip and the like: its text is not looked at
  bool whole = false;  // the reply came to its end
  bool cut = false;    // there was no room for all of it: no row comes of it
  Instant first_byte = Instant::none();
  Instant ended = Instant::none();
  std::string reply{};                                      // its body
  std::vector<std::pair<Instant, std::uint32_t>> pieces{};  // when its bytes came

  std::size_t memory_bytes() const { return body.size() + reply.size() + 16 * pieces.size(); }
};

inline constexpr std::size_t kTextKeptMax = std::size_t{64} << 20;  // of a body

}  // namespace assay::proxy
