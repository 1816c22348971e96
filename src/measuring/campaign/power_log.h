// An analyzer's log of a whole run (spl.txt of a power session) as the run's telemetry: for energy
// where the director, and not this program, talks to the analyzer.
#pragma once

#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "observe/telemetry.h"

namespace assay::campaign {

// The samples on the run's clock. The analyzer's stamps are of its own zone: `stopped_wall` is when
// the director stopped it, and the last sample lies within a quarter of an hour's multiple of that,
// as zones do. `wall_minus_run`: from the run's clock to the wall clock. An error where the log has
// fewer than two samples, or its last one is not near the stop in any zone.
Result<observe::Telemetry> telemetry_of_power_log(std::string_view text, WallTime stopped_wall,
                                                  Duration wall_minus_run);

}  // namespace assay::campaign
