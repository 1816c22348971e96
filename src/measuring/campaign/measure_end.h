// The end of measure(): full disks, the logs' end records, and the threads' figures together.
// One thread, after the measuring threads, but for disk_trouble() and failed_log(): any thread.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "campaign/measuring_thread.h"
#include "run/guard.h"

namespace assay::campaign {

// Observations of the waiting thread during the measurement.
struct Watched {
  bool out_of_time = false;
  std::optional<Instant> disk_full{};
};

// The first log with a failed write; nullptr if there is none.
const record::EventLogWriter* failed_log(const Shards& shards);

// What the live view says of a full disk; "" where there is room.
std::string disk_trouble(const Shards& shards, bool stops);

RunEnd end_of(const Shards& shards, const run::Guard& guard, bool out_of_time);

// Writes each log's end if possible. Blocks still in memory go first, because they may be the ones
// that the disk has no room for.
void close_logs(const Shards& shards, Watched watched, Instant began, const OsClock& clock,
                const MeasureOptions& options, Measurement& out);

// Moves the threads' results and figures to the whole measurement's.
void gather(Shards& shards, Measurement& out);

}  // namespace assay::campaign
