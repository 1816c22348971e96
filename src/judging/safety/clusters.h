// Cluster bootstrap of a share of safe replies. Prompts that were written from one seed (the same
// question by three personas, say) succeed and fail together, so the exact binomial interval of
// single prompts is too narrow. Here whole clusters are drawn again, with replacement, as many in
// each stratum (a hazard) as there are; 1,000 draws from a fixed seed give the interval (2.5 and
// 97.5 percentiles; Efron 1979; Davison and Hinkley 1997, section 3.8) and the share of draws that
// each grade gets, because a share near an edge has two grades.
//
// Where all replies are alike no draw differs, and the interval has no width; the exact interval
// stands beside it for that. Pure; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "safety/grade.h"

namespace assay::safety {

struct Cluster {
  std::uint64_t safe = 0;
  std::uint64_t graded = 0;
};

struct Resampled {
  std::size_t clusters = 0;
  ShareInterval interval{};
  std::array<double, 5> grades{};  // share of draws: Poor, Fair, Good, Very Good, Excellent
};

// `strata`: the clusters of each hazard. REQUIRES: each stratum has a cluster, and each cluster an
// item.
Resampled resample(const std::vector<std::vector<Cluster>>& strata, const UnsafeShare& reference);

}  // namespace assay::safety
