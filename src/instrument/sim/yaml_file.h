// A YAML file of the catalogue, a scenario or a measured load, as a Json value.
#pragma once

#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace assay::sim {

// `name`: the text's name in errors, usually its path. At most 1 MiB and 200,000 values.
Result<Json> parse_yaml(std::string_view text, std::string_view name);

}  // namespace assay::sim
