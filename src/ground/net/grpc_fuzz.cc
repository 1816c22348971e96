// Any bytes as the body and as the status words of a gRPC reply: a message that is read is framed
// to the same bytes, and the words for a person are valid text on one line. The first byte is the
// status.
#include "net/grpc.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/display.h"
#include "base/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay::net;
  if (size < 1) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (const auto message = grpc_message_of(bytes)) {
    std::string again = grpc_framed(message->bytes);
    if (message->compressed) again[0] = 1;
    CHECK(again == bytes);
  }
  const auto framed = grpc_framed(bytes);
  const auto back = grpc_message_of(framed);
  CHECK(back && !back->compressed && back->bytes == bytes);
  const auto status = static_cast<std::int32_t>(data[0]) - 1;
  const std::string words = grpc_words(status, bytes);
  CHECK(words.starts_with("gRPC ") && assay::valid_utf8(words));
  CHECK(words.find('\n') == std::string::npos && words.find('\x1b') == std::string::npos);
  // What is encoded comes back, and is of the bytes that a trailer may have.
  const std::string encoded = grpc_encoded(bytes);
  for (const char c : encoded) CHECK(c >= ' ' && c <= '~');
  const std::string shown = assay::printable(bytes);
  CHECK(grpc_words(0, encoded) == "gRPC OK (0)" + (shown.empty() ? "" : ": " + shown));
  return 0;
}
