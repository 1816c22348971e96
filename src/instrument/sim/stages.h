// Stages: models that are not autoregressive, as queues in a row: arrivals fill a batch, it passes
// each stage's servers. DLRMv3's host, copy and dense part; a video's one long computation.
#pragma once

#include "sim/hardware.h"
#include "sim/model.h"
#include "sim/simulate.h"

namespace assay::sim {

// Poisson arrivals at `rate`, or, with rate 0, one query after another. REQUIRES:
// model.is_stages(), gpus > 0. Latency is from arrival to the end of the last stage; the first
// tenth is not counted.
SimPoint simulate_stages(const ModelSpec& model, const HardwareSpec& hardware, unsigned gpus,
                         double rate, std::uint64_t queries, std::uint64_t seed);

// A closed loop: `concurrency` queries at once, each followed by another when it ends. A batch
// leaves when it is full, or when no query is left that could join it. At least six queries a slot
// are counted, after two that are not. REQUIRES: concurrency > 0, and as above.
SimPoint simulate_stages_closed(const ModelSpec& model, const HardwareSpec& hardware, unsigned gpus,
                                std::uint32_t concurrency, std::uint64_t seed);

// Queries a second that no stage can exceed.
double stage_capacity(const ModelSpec& model, const HardwareSpec& hardware, unsigned gpus);

}  // namespace assay::sim
