// ${NAME}, ${NAME:-default}, $NAME and $$ in a config's values (never in its keys), by the
// reference client's rules: a variable that is not set is an error, an empty one is empty. Pure,
// except that it reads variables.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace assay::plan {

// The value of a variable; nullopt: not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

// The variables of this process.
Environment process_environment();

Result<std::string> expand(std::string_view text, const Environment& environment);

}  // namespace assay::plan
