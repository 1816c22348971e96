// Golden vectors from NumPy 2.3.5 and CPython 3.11.
#include "base/numpy_random.h"

#include <gtest/gtest.h>

#include <array>

#include "base/python_random.h"

namespace assay {
namespace {

using Numbers = std::vector<std::uint32_t>;

TEST(NumpyRandom, draws_what_numpys_legacy_functions_draw) {
  NumpyRandom random(1001);
  constexpr std::array kShares{0.2, 0.25, 0.25, 0.2, 0.1};
  EXPECT_EQ(random.choice(kShares, 12),
            (std::vector<std::uint8_t>{1, 1, 0, 1, 0, 0, 1, 1, 2, 2, 3, 0}));
  for (const std::uint64_t wanted : {65532U, 6610U, 48964U, 65957U, 15153U, 33204U}) {
    EXPECT_EQ(random.below(78125), wanted);
  }
  EXPECT_EQ(random.below(1), 0U);  // draws nothing
  EXPECT_EQ(random.random(), 0.5481122805353627);
}

TEST(PythonRandom, gauss_uses_the_second_of_two_values_next) {
  PythonRandom random(123);
  for (const double wanted : {110.10571083061666, 103.4502848162076, 90.03538193765986}) {
    EXPECT_EQ(random.gauss(100, 25), wanted);
  }
}

TEST(PythonRandom, samples_are_cpythons_on_both_sides_of_its_limits) {
  PythonRandom random(1001);
  EXPECT_EQ(random.sample(128, 4), (Numbers{15, 50, 23, 96}));
  Numbers drawn = random.sample(60, 33);
  drawn.resize(6);
  EXPECT_EQ(drawn, (Numbers{50, 10, 26, 46, 23, 36}));
  drawn = random.sample(2048, 100);
  drawn.resize(6);
  EXPECT_EQ(drawn, (Numbers{1605, 365, 1255, 1427, 680, 1637}));
  EXPECT_EQ(random.sample(2048, 7), (Numbers{1684, 1910, 121, 690, 1787, 514, 1935}));
  EXPECT_EQ(random.random(), 0.5243887995836596);
  PythonRandom edge(5);
  EXPECT_EQ(edge.sample(21, 5), (Numbers{19, 8, 11, 16, 0}));
  EXPECT_EQ(edge.sample(22, 5), (Numbers{14, 7, 20, 1, 5}));
  EXPECT_EQ(edge.sample(85, 6), (Numbers{14, 47, 60, 31, 48, 69}));
  EXPECT_EQ(edge.sample(86, 6), (Numbers{13, 73, 31, 1, 27, 52}));
}

}  // namespace
}  // namespace assay
