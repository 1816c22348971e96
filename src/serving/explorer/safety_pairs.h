// SafetyPairs: how the API compares the safety runs of two curves prompt by prompt. The verdicts
// are derived from event logs by rooms that the explorer does not know, so its owner hands the
// function in.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "base/json.h"
#include "base/result.h"

namespace assay::explorer {

// From the folders of two curves to schema SafetyComparison (docs/formats/api.yaml). `margin`: a
// share above 0. It reads only, and may be called by several threads at once.
using SafetyPairs = std::function<Result<Json>(
    const std::filesystem::path& a, const std::filesystem::path& b, std::optional<double> margin)>;

}  // namespace assay::explorer
