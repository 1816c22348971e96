// What a workload's scenario demands of a point's latencies, and what the point has: one line a
// demand. From the run's facts, so `assay report` can say it again. Pure.
#pragma once

#include <string>
#include <vector>

#include "metrics/point.h"

namespace assay::campaign {

// Empty where the run names no workload, or none of its demands is on latency or counts.
std::vector<std::string> workload_verdict(const metrics::Point& point);

}  // namespace assay::campaign
