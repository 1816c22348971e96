// The flags of `assay run` as settings: a flag becomes a config file's map, so the same rows read,
// check and explain it (schema.h). This file is the only place where one flag implies other
// settings (a rate implies an open loop).
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "plan/config.h"
#include "plan/schema.h"

namespace assay::plan {

// Flags that need all the others before they can be applied.
struct FlagState {
  std::set<std::string> given{};  // names, without dashes
  SyntheticConfig synthetic{};    // --isl, --osl, --prompts
  bool synthetic_given = false;
  std::vector<std::string> tasks{};  // --task
};

// Applies one flag; problems go to `reading`.
void apply_flag(Config& config, FlagState& state, std::string_view name, std::string_view value,
                Reading& reading);
// Applies what the flags imply together; call it after the last one.
void finish_flags(Config& config, FlagState& state, Reading& reading);

}  // namespace assay::plan
