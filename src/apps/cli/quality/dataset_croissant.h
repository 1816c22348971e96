// `assay dataset SPEC --croissant OUT`: writes the Croissant metadata of a file of rows, or of a
// folder of results.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace assay::cli {

// `facts`: "license=CC0-1.0" and so on.
Result<int> write_croissant(const std::string& spec, const std::string& out,
                            const std::vector<std::string>& facts);

}  // namespace assay::cli
