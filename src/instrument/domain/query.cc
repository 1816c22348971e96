#include "domain/query.h"

#include <array>
#include <cstring>
#include <string_view>

namespace assay {
namespace {

// splitmix64's finaliser: a bijection, so two queries of a run never share both halves.
std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

using Digits = std::array<char, 2>;
constexpr std::array<Digits, 256> kDigits = [] {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::array<Digits, 256> out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = {kHex[i >> 4], kHex[i & 15]};
  return out;
}();

void put_hex(std::uint64_t value, char* out) {
  for (std::size_t i = 0; i < 8; ++i) {
    std::memcpy(out + 2 * i, kDigits[(value >> (56 - 8 * i)) & 255].data(), 2);
  }
}

}  // namespace

QueryUuid query_uuid(std::uint64_t run_key, std::uint16_t phase, std::uint32_t index) {
  const std::uint64_t place = (std::uint64_t{phase} << 32) | index;
  QueryUuid uuid{};
  put_hex(mix(run_key + 0x9e3779b97f4a7c15), uuid.data());
  put_hex(mix(run_key ^ mix(place + 1)), uuid.data() + 16);
  return uuid;
}

}  // namespace assay
