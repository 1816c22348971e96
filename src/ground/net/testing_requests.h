// For tests: the requests in a connection's bytes, as text. One thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "net/http1_request.h"

namespace assay::net {

// The requests of a connection that sent `bytes`, one line each, and how it ended.
inline std::string read_all(std::string_view bytes, const std::vector<std::size_t>& cuts,
                            const RequestLimits& limits = {}) {
  std::string story;
  RequestReader reader;
  RequestHead head;
  std::size_t from = 0;
  for (std::size_t i = 0; i <= cuts.size(); ++i) {
    const std::size_t to = i < cuts.size() ? std::min(cuts[i], bytes.size()) : bytes.size();
    // Use a fresh buffer for each piece, so that the sanitizer catches a view into an older one.
    const std::string piece(bytes.substr(from, to - from));
    from = to;
    std::string_view left = piece;
    while (!left.empty()) {
      const RequestReader::Step step = reader.feed(left, limits, head);
      if (step.status == ReadStatus::bad) {
        return story + format("bad {}", static_cast<int>(step.error));
      }
      left.remove_prefix(step.used);
      if (step.status == ReadStatus::need_more) continue;
      story += format("{} {} 1.{}", head.method, head.target, head.minor_version);
      for (const HttpHeader& header : head.headers) {
        story += format(" {}={}", header.name, header.value);
      }
      story += format(" keep={} body={}\n", head.keep_alive, step.body);
      reader.reset();
    }
  }
  return story + (reader.idle() ? "end" : "cut");
}

inline std::string read_whole(std::string_view bytes) { return read_all(bytes, {}); }

}  // namespace assay::net
