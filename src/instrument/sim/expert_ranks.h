// How the experts of a layer lie on the ranks of expert parallelism. Where their number is no
// multiple of the ranks', some have redundant copies: 256 on 72 ranks are four each, 32 of them
// twice.
#pragma once

#include "sim/deployment.h"

namespace assay::sim {

// REQUIRES: ep above 0.
inline unsigned experts_per_rank(const ModelSpec& model, const Parallelism& parallelism) {
  return (model.experts + parallelism.ep - 1) / parallelism.ep;
}

}  // namespace assay::sim
