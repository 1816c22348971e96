// Any bytes as a packed file: however they are cut, they give the same plain bytes or an error.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "base/check.h"
#include "dataset/chunks.h"

namespace {

// The plain bytes, up to a limit that stops a small file which unpacks to a great one; nullopt: an
// error.
std::optional<std::string> unpacked(std::string_view packed, std::size_t step) {
  constexpr std::size_t kEnough = 1 << 20;
  auto chunks = assay::dataset::Chunks::of(packed, step);
  std::string out;
  while (out.size() < kEnough) {
    const auto piece = chunks.next();
    if (!piece) {
      CHECK(piece.error().message.starts_with("1: "));
      return std::nullopt;
    }
    if (piece->empty()) return out;
    out += *piece;
  }
  out.resize(kEnough);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view magic =
      data[0] % 2 == 0 ? std::string_view("\x1f\x8b\x08") : std::string_view("\x28\xb5\x2f\xfd");
  std::string packed(magic);
  packed.append(reinterpret_cast<const char*>(data + 2), size - 2);
  const auto whole = unpacked(packed, packed.size());
  const auto cut = unpacked(packed, 1 + data[1] % 61U);
  CHECK(whole == cut);
  return 0;
}
