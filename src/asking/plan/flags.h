// The flags of `assay run` as settings: a flag becomes the map that a config file would hold, so it
// is read, bounded and explained by the same rows (schema.h). What one flag implies of others (a
// rate is an open loop) is said here, in one place.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "plan/config.h"
#include "plan/schema.h"

namespace assay::plan {

// What flags said that no single setting holds, until all of them are known.
struct FlagState {
  std::set<std::string> given{};  // names, without dashes
  SyntheticConfig synthetic{};    // --isl, --osl, --prompts
  bool synthetic_given = false;
};

// Applies one flag; what is wrong goes to `reading`.
void apply_flag(Config& config, FlagState& state, std::string_view name, std::string_view value,
                Reading& reading);
// After the last flag: what they imply together.
void finish_flags(Config& config, FlagState& state, Reading& reading);

}  // namespace assay::plan
