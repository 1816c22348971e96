// Reads the config of a recorded run from its folder. The environment may be gone: a variable that
// is not set here is read as the word "unset", since no request will be made.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "plan/config.h"

namespace assay::campaign {

Result<plan::Config> recorded_config(const std::filesystem::path& folder);

}  // namespace assay::campaign
