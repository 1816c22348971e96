#include "rules/accuracy/bands.h"

#include <algorithm>

namespace assay::rules {

std::vector<AccuracyBand> accuracy_bands(const Curve& curve, Membership membership) {
  AccuracyBand ultra_low{.name = "ultra_low_concurrency"};
  std::vector<AccuracyBand> bands;
  for (const PointFolder& point : curve.points) {
    if (curve.ultra_low(point)) ultra_low.points.push_back(&point);
  }
  bands.push_back(std::move(ultra_low));
  for (const Region region :
       {Region::low_concurrency, Region::med_concurrency, Region::high_concurrency}) {
    AccuracyBand band{.name = to_string(region)};
    for (const PointFolder& point : curve.points) {
      if (!curve.in_region(point, region)) continue;
      if (membership == Membership::all || !curve.ultra_low(point)) band.points.push_back(&point);
    }
    bands.push_back(std::move(band));
  }
  const PointFolder* offline = curve.offline_point();
  if (!curve.agentic && offline != nullptr) bands.push_back({"offline", {offline}});
  return bands;
}

bool any_accuracy(const Submission& tree) {
  return std::ranges::any_of(tree.systems, [](const System& system) {
    return std::ranges::any_of(system.curves, [](const Curve& curve) {
      return std::ranges::any_of(curve.points,
                                 [](const PointFolder& point) { return point.accuracy.present(); });
    });
  });
}

std::optional<double> weighted_mean(const Accuracy& accuracy, std::string_view metric) {
  double sum = 0;
  double weights = 0;
  for (const AccuracyEntry& entry : accuracy.entries) {
    const double* value = entry.metric(metric);
    if (entry.performance || value == nullptr) continue;
    const auto weight = static_cast<double>(std::max<std::int64_t>(entry.samples, 1));
    sum += *value * weight;
    weights += weight;
  }
  return weights > 0 ? std::optional(sum / weights) : std::nullopt;
}

}  // namespace assay::rules
