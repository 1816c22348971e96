#include "observe/lag.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/format.h"

namespace assay::observe {
namespace {

constexpr std::size_t kValuesMin = 10;
constexpr double kCorrelationMin = 0.5;
constexpr double kRivalShare = 0.9;
// What a correlation must be, in standard errors: more than a thousand lags are tried, and one of
// them may fit by chance.
constexpr double kErrorsMin = 6;
// Readings at a low and at a high load: fewer would let one odd reading decide.
constexpr std::size_t kSideMin = 5;
constexpr Duration kCoarse = 50_ms;
constexpr Duration kFine = 10_ms;
constexpr Duration kInstant = 10_ms;  // the narrowest average: one cell of the load
constexpr std::array kWidths = {kInstant, 250_ms, 500_ms, Duration{1'000'000'000},
                                Duration{2'000'000'000}};

// A value, and the time that it is the mean of.
struct Sample {
  Instant from{};
  Instant to{};
  double value = 0;
};

// A counter's growth is the mean over the time between two readings, whatever the source does; a
// gauge may be a mean over a width that is not known.
std::vector<Sample> samples_of(const Signal& signal, Duration width) {
  std::vector<Sample> out;
  const std::vector<SignalPoint>& points = signal.points;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (signal.measure->kind == MeasureKind::gauge) {
      out.push_back({points[i].at - width, points[i].at, points[i].value});
    } else if (i > 0 && points[i].at > points[i - 1].at) {
      const double seconds = (points[i].at - points[i - 1].at).seconds();
      out.push_back(
          {points[i - 1].at, points[i].at, (points[i].value - points[i - 1].value) / seconds});
    }
  }
  return out;
}

double correlation_at(const Load& load, const std::vector<Sample>& samples, Duration lag) {
  double x = 0;
  double y = 0;
  double xx = 0;
  double yy = 0;
  double xy = 0;
  for (const Sample& sample : samples) {
    const double at = load.mean(sample.from - lag, sample.to - lag);
    x += at;
    y += sample.value;
    xx += at * at;
    yy += sample.value * sample.value;
    xy += at * sample.value;
  }
  const auto n = static_cast<double>(samples.size());
  const double vx = xx - x * x / n;
  const double vy = yy - y * y / n;
  if (vx <= 1e-12 * xx || vy <= 1e-12 * yy) return 0;  // one of them never moves
  return (xy - x * y / n) / std::sqrt(vx * vy);
}

// Whether enough readings fall into the lower half of the load's range, and into the upper half.
bool has_both_sides(const Load& load, const std::vector<Sample>& samples, Duration lag) {
  std::vector<double> loads;
  for (const Sample& sample : samples) {
    loads.push_back(load.mean(sample.from - lag, sample.to - lag));
  }
  const auto [low, high] = std::ranges::minmax(loads);
  const double middle = (low + high) / 2;
  const auto above = static_cast<std::size_t>(
      std::ranges::count_if(loads, [&](double one) { return one > middle; }));
  return above >= kSideMin && loads.size() - above >= kSideMin;
}

// Whether a correlation is more than chance, with more than a thousand lags tried.
bool is_more_than_chance(double correlation, std::size_t n) {
  const double free = static_cast<double>(n) - 2;
  return correlation >= 1 ||
         correlation * std::sqrt(free / (1 - correlation * correlation)) >= kErrorsMin;
}

struct Peak {
  Duration lag{};
  double correlation = 0;
};

Peak best_between(const Load& load, const std::vector<Sample>& samples, Duration from, Duration to,
                  Duration step) {
  Peak out{.lag = from};
  for (Duration lag = from; lag <= to; lag += step) {
    const double r = correlation_at(load, samples, lag);
    if (r > out.correlation) out = {lag, r};
  }
  return out;
}

// Whether another lag, behind a valley, does nearly as well: a load with a period has one at each.
bool has_rival(const Load& load, const std::vector<Sample>& samples, const Peak& peak) {
  const double nearly = peak.correlation * kRivalShare;
  for (const std::int64_t way : {-1, 1}) {
    bool valley = false;
    for (Duration lag = peak.lag; lag >= kLagMin && lag <= kLagMax; lag += kCoarse * way) {
      const double r = correlation_at(load, samples, lag);
      if (r < nearly) valley = true;
      if (valley && r >= nearly) return true;
    }
  }
  return false;
}

// As far as the unexplained part grows no more than by chance (one parameter, 95 %: 3.84).
Duration reach(const Load& load, const std::vector<Sample>& samples, const Peak& peak,
               std::int64_t way) {
  const auto n = static_cast<double>(samples.size());
  const double unexplained = std::max(1 - peak.correlation * peak.correlation, 1e-9);
  const double limit = unexplained * (1 + 3.84 / n);
  Duration lag = peak.lag;
  while (lag >= kLagMin && lag <= kLagMax) {
    lag += kFine * way;
    const double r = correlation_at(load, samples, lag);
    if (1 - r * r > limit || r <= 0) break;
  }
  return lag;
}

}  // namespace

Lag estimate_lag(const Load& load, const Signal& signal) {
  Lag out;
  const bool gauge = signal.measure->kind == MeasureKind::gauge;
  Peak best;
  for (const Duration width : kWidths) {
    const std::vector<Sample> samples = samples_of(signal, width);
    if (samples.size() < kValuesMin) {
      out.why = format("{} readings; it takes {}", signal.points.size(), kValuesMin);
      return out;
    }
    const Peak coarse = best_between(load, samples, kLagMin, kLagMax, kCoarse);
    const Peak peak =
        best_between(load, samples, coarse.lag - kCoarse, coarse.lag + kCoarse, kFine);
    if (peak.correlation > best.correlation) {
      best = peak;
      out.width = gauge ? width : Duration{};
    }
    if (!gauge) break;
  }
  out.correlation = best.correlation;
  if (best.correlation < kCorrelationMin) {
    out.why = "it does not follow the load";
    return out;
  }
  const std::vector<Sample> samples = samples_of(signal, out.width);
  if (!is_more_than_chance(best.correlation, samples.size()) ||
      !has_both_sides(load, samples, best.lag)) {
    out.why = "too few readings on either side of a step of the load";
    return out;
  }
  if (has_rival(load, samples, best)) {
    out.why = "several lags explain it as well: the load's steps are too regular, or too few";
    return out;
  }
  const Duration half = out.width / 2;
  out.known = true;
  out.lag = best.lag + half;
  out.low = reach(load, samples, best, -1) + half;
  out.high = reach(load, samples, best, 1) + half;
  if (out.width == kInstant) out.width = {};
  return out;
}

}  // namespace assay::observe
