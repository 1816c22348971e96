// The sources that a run's config names (settings.telemetry), opened and read beside its load. The
// endpoint's key and headers go to a page only where it is at the endpoint's own origin.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "meter/collector.h"
#include "plan/config.h"

namespace assay::campaign {

// nullptr: the config names no source. `threads`: of the measurement; the collector stays off their
// cores where others are left.
Result<std::unique_ptr<meter::Collector>> open_telemetry(const plan::Config& config,
                                                         const std::string& ca_file,
                                                         std::uint64_t threads, const Clock& clock);

}  // namespace assay::campaign
