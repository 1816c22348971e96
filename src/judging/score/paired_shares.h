// Two shares of the same things, each right or wrong under A and under B: both, only A, only B or
// neither. What makes a question hard does not show in the difference of such shares.
//
//   p         McNemar's exact test: min(1, 2 P[X <= min(only_a, only_b)]),
//             X ~ Bin(only_a + only_b, 1/2)
//   interval  Newcombe's (1998, Statistics in Medicine 17: 2635, method 10) of B's share less A's
//
// Pure; any thread.
#pragma once

#include <cstdint>

namespace assay::score {

// Two-sided, of no difference. Never 0; 1 without a discordant pair.
double mcnemar_exact(std::uint64_t only_a, std::uint64_t only_b);

// Fractions, from −1 to 1.
struct DifferenceRange {
  double low = 0;
  double high = 0;
};
// `tail`: the probability outside at each end, such as 0.025. REQUIRES: a pair.
DifferenceRange newcombe(double both, double only_a, double only_b, double neither, double tail);

}  // namespace assay::score
