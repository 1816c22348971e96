// ${NAME}, ${NAME:-default}, $NAME and $$ in a config's values (never in its keys), by the
// reference client's rules: a variable that is not set is an error, one that is set and empty is
// empty. Pure, but for the variables it asks for.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace assay::plan {

// The value of a variable; nullopt: not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

// The process's own.
Environment process_environment();

Result<std::string> expand(std::string_view text, const Environment& environment);

}  // namespace assay::plan
