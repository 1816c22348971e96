// YAML as a Json value: the one place of the room that knows the YAML library.
//
// Numbers, true, false and null become what they are; everything else stays text. Aliases are
// followed; a file is limited to 1 MiB, so that an alias bomb stays small.
#pragma once

#include <string_view>

#include "base/json.h"

namespace assay::sim {

// `name`: what an error calls the text, usually its path.
Result<Json> parse_yaml(std::string_view text, std::string_view name);

}  // namespace assay::sim
