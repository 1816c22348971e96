#include "rulebook/regions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

namespace assay::rulebook {
namespace {

struct Vector {
  std::int64_t c_max = 0;
  std::int64_t c_min = 0;
  std::int64_t low_end = 0;
  std::int64_t med_end = 0;
  std::int64_t margin_end = 0;
};

// The rules' table, and the vectors computed from the algorithm beside it.
const std::vector<Vector> kVectors{
    {64, 2, 6, 18, 71},        {128, 2, 7, 27, 141},      {256, 1, 7, 41, 282},
    {256, 2, 8, 42, 282},      {256, 8, 14, 47, 282},     {512, 8, 16, 71, 564},
    {1024, 8, 18, 109, 1127},  {512, 16, 24, 79, 564},    {1024, 16, 26, 117, 1127},
    {2048, 16, 29, 176, 2253}, {1024, 32, 42, 131, 1127}, {2048, 32, 45, 192, 2253},
    {4096, 32, 48, 287, 4506}, {8192, 32, 52, 437, 9012}, {16384, 32, 57, 676, 18023},
    {1024, 1, 11, 103, 1127},  {4388, 1, 17, 269, 4827},  {100, 1, 6, 22, 111},
    {200, 4, 10, 38, 221},
};

TEST(Regions, reproduces_every_vector_of_the_rules) {
  for (const Vector& v : kVectors) {
    const auto regions = Regions::make(v.c_max, v.c_min);
    ASSERT_TRUE(regions);
    SCOPED_TRACE(regions->to_json().dump());
    EXPECT_EQ((*regions)[Region::low_latency], (Band{1, v.c_min}));
    EXPECT_EQ((*regions)[Region::low_concurrency], (Band{v.c_min + 1, v.low_end}));
    EXPECT_EQ((*regions)[Region::med_concurrency], (Band{v.low_end + 1, v.med_end}));
    EXPECT_EQ((*regions)[Region::high_concurrency], (Band{v.med_end + 1, v.c_max}));
    EXPECT_EQ((*regions)[Region::margin], (Band{v.c_max + 1, v.margin_end}));
  }
}

TEST(Regions, the_margin_is_the_double_product_rounded_up) {
  int differ = 0;
  for (std::int64_t c_max = 33; c_max <= 19999; ++c_max) {
    const auto regions = Regions::make(c_max, 1);
    ASSERT_TRUE(regions);
    const std::int64_t exact = (11 * c_max + 9) / 10;
    const std::int64_t end = (*regions)[Region::margin].last;
    EXPECT_TRUE(end == exact || end == exact + 1);
    if (end != exact) ++differ;
  }
  EXPECT_EQ(differ, 925);
  EXPECT_EQ((*Regions::make(50, 1))[Region::margin].last, 56);
  EXPECT_EQ((*Regions::make(90, 1))[Region::margin].last, 100);
}

TEST(Regions, a_half_rounds_to_the_even_integer) {
  // The C library's default rounding is half to even.
  for (std::int64_t c_min = 1; c_min <= 32; ++c_min) {
    for (std::int64_t c_max = 33; c_max <= 3000; c_max += 7) {
      const double width = std::log2(static_cast<double>(c_max - c_min)) / 3;
      const auto low = static_cast<double>(c_min);
      const auto regions = Regions::make(c_max, c_min);
      ASSERT_TRUE(regions);
      EXPECT_EQ(static_cast<double>((*regions)[Region::low_concurrency].last),
                std::nearbyint(low + std::pow(2.0, width)));
      EXPECT_EQ(static_cast<double>((*regions)[Region::med_concurrency].last),
                std::nearbyint(low + std::pow(2.0, 2 * width)));
    }
  }
}

TEST(Regions, every_concurrency_up_to_the_margin_is_in_one) {
  const auto regions = Regions::make(1024, 8);
  ASSERT_TRUE(regions);
  EXPECT_EQ(regions->region_of(0), std::nullopt);
  EXPECT_EQ(regions->region_of(8), Region::low_latency);
  EXPECT_EQ(regions->region_of(9), Region::low_concurrency);
  EXPECT_EQ(regions->region_of(19), Region::med_concurrency);
  EXPECT_EQ(regions->region_of(1024), Region::high_concurrency);
  EXPECT_EQ(regions->region_of(1127), Region::margin);
  EXPECT_EQ(regions->region_of(1128), std::nullopt);
}

TEST(Regions, tiny_ranges_may_leave_a_region_empty) {
  const auto regions = Regions::make(33, 32);
  ASSERT_TRUE(regions);
  EXPECT_EQ((*regions)[Region::low_concurrency], (Band{33, 33}));
  EXPECT_TRUE((*regions)[Region::med_concurrency].empty());
  EXPECT_TRUE((*regions)[Region::high_concurrency].empty());
}

TEST(Regions, what_is_out_of_bounds_is_refused) {
  for (const auto& [c_max, c_min] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {32, 1}, {0, 1}, {1024, 0}, {1024, 33}, {kConcurrencyMax + 1, 1}, {-5, 1}}) {
    EXPECT_FALSE(Regions::make(c_max, c_min)) << c_max << " " << c_min;
  }
  EXPECT_TRUE(Regions::make(kConcurrencyMax, 1));
}

TEST(Regions, names_are_those_on_disk) {
  for (const Region region : kRegions) EXPECT_EQ(region_named(to_string(region)), region);
  EXPECT_EQ(region_named("med_throughput"), std::nullopt);
}

}  // namespace
}  // namespace assay::rulebook
