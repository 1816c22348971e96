// The text of the endpoint's tokens: common words, some with characters that JSON escapes or that
// take several bytes, to exercise a client's reader. Token k of a reply depends only on the reply's
// seed and k: a reply has the same text with and without streaming. Pure; any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace assay::endpoint {

struct Word {
  std::string_view json{};  // as in a JSON string
  std::string_view text{};  // UTF-8
};

enum class Vocabulary : std::uint8_t {
  common,
  wide,       // each word has a multi-byte character
  unguarded,  // the canary word alone
};

inline constexpr std::uint32_t kWords = 256;
const Word& word(Vocabulary vocabulary, std::uint32_t index);
// The index of the word for token `k` of a reply.
inline std::uint32_t word_index(std::uint64_t seed, std::uint32_t k) {
  std::uint64_t z = seed + (std::uint64_t{k} + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  return static_cast<std::uint32_t>(z >> 56);
}
// The first token id of /generate and /tokenize.
inline constexpr std::uint32_t kFirstTokenId = 1000;

}  // namespace assay::endpoint
