// Values written as Python writes them, for benchmarks whose prompts are made by Python: json.dumps
// with its defaults, and repr. Pure.
#pragma once

#include <string>

#include "base/json.h"

namespace assay::dataset {

// json.dumps(value): separators ", " and ": ", and characters beyond ASCII as \uXXXX.
std::string python_json(const Json& value);
// repr(value): text in single quotes, unless it has one and no double quote; True, False, None.
std::string python_repr(const Json& value);

}  // namespace assay::dataset
