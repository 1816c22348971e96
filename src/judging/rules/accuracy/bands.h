// Where a curve needs accuracy runs, and what several rules ask of those it has.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "rules/rule.h"

namespace assay::rules {

struct AccuracyBand {
  std::string_view name{};
  std::vector<const PointFolder*> points{};  // that could answer for it
  // The one that does, then those that have no other band and are too many.
  std::vector<const PointFolder*> runs{};
};

struct AccuracyBands {
  // Ultra low, low, medium, high; and Offline on a single-turn curve that has such a point.
  std::vector<AccuracyBand> bands{};
  // Accuracy runs that answer for no band, where regions are known. An elected point's is
  // Offline's, so never here.
  std::vector<const PointFolder*> spare{};
};

// §5.3: one run for each band. A point of at most 32 in a higher region could answer for either,
// but not for both: as many bands as possible are given a run (a maximum matching), and an elected
// point's stands for High only where no other does.
AccuracyBands accuracy_bands(const Curve& curve);

bool any_accuracy(const Submission& tree);

// Over the file's datasets but the performance one, weighted by their samples.
std::optional<double> weighted_mean(const Accuracy& accuracy, std::string_view metric);

}  // namespace assay::rules
