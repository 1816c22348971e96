#include "compare/noise.h"

#include <algorithm>
#include <cmath>

#include "compare/bootstrap.h"
#include "compare/sampled.h"

namespace assay::compare {
namespace {

constexpr std::size_t kSteps = 96;  // of each integral

// The square root of a χ² variable as points with weights that add up to 1. Its density is smooth
// at 0, which that of χ² with one degree is not.
struct ChiPoint {
  double square = 0;
  double weight = 0;
};
std::vector<ChiPoint> chi_points(double degrees) {
  if (degrees <= 0) return {{0, 1}};
  const double middle = std::sqrt(degrees);
  const double low = std::max(0.0, middle - 6);
  const double step = (middle + 6 - low) / static_cast<double>(kSteps);
  std::vector<ChiPoint> out;
  double total = 0;
  for (std::size_t i = 0; i < kSteps; ++i) {
    const double chi = low + step * (static_cast<double>(i) + 0.5);
    // ln of the density without its constant, relative to its value near the mode.
    const double log = (degrees - 1) * std::log(chi / middle) - (chi * chi - degrees) / 2;
    out.push_back({chi * chi, std::exp(log)});
    total += out.back().weight;
  }
  for (ChiPoint& point : out) point.weight /= total;
  return out;
}

double normal_below(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

}  // namespace

RunFigures figures_of(const ComparedRun& run, const CompareOptions& options) {
  RunFigures out{.name = run.name};
  std::vector<Sampled> ways;
  for (TimeBlocks& blocks : time_blocks(run.rows->rows())) {
    ways.emplace_back(*run.rows, std::move(blocks));
  }
  Rng rng(options.seed);
  for (const ComparedMetric metric : options.metrics) {
    Estimate widest{};
    for (const Sampled& way : ways) {
      const Estimate one = bootstrap(way.statistic(metric), options.replicates, rng);
      if (widest.blocks == 0 || one.log_deviation > widest.log_deviation) widest = one;
    }
    out.of.push_back({widest.value, widest.log_deviation, room_of(*run.point, metric)});
  }
  return out;
}

Spread spread_of(const std::vector<const std::vector<RunFigures>*>& groups, std::size_t metric) {
  Spread out;
  double squares = 0;
  double within = 0;
  double runs = 0;
  for (const std::vector<RunFigures>* group : groups) {
    std::vector<double> logs;
    for (const RunFigures& run : *group) {
      const RunFigures::Figure& figure = run.of[metric];
      if (figure.value <= 0) continue;
      logs.push_back(std::log(figure.value));
      within += figure.within * figure.within;
      runs += 1;
    }
    if (logs.empty()) continue;
    double mean = 0;
    for (const double log : logs) mean += log / static_cast<double>(logs.size());
    for (const double log : logs) squares += (log - mean) * (log - mean);
    out.degrees += static_cast<double>(logs.size()) - 1;
  }
  if (runs == 0) return out;
  out.within = std::sqrt(within / runs);
  if (out.degrees > 0) out.deviation = std::sqrt(squares / out.degrees);
  return out;
}

double power_of(const Spread& spread, const PowerQuestion& question, std::size_t n) {
  const double seen = std::log1p(question.change) - std::log1p(question.margin) - question.room;
  if (seen <= 0) return 0;
  if (spread.deviation < 1e-9) return 1;
  const auto side = static_cast<double>(n);
  const double known = std::max(spread.degrees, 1.0);
  const double fresh = 2 * side - 2;
  const double critical = student_quantile(question.tail, known + fresh);
  const std::vector<ChiPoint> news = chi_points(fresh);
  double out = 0;
  for (const ChiPoint& x : chi_points(known)) {
    // σ = s √(ν ÷ χ²)
    const double distance =
        seen * std::sqrt(side / 2) / spread.deviation * std::sqrt(x.square / known);
    for (const ChiPoint& y : news) {
      const double estimate = std::sqrt((x.square + y.square) / (known + fresh));
      out += x.weight * y.weight * normal_below(distance - critical * estimate);
    }
  }
  return out;
}

std::optional<std::size_t> runs_needed(const Spread& spread, const PowerQuestion& question) {
  const auto enough = [&](std::size_t n) {
    return power_of(spread, question, n) >= question.power;
  };
  std::size_t few = 0;  // too few, or none
  std::size_t many = 1;
  while (!enough(many)) {
    if (many == kRunsMax) return std::nullopt;
    few = many;
    many = std::min(2 * many, kRunsMax);
  }
  while (many - few > 1) {
    const std::size_t middle = few + (many - few) / 2;
    (enough(middle) ? many : few) = middle;
  }
  return many;
}

}  // namespace assay::compare
