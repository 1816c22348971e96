// Reads figures from a peer's JSON; every error names the file and the member.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "conformance/peer.h"

namespace assay::conformance {

Result<Json> read_json(const std::filesystem::path& file);
// The number at this path of members. `file` is for messages alone.
Result<double> number_at(const Json& json, const std::filesystem::path& file,
                         std::initializer_list<std::string_view> path);

}  // namespace assay::conformance
