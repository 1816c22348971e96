#include "text/word_cache.h"

#include <gtest/gtest.h>

#include <map>

#include "base/rng.h"

namespace assay::text {
namespace {

std::vector<TokenId> found(const WordCache& cache, const std::string& word, bool padded) {
  const std::string text = word + std::string(32, 'x');
  const auto key = WordCache::key(std::string_view(text).substr(0, word.size()),
                                  padded ? text.size() : word.size());
  std::array<TokenId, WordCache::kIdsMax> ids{};
  const std::size_t count = cache.find(key, word.size(), ids.data());
  return {ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count)};
}

// The slow twin knows every word; the cache may have forgotten one, and never has another's ids.
TEST(WordCache, returns_what_was_kept_or_nothing) {
  WordCache cache;
  std::map<std::string, std::vector<TokenId>> known;
  Rng rng(3);
  std::size_t hits = 0;
  for (int i = 0; i < 40'000; ++i) {
    std::string word;
    const std::uint64_t length = rng.below(WordCache::kBytesMax) + 1;
    for (std::uint64_t n = 0; n < length; ++n)
      word += static_cast<char>(rng.below(n < 2 ? 256 : 2));
    const auto at = known.find(word);
    for (const bool padded : {false, true}) {
      const std::vector<TokenId> ids = found(cache, word, padded);
      if (ids.empty()) continue;
      ASSERT_NE(at, known.end()) << "a word that was never kept";
      ASSERT_EQ(ids, at->second);
      ++hits;
    }
    if (at != known.end()) continue;
    std::vector<TokenId> ids(static_cast<std::size_t>(rng.below(12)));
    for (TokenId& id : ids) id = static_cast<TokenId>(rng.below(1 << 24));
    cache.keep(WordCache::key(word, word.size()), word.size(), ids);
    const bool fits = !ids.empty() && ids.size() <= WordCache::kIdsMax;
    ASSERT_EQ(found(cache, word, true), fits ? ids : std::vector<TokenId>{}) << word.size();
    known[word] = ids;
  }
  EXPECT_GT(hits, 1000u);
}

TEST(WordCache, tells_words_apart_that_differ_in_zeros_at_their_end) {
  WordCache cache;
  const std::string one("a\0", 2);
  const std::vector<TokenId> ids = {7};
  cache.keep(WordCache::key(one, one.size()), one.size(), ids);
  EXPECT_TRUE(found(cache, "a", true).empty());
  EXPECT_EQ(found(cache, one, true), ids);
}

}  // namespace
}  // namespace assay::text
