#include "metrics/early_stopping.h"

#include <cmath>
#include <cstddef>

namespace assay::metrics {
namespace {

constexpr double kConfidence = 0.99;
constexpr int kIterations = 399;
constexpr double kEpsilon = 3e-16;
constexpr double kTiny = 1e-300;

// std::lgamma writes a global variable, and any thread may call us.
double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

double not_zero(double x) { return std::fabs(x) < kTiny ? kTiny : x; }

// The continued fraction of I_x(a, b), by Lentz's method.
double fraction(double a, double b, double x) {
  double c = 1;
  double d = 1 / not_zero(1 - (a + b) * x / (a + 1));
  double h = d;
  for (int m = 1; m <= kIterations; ++m) {
    const double even = m * (b - m) * x / ((a - 1 + 2 * m) * (a + 2 * m));
    d = 1 / not_zero(1 + even * d);
    c = not_zero(1 + even / c);
    h *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 1 + 2 * m));
    d = 1 / not_zero(1 + odd * d);
    c = not_zero(1 + odd / c);
    const double step = d * c;
    h *= step;
    if (std::fabs(step - 1) < kEpsilon) break;
  }
  return h;
}

// Whether so few values above make a higher percentile unlikely; more likely as `below` grows.
// REQUIRES: below > 0.
bool sure(double p, std::uint64_t below, std::uint64_t above) {
  return incomplete_beta(static_cast<double>(below), static_cast<double>(above) + 1, p) <
         1 - kConfidence;
}

template <typename T>
std::optional<double> estimate(std::span<const T> sorted, double percentile) {
  const std::uint64_t above = values_above(percentile / 100, sorted.size());
  if (above == 0) return std::nullopt;
  return static_cast<double>(sorted[sorted.size() - static_cast<std::size_t>(above)]);
}

}  // namespace

double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) +
                                b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * fraction(a, b, x) / a;
  return 1 - front * fraction(b, a, 1 - x) / b;
}

std::uint64_t least_below(double p, std::uint64_t above) {
  std::uint64_t high = 1;
  while (!sure(p, high, above)) high *= 2;
  std::uint64_t low = high / 2;  // not sure
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (sure(p, middle, above) ? high : low) = middle;
  }
  return high;
}

std::uint64_t values_above(double p, std::uint64_t n) {
  // F(t) + t <= n means: n − t values below are enough for t above.
  if (n < 2 || !sure(p, n - 1, 1)) return 0;
  std::uint64_t low = 1;   // enough
  std::uint64_t high = n;  // not enough: nothing is left below
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (sure(p, n - middle, middle) ? low : high) = middle;
  }
  return low;
}

std::optional<double> early_stopping_estimate(std::span<const std::int64_t> sorted,
                                              double percentile) {
  return estimate(sorted, percentile);
}

std::optional<double> early_stopping_estimate(std::span<const double> sorted, double percentile) {
  return estimate(sorted, percentile);
}

}  // namespace assay::metrics
