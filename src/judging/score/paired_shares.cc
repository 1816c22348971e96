#include "score/paired_shares.h"

#include <algorithm>
#include <cmath>

#include "metrics/early_stopping.h"
#include "score/uncertainty.h"

namespace assay::score {
namespace {

// The value that a standard normal exceeds with the probability `tail`.
double normal_quantile(double tail) {
  double low = 0;
  double high = 40;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(middle / std::sqrt(2.0)) / 2 > tail ? low : high) = middle;
  }
  return high;
}

}  // namespace

double mcnemar_exact(std::uint64_t only_a, std::uint64_t only_b) {
  const std::uint64_t n = only_a + only_b;
  const std::uint64_t few = std::min(only_a, only_b);
  if (n == 0 || 2 * few == n) return 1;
  // P(X <= few) of n fair throws is I_½(n − few, few + 1).
  const double tail =
      metrics::incomplete_beta(static_cast<double>(n - few), static_cast<double>(few) + 1, 0.5);
  return std::min(1.0, 2 * tail);
}

DifferenceRange newcombe(double both, double only_a, double only_b, double neither, double tail) {
  const double n = both + only_a + only_b + neither;
  const double z = normal_quantile(tail);
  const double pa = (both + only_a) / n;
  const double pb = (both + only_b) / n;
  const WilsonInterval a = wilson(both + only_a, n, z);
  const WilsonInterval b = wilson(both + only_b, n, z);
  const double product =
      (both + only_a) * (only_b + neither) * (both + only_b) * (only_a + neither);
  double phi = 0;
  if (product > 0) {
    const double raw = both * neither - only_a * only_b;
    phi = (raw > 0 ? std::max(raw - n / 2, 0.0) : raw) / std::sqrt(product);
  }
  const auto reach = [phi](double of_b, double of_a) {
    return std::sqrt(std::max(0.0, of_b * of_b - 2 * phi * of_b * of_a + of_a * of_a));
  };
  return {.low = pb - pa - reach(pb - b.low, a.high - pa),
          .high = pb - pa + reach(b.high - pb, pa - a.low)};
}

}  // namespace assay::score
