// Any bytes as a packed file: however they are cut, they give the same plain bytes or an error.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "dataset/chunks.h"

namespace {

// Stops a small file that unpacks to a great one.
constexpr std::size_t kEnough = 1 << 20;
// More than a piece has. An error hides what its piece had before it, and how many bytes that is
// hangs on the cuts.
constexpr std::size_t kPiece = 1 << 19;

enum class End { whole, broken, enough };

struct Plain {
  std::string bytes{};
  End end = End::whole;
};

Plain unpacked(std::string_view packed, std::size_t step) {
  auto chunks = assay::dataset::Chunks::of(packed, step);
  Plain plain;
  while (plain.bytes.size() < kEnough) {
    const auto piece = chunks.next();
    if (!piece) {
      CHECK(piece.error().message.starts_with("1: "));
      plain.end = End::broken;
      return plain;
    }
    if (piece->empty()) return plain;
    plain.bytes += *piece;
  }
  plain.end = End::enough;
  return plain;
}

// Whether two cuts of one file agree: the same end, unless one met the error after the bytes at
// which the other had enough, and the same bytes as far as both go.
bool agree(const Plain& a, const Plain& b) {
  const std::size_t both = std::min(a.bytes.size(), b.bytes.size());
  if (a.bytes.compare(0, both, b.bytes, 0, both) != 0) return false;
  if (a.end == b.end) return a.end != End::whole || a.bytes.size() == b.bytes.size();
  const Plain& less = a.end == End::enough ? b : a;
  return (a.end == End::enough || b.end == End::enough) && less.bytes.size() + kPiece >= kEnough;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view magic =
      data[0] % 2 == 0 ? std::string_view("\x1f\x8b\x08") : std::string_view("\x28\xb5\x2f\xfd");
  std::string packed(magic);
  packed.append(reinterpret_cast<const char*>(data + 2), size - 2);
  CHECK(agree(unpacked(packed, packed.size()), unpacked(packed, 1 + data[1] % 61U)));
  return 0;
}
