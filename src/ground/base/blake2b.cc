#include "base/blake2b.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "base/check.h"
#include "base/format.h"

namespace assay {
namespace {

constexpr std::size_t kBlock = 128;
using Words = std::array<std::uint64_t, 8>;

constexpr Words kInitial = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                            0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                            0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

constexpr std::array<std::array<std::uint8_t, 16>, 10> kSigma = {{
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
}};

// The words that each of a round's eight mixes works on: columns, then diagonals.
constexpr std::array<std::array<std::uint8_t, 4>, 8> kMix = {{{0, 4, 8, 12},
                                                              {1, 5, 9, 13},
                                                              {2, 6, 10, 14},
                                                              {3, 7, 11, 15},
                                                              {0, 5, 10, 15},
                                                              {1, 6, 11, 12},
                                                              {2, 7, 8, 13},
                                                              {3, 4, 9, 14}}};

// `block` holds kBlock bytes; `total` counts the bytes so far, with this block.
void compress(Words& state, const char* block, std::uint64_t total, bool last) {
  std::array<std::uint64_t, 16> message{};
  static_assert(std::endian::native == std::endian::little);
  std::memcpy(message.data(), block, kBlock);
  std::array<std::uint64_t, 16> v{};
  std::ranges::copy(state, v.begin());
  std::ranges::copy(kInitial, v.begin() + 8);
  v[12] ^= total;
  if (last) v[14] = ~v[14];
  for (std::size_t round = 0; round < 12; ++round) {
    const auto& sigma = kSigma[round % kSigma.size()];
    for (std::size_t i = 0; i < kMix.size(); ++i) {
      const auto& [a, b, c, d] = kMix[i];
      v[a] += v[b] + message[sigma[2 * i]];
      v[d] = std::rotr(v[d] ^ v[a], 32);
      v[c] += v[d];
      v[b] = std::rotr(v[b] ^ v[c], 24);
      v[a] += v[b] + message[sigma[2 * i + 1]];
      v[d] = std::rotr(v[d] ^ v[a], 16);
      v[c] += v[d];
      v[b] = std::rotr(v[b] ^ v[c], 63);
    }
  }
  for (std::size_t i = 0; i < state.size(); ++i) state[i] ^= v[i] ^ v[i + 8];
}

}  // namespace

std::string blake2b_hex(std::string_view bytes, std::size_t digest_bytes) {
  CHECK(digest_bytes >= 1 && digest_bytes <= 64);
  Words state = kInitial;
  state[0] ^= 0x01010000 ^ digest_bytes;
  std::uint64_t total = 0;
  while (bytes.size() > kBlock) {
    total += kBlock;
    compress(state, bytes.data(), total, false);
    bytes.remove_prefix(kBlock);
  }
  std::array<char, kBlock> last{};
  std::ranges::copy(bytes, last.begin());
  compress(state, last.data(), total + bytes.size(), true);
  std::string out;
  for (std::size_t i = 0; i < digest_bytes; ++i) {
    out += format("{:02x}", state[i / 8] >> (8 * (i % 8)) & 0xff);
  }
  return out;
}

}  // namespace assay
