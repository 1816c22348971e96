// What the endpoint's tokens say: common words, some with characters that JSON escapes or that take
// several bytes, so that a client's reader is exercised. Token k of a reply depends on the reply's
// seed and k alone: a streamed reply and a plain one say the same. Pure; any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace assay::endpoint {

struct Word {
  std::string_view json{};  // as it stands in a JSON string
  std::string_view text{};  // UTF-8
};

enum class Vocabulary : std::uint8_t {
  common,
  wide,  // each word has a character of several bytes
};

inline constexpr std::uint32_t kWords = 256;
const Word& word(Vocabulary vocabulary, std::uint32_t index);
// Which word token `k` of a reply is.
inline std::uint32_t word_index(std::uint64_t seed, std::uint32_t k) {
  std::uint64_t z = seed + (std::uint64_t{k} + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  return static_cast<std::uint32_t>(z >> 56);
}
// The token ids that /generate and /tokenize speak of begin here.
inline constexpr std::uint32_t kFirstTokenId = 1000;

}  // namespace assay::endpoint
