// The bands in which a curve needs accuracy runs, and checks that several rules share.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "rules/rule.h"

namespace assay::rules {

struct AccuracyBand {
  std::string_view name{};
  std::vector<const PointFolder*> points{};  // points that could have its run
  // First its run, then extra runs that no other band can use.
  std::vector<const PointFolder*> runs{};
};

struct AccuracyBands {
  // Ultra low, low, medium, high; and Offline for a single-turn curve with such a point.
  std::vector<AccuracyBand> bands{};
  // Accuracy runs without a band, if regions are known. An elected point's run belongs to Offline
  // and is never here.
  std::vector<const PointFolder*> spare{};
};

// §5.3: one run for each band. A point of at most 32 in a higher region could serve either, but not
// both: as many bands as possible get a run (a maximum matching). An elected point's run counts for
// High only if no other does.
AccuracyBands accuracy_bands(const Curve& curve);

bool any_accuracy(const Submission& tree);

// Averages a metric over the file's datasets as the official checker does: weighted by their
// samples without repeats; a plain mean where one of them does not count its samples, or all have
// none. `inlined`: with the score of the performance dataset, if it has the metric.
enum class Inlined : std::uint8_t { left_out, taken };
std::optional<double> weighted_mean(const Accuracy& accuracy, std::string_view metric,
                                    Inlined inlined);

}  // namespace assay::rules
