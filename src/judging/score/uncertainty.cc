#include "score/uncertainty.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/enum_name.h"
#include "base/rng.h"
#include "metrics/early_stopping.h"

namespace assay::score {
namespace {

constexpr double kTail = (1 - kConfidence) / 2;
constexpr std::size_t kReplicates = 1000;
constexpr std::uint64_t kSeed = 1;

struct Sums {
  double amount = 0;
  double of = 0;
  double of_squared = 0;  // the sum of squares
  double ratio() const { return of > 0 ? amount / of : std::numeric_limits<double>::quiet_NaN(); }
};

Sums sums_of(const Tally& tally) {
  Sums out;
  for (const auto& [sample, share] : tally.samples) {
    out.amount += share.amount;
    out.of += share.of;
    out.of_squared += share.of * share.of;
  }
  return out;
}

// The variance of the ratio by its linear part, without the correction for few samples.
double linearised(const Tally& tally, const Sums& sums) {
  double squares = 0;
  for (const auto& [sample, share] : tally.samples) {
    const double rest = share.amount - sums.ratio() * share.of;
    squares += rest * rest;
  }
  return squares / (sums.of * sums.of);
}

void bootstrap_ratio(const Tally& tally, Uncertainty& out) {
  std::vector<Share> shares;
  shares.reserve(tally.samples.size());
  for (const auto& [sample, share] : tally.samples) shares.push_back(share);
  Rng rng(kSeed);
  std::vector<double> values;
  for (std::size_t draw = 0; draw < kReplicates; ++draw) {
    Sums sums;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const Share& one = shares[rng.below(shares.size())];
      sums.amount += one.amount;
      sums.of += one.of;
    }
    if (sums.of > 0) values.push_back(tally.scale * sums.ratio());
  }
  if (values.size() < 2) return;
  std::ranges::sort(values);
  double mean = 0;
  for (const double value : values) mean += value;
  mean /= static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  out.standard_error = std::sqrt(squares / static_cast<double>(values.size() - 1));
  const auto at = [&values](double share) {
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  };
  out.low = at(kTail);
  out.high = at(1 - kTail);
}

}  // namespace

std::string_view to_string(FigureKind kind) { return enum_name(kind); }

std::optional<FigureKind> figure_kind_from(std::string_view name) {
  return enum_named<FigureKind>(name);
}

std::string_view to_string(IntervalMethod method) { return enum_name(method); }

double Tally::value() const { return scale * sums_of(*this).ratio(); }

WilsonInterval wilson(double right, double n, double z) {
  CHECK(n > 0);
  const double p = right / n;
  const double z2 = z * z;
  const double middle = (p + z2 / (2 * n)) / (1 + z2 / n);
  const double reach = z * std::sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n);
  return {.low = right <= 0 ? 0 : std::max(0.0, middle - reach),
          .high = right >= n ? 1 : std::min(1.0, middle + reach)};
}

Uncertainty uncertainty_of(const Tally& tally) {
  const Sums sums = sums_of(tally);
  const std::size_t samples = tally.samples.size();
  const auto n = static_cast<double>(samples);
  Uncertainty out{.value = tally.scale * sums.ratio(), .samples = samples};
  const bool has_value = sums.of > 0;
  const double variance = has_value ? linearised(tally, sums) : 0;
  if (has_value && samples > 1) {
    out.standard_error = tally.scale * std::sqrt(variance * n / (n - 1));
  }
  switch (tally.kind) {
    case FigureKind::proportion: {
      out.method = IntervalMethod::wilson;
      if (!has_value) break;
      const double p = std::clamp(sums.ratio(), 0.0, 1.0);
      // All samples alike without being all right or wrong: repeats that agree. Then each sample
      // says as much as one.
      const double alike = sums.of * sums.of / sums.of_squared;
      const double effective = variance > 0 && p > 0 && p < 1 ? p * (1 - p) / variance : alike;
      const WilsonInterval bounds = wilson(p * effective, effective);
      out.low = tally.scale * bounds.low;
      out.high = tally.scale * bounds.high;
      break;
    }
    case FigureKind::mean: {
      out.method = IntervalMethod::student_t;
      if (!out.standard_error) break;
      const double reach = student_quantile(kTail, n - 1) * *out.standard_error;
      out.low = out.value - reach;
      out.high = out.value + reach;
      break;
    }
    case FigureKind::ratio:
      out.method = IntervalMethod::bootstrap;
      if (has_value && samples > 1) bootstrap_ratio(tally, out);
      break;
  }
  return out;
}

Uncertainty jackknifed(double value, std::size_t samples, std::span<const double> without_group,
                       double most) {
  Uncertainty out{.value = value, .samples = samples, .method = IntervalMethod::jackknife};
  if (without_group.size() < 2 || !std::isfinite(value)) return out;
  const auto groups = static_cast<double>(without_group.size());
  double mean = 0;
  for (const double one : without_group) mean += one / groups;
  double squares = 0;
  for (const double one : without_group) squares += (one - mean) * (one - mean);
  const double error = std::sqrt((groups - 1) / groups * squares);
  if (!std::isfinite(error)) return out;
  const double reach = student_quantile(kTail, groups - 1) * error;
  out.standard_error = error;
  out.low = std::max(0.0, value - reach);
  out.high = std::min(most, value + reach);
  return out;
}

ScoreFigure figure_of(std::string name, Tally tally) {
  ScoreFigure out{.name = std::move(name), .uncertainty = uncertainty_of(tally)};
  out.tally = std::move(tally);
  return out;
}

Json uncertainty_json(const std::vector<ScoreFigure>& figures) {
  Json out;
  const auto or_null = [](const std::optional<double>& x) { return x ? Json(*x) : Json(); };
  for (const ScoreFigure& one : figures) {
    const Uncertainty& u = one.uncertainty;
    if (u.samples == 0 || !std::isfinite(u.value)) continue;
    Json interval;
    if (u.low && u.high) interval = Json::array().push_back(*u.low).push_back(*u.high);
    out.set(one.name, Json()
                          .set("standard_error", or_null(u.standard_error))
                          .set("interval", std::move(interval))
                          .set("confidence", kConfidence)
                          .set("method", to_string(u.method))
                          .set("samples", u.samples));
  }
  return out;
}

double student_tail(double t, double degrees) {
  if (std::isinf(t)) return t > 0 ? 0 : 1;
  const double both = metrics::incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t));
  return t >= 0 ? both / 2 : 1 - both / 2;
}

double student_quantile(double tail, double degrees) {
  double low = 0;
  double high = 1;
  while (student_tail(high, degrees) > tail && high < 1e9) high *= 2;
  for (int i = 0; i < 200 && high - low > 1e-12 * high; ++i) {
    const double middle = (low + high) / 2;
    (student_tail(middle, degrees) > tail ? low : high) = middle;
  }
  return high;
}

}  // namespace assay::score
