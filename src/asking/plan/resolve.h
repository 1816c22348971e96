// resolve: computes the settings that a config leaves open (the reference client's rules in spec,
// section 3.3, and Assay's own), so that a checked config is explicit. check: the rules about more
// than one setting; it reports all problems to `reading` and changes nothing.
#pragma once

#include <cstdint>

#include "plan/config.h"
#include "plan/environment.h"
#include "plan/schema.h"

namespace assay::plan {

struct Surroundings {
  Environment environment{};
  bool from_file = false;         // else flags alone
  Duration time_unsaid{};         // length if the config gives none; 0: the default of `assay run`
  std::uint32_t local_ports = 0;  // number of outgoing ports of this machine
};

void resolve(Config& config, const Surroundings& around, Reading& reading);
void check(const Config& config, const Surroundings& around, Reading& reading);

// Returns offline, online, or nullopt (eval).
std::optional<BenchmarkMode> effective_mode(const Config& config);
// Returns true if the config's mode and datasets need a phase of this type.
bool wants(const Config& config, DatasetType type);
// The same for one dataset. A dataset whose scorer asks the endpoint with its own program has no
// phase: beside a measurement it is left out unless the config gives a mode, as in the reference
// client.
bool wants(const Config& config, const DatasetConfig& data);
// The performance dataset, or nullptr.
const DatasetConfig* performance_dataset(const Config& config);
// What settings.recording.keep_text: auto comes to: a scorer or a tokenizer will read the replies.
bool wants_text(const Config& config);
// Returns true if the pattern sends by a schedule.
bool is_open_loop(const LoadPattern& load);

}  // namespace assay::plan
