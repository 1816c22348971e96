// The flags of RunSettings, for `assay run` and related commands.
#pragma once

#include <set>
#include <string>

#include "base/flags.h"
#include "campaign/run_settings.h"

namespace assay::cli {

// Adds --config and every setting's flag, except those that the command sets itself. `settings`
// must outlive flags.parse().
void add_run_flags(Flags& flags, campaign::RunSettings& settings,
                   const std::set<std::string>& without = {});
// The flags that state a use of data, for the policies of Croissant files.
void add_use_flags(Flags& flags, dataset::UseWords& use);

}  // namespace assay::cli
