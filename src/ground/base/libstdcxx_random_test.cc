#include "base/libstdcxx_random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace assay {
namespace {

// Seeds and values of LoadGen 6.0.17 built with libstdc++ 12.
constexpr std::uint64_t kQslSeed = 2085463073848966840;
constexpr std::uint64_t kScheduleSeed = 16159082839903944936U;

TEST(LibstdcxxRandom, a_seed_of_64_bits_is_cut_to_32) {
  LibstdcxxRandom random(kScheduleSeed);
  LibstdcxxRandom low(std::uint64_t{2023080168});
  for (const std::uint32_t bits :
       {3245365415U, 3615339558U, 1380029910U, 1577989244U, 921976217U}) {
    EXPECT_EQ(random.bits(), bits);
    EXPECT_EQ(low.bits(), bits);
  }
}

TEST(LibstdcxxRandom, the_standards_ten_thousandth_draw) {
  LibstdcxxRandom random;
  for (int i = 1; i < 10'000; ++i) random.bits();
  EXPECT_EQ(random.bits(), 4'123'659'995U);  // ISO C++, [rand.predef]
}

TEST(LibstdcxxRandom, exponential_gaps_are_loadgens) {
  LibstdcxxRandom random(kScheduleSeed);
  for (const std::int64_t ns : {1843654016, 457923688, 1285862316, 712994723, 386406625}) {
    EXPECT_EQ(static_cast<std::int64_t>(random.exponential(1) * 1e9), ns);
  }
  EXPECT_EQ(static_cast<std::int64_t>(random.exponential(1) * 1e9), 2'248'341'693);
}

std::vector<std::uint64_t> shuffled(std::size_t count) {
  std::vector<std::uint64_t> items(count);
  std::iota(items.begin(), items.end(), std::uint64_t{0});
  LibstdcxxRandom(kQslSeed).shuffle(std::span(items));
  return items;
}

TEST(LibstdcxxRandom, shuffles_as_loadgen_does) {
  const std::vector<std::uint64_t> first{216, 267, 822, 906, 663, 580,
                                         710, 908, 410, 882, 910, 801};
  const auto items = shuffled(1024);
  EXPECT_EQ(std::vector(items.begin(), items.begin() + 12), first);
}

TEST(LibstdcxxRandom, a_shuffle_keeps_every_item) {
  // Odd and even, on both sides of the size from which on a draw gives one place.
  for (const std::size_t count : {0U, 1U, 2U, 3U, 65'534U, 65'535U, 65'536U, 70'001U}) {
    auto items = shuffled(count);
    std::vector<bool> seen(count);
    for (const std::uint64_t item : items) seen.at(item) = true;
    EXPECT_EQ(std::count(seen.begin(), seen.end(), true), static_cast<std::ptrdiff_t>(count));
  }
}

}  // namespace
}  // namespace assay
