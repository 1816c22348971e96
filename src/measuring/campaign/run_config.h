// The config of a recorded run, read again from its folder. What its environment held is not asked
// for: a variable that is not set here counts as the word "unset", since no request is made.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "plan/config.h"

namespace assay::campaign {

Result<plan::Config> recorded_config(const std::filesystem::path& folder);

}  // namespace assay::campaign
