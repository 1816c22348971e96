// Any bytes, cut anywhere: no crash, and the same requests as in one piece.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "net/http1_request.h"

namespace {

using assay::net::ReadStatus;
using assay::net::RequestHead;
using assay::net::RequestReader;

std::string story_of(std::string_view bytes, std::size_t step_bytes) {
  std::string story;
  RequestReader reader;
  RequestHead head;
  const assay::net::RequestLimits limits{.head_bytes_max = 512, .body_bytes_max = 256};
  for (std::size_t from = 0; from < bytes.size(); from += step_bytes) {
    const std::string piece(bytes.substr(from, step_bytes));
    std::string_view left = piece;
    while (!left.empty()) {
      const RequestReader::Step step = reader.feed(left, limits, head);
      if (step.status == ReadStatus::bad) {
        return story + "bad " + std::to_string(static_cast<int>(step.error));
      }
      left.remove_prefix(step.used);
      if (step.status == ReadStatus::need_more) continue;
      story.append(head.method).append(" ").append(head.target).append(" ");
      for (const auto& header : head.headers) {
        story.append(header.name).append("=").append(header.value).append(" ");
      }
      story.append(head.keep_alive ? "keep " : "close ").append(step.body).append("\n");
      reader.reset();
    }
  }
  return story;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::size_t step_bytes = 1 + data[0] % 64;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (story_of(bytes, bytes.size() + 1) != story_of(bytes, step_bytes)) std::abort();
  return 0;
}
