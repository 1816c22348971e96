// resolve: fills in what a config leaves to be worked out (the reference client's rules in spec,
// section 3.3, and Assay's own), so that a checked config says everything outright. check: the
// rules that look at more than one setting; it tells `reading` all that is wrong and changes
// nothing.
#pragma once

#include <cstdint>

#include "plan/config.h"
#include "plan/environment.h"
#include "plan/schema.h"

namespace assay::plan {

struct Surroundings {
  Environment environment{};
  bool from_file = false;         // else flags alone
  Duration time_unsaid{};         // how long where nothing is said; 0: as assay run has it
  std::uint32_t local_ports = 0;  // how many outgoing ports this machine has
};

void resolve(Config& config, const Surroundings& around, Reading& reading);
void check(const Config& config, const Surroundings& around, Reading& reading);

// offline, online, or neither (eval).
std::optional<BenchmarkMode> effective_mode(const Config& config);
// The phases that the config's mode and datasets ask for.
bool wants(const Config& config, DatasetType type);
// The same of one dataset. One whose scorer asks the endpoint by a program of its own has no phase:
// beside a measurement it is left out unless the config says its mode, as the reference client
// does.
bool wants(const Config& config, const DatasetConfig& data);
// The performance dataset; nullptr when there is none.
const DatasetConfig* performance_dataset(const Config& config);
// Whether the pattern sends by a schedule.
bool is_open_loop(const LoadPattern& load);

}  // namespace assay::plan
