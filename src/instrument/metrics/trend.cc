#include "metrics/trend.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace assay::metrics {
namespace {

double mean_of(std::span<const double> values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// REQUIRES: not empty.
double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  const double upper = *middle;
  return (upper + *std::max_element(values.begin(), middle)) / 2;
}

double squares_about(std::span<const double> values, double level) {
  double out = 0;
  for (const double value : values) out += (value - level) * (value - level);
  return out;
}

// 1 for the smallest; equal values share their mean rank.
std::vector<double> ranks_of(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    const double rank = (static_cast<double>(i + end) + 1) / 2;
    for (; i < end; ++i) ranks[order[i]] = rank;
  }
  return ranks;
}

// The factor by which correlation of neighbours increases the variance of Mann-Kendall's sum: Hamed
// and Rao's sum over the autocorrelations of the ranks that are significant at 95 %. Never below 1:
// a negative correlation does not count as more certainty.
double correction(std::span<const double> ranks) {
  const auto n = static_cast<double>(ranks.size());
  const double mean = mean_of(ranks);
  const double all = squares_about(ranks, mean);
  double sum = 0;
  for (std::size_t lag = 1; lag + 2 < ranks.size(); ++lag) {
    double together = 0;
    for (std::size_t i = lag; i < ranks.size(); ++i) {
      together += (ranks[i] - mean) * (ranks[i - lag] - mean);
    }
    const double rho = together / all;
    if (!(std::abs(rho) * std::sqrt(n) >= 1.96)) continue;  // nor has rho a value if all are equal
    const auto k = static_cast<double>(lag);
    sum += (n - k) * (n - k - 1) * (n - k - 2) * rho;
  }
  return std::max(1.0, 1 + 2 / (n * (n - 1) * (n - 2)) * sum);
}

// The values without their line, so that a trend does not count as correlation.
std::vector<double> without_line(std::span<const double> values, double slope) {
  std::vector<double> out(values.begin(), values.end());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] -= slope * static_cast<double>(i);
  return out;
}

double slope_of(std::span<const double> values) {
  std::vector<double> slopes;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i + 1; j < values.size(); ++j) {
      slopes.push_back((values[j] - values[i]) / static_cast<double>(j - i));
    }
  }
  return median_of(std::move(slopes));
}

// p value of the sum of signs over all pairs; two-sided, by the normal law.
double p_of_pairs(std::span<const double> values, double corrected) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i + 1; j < values.size(); ++j) {
      sum += values[j] > values[i] ? 1 : values[j] < values[i] ? -1 : 0;
    }
  }
  const auto n = static_cast<double>(values.size());
  const double deviation = std::sqrt(n * (n - 1) * (2 * n + 5) / 18 * corrected);
  const double z = sum == 0 ? 0 : (std::abs(static_cast<double>(sum)) - 1) / deviation;
  return std::erfc(z / std::sqrt(2.0));
}

}  // namespace

Trend trend_of(std::span<const double> values) {
  Trend out{.drift_error = std::numeric_limits<double>::infinity()};
  if (values.size() < 3) return out;
  const double level = median_of({values.begin(), values.end()});
  if (!(level > 0)) return out;
  const auto n = static_cast<double>(values.size());
  const double slope = slope_of(values);
  out.drift = slope * (n - 1) / level;
  const std::vector<double> rest = without_line(values, slope);
  const double corrected = correction(ranks_of(rest));
  out.p_value = p_of_pairs(values, corrected);
  // Slope variance of n equally spaced values: 12 s² / (n (n² − 1)), with the same correction.
  const double spread = squares_about(rest, mean_of(rest)) / (n - 2);
  const double slope_error = std::sqrt(12 * spread * corrected / (n * (n * n - 1)));
  out.drift_error = slope_error * (n - 1) / level;
  return out;
}

Break break_of(std::span<const double> values) {
  Break out;
  const std::size_t n = values.size();
  if (n < 4) return out;
  // U(t) = 2 · (sum of the first t ranks) − t (n + 1): its size shows whether there is a break. Its
  // place comes from the two levels with the least squares.
  const std::vector<double> ranks = ranks_of(values);
  double sum = 0;
  double most = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t t = 1; t < n; ++t) {
    sum += ranks[t - 1];
    most = std::max(most, std::abs(2 * sum - static_cast<double>(t) * static_cast<double>(n + 1)));
    const auto front = values.first(t);
    const auto back = values.subspan(t);
    const double left = squares_about(front, mean_of(front)) + squares_about(back, mean_of(back));
    if (left >= least) continue;
    least = left;
    out.at = t;
  }
  const auto count = static_cast<double>(n);
  out.p_value =
      std::min(1.0, 2 * std::exp(-6 * most * most / (count * count * count + count * count)));
  const auto before = values.first(out.at);
  const auto after = values.subspan(out.at);
  const double low = mean_of(before);
  if (low != 0) out.shift = mean_of(after) / low - 1;
  out.step_error = squares_about(before, low) + squares_about(after, mean_of(after));
  const double mean = mean_of(values);
  double crossed = 0;
  double widths = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double x = static_cast<double>(i) - (count - 1) / 2;
    crossed += x * values[i];  // the x add up to 0: less the mean it is the same
    widths += x * x;
  }
  out.line_error = squares_about(values, mean) - crossed * crossed / widths;
  return out;
}

double variation(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double mean = mean_of(values);
  if (!(mean > 0)) return 0;
  return std::sqrt(squares_about(values, mean) / static_cast<double>(values.size() - 1)) / mean;
}

}  // namespace assay::metrics
