// A workload's limits on a point's latencies, and the point's values: one line for each limit. It
// uses the run's facts, so that `assay report` can repeat it. Pure.
#pragma once

#include <string>
#include <vector>

#include "metrics/point.h"

namespace assay::campaign {

// Empty if the run names no workload, or one without limits on latency or counts.
std::vector<std::string> workload_verdict(const metrics::Point& point);

}  // namespace assay::campaign
