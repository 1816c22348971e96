// Any bytes, cut anywhere: no crash, and what the slow twin finds, on both sides; and the answer to
// a client's handshake. The first byte chooses the side and the cuts.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "net/testing_websocket.h"
#include "net/websocket_handshake.h"

namespace {

using assay::net::ClientHandshake;
using assay::net::WebSocketSide;

std::string answer_in_steps(std::string_view bytes, std::size_t step) {
  ClientHandshake handshake("dGhlIHNhbXBsZSBub25jZQ==");
  std::string rest;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    std::string_view piece = bytes.substr(at, step);
    handshake.feed(piece);
    rest += piece;
  }
  return assay::format("{} {} {} {}", static_cast<int>(handshake.state()), handshake.status(),
                       handshake.error(), rest);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::size_t step = 1 + (data[0] >> 1) % 32;
  const WebSocketSide side = data[0] % 2 == 0 ? WebSocketSide::client : WebSocketSide::server;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  constexpr std::size_t kMessageMax = 512;
  const std::string twin = assay::net::read_by_twin(side, bytes, kMessageMax);
  CHECK(assay::net::read_in_steps(side, bytes, step, kMessageMax) == twin);
  CHECK(assay::net::read_in_steps(side, bytes, bytes.size() + 1, kMessageMax) == twin);
  CHECK(answer_in_steps(bytes, step) == answer_in_steps(bytes, std::max<std::size_t>(size, 1)));
  return 0;
}
