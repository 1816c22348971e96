#include "base/flat_map.h"

#include <gtest/gtest.h>

#include <map>

#include "base/rng.h"

namespace assay {
namespace {

TEST(FlatMap, agrees_with_std_map_through_any_mix_of_inserts_and_erases) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Rng rng(seed);
    FlatMap<int> ours(4);
    std::map<std::uint64_t, int> twin;
    const std::uint64_t keys = 1 + rng.below(300);
    for (int step = 0; step < 3000; ++step) {
      // Keys spread over phases, like queries' keys, so that homes collide.
      const std::uint64_t key = (rng.below(3) << 32) | rng.below(keys);
      if (rng.below(2) == 0) {
        ours.insert(key) = step;
        twin[key] = step;
      } else {
        ours.erase(key);
        twin.erase(key);
      }
      ASSERT_EQ(ours.size(), twin.size()) << "seed " << seed;
      const std::uint64_t asked = (rng.below(3) << 32) | rng.below(keys);
      const int* const found = ours.find(asked);
      ASSERT_EQ(found != nullptr, twin.contains(asked)) << "seed " << seed;
      if (found != nullptr) {
        ASSERT_EQ(*found, twin[asked]) << "seed " << seed;
      }
    }
    std::map<std::uint64_t, int> visited;
    ours.for_each([&](std::uint64_t key, int value) { visited[key] = value; });
    EXPECT_EQ(visited, twin) << "seed " << seed;
    ours.clear();
    EXPECT_EQ(ours.size(), 0u);
  }
}

TEST(FlatMap, a_new_value_is_made_new_after_an_erase) {
  FlatMap<int> map;
  map.insert(7) = 5;
  map.erase(7);
  EXPECT_EQ(map.insert(7), 0);
}

}  // namespace
}  // namespace assay
