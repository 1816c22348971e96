// Where a curve needs accuracy results, and what several rules ask of those it has.
#pragma once

#include <optional>
#include <vector>

#include "rules/rule.h"

namespace assay::rules {

struct AccuracyBand {
  std::string_view name{};
  std::vector<const PointFolder*> points{};
};

// Ultra low, low, medium, high; and Offline on a single-turn curve that has such a point. A point
// at most 32 that falls into a higher region is in both, or, once, in ultra low alone.
enum class Membership : std::uint8_t { all, once };
std::vector<AccuracyBand> accuracy_bands(const Curve& curve,
                                         Membership membership = Membership::all);

bool any_accuracy(const Submission& tree);

// Over the file's datasets but the performance one, weighted by their samples.
std::optional<double> weighted_mean(const Accuracy& accuracy, std::string_view metric);

}  // namespace assay::rules
