// Text as Python's repr writes it: templates and benchmarks' prompts print lists that way. Pure.
#pragma once

#include <string>
#include <string_view>

namespace assay::text {

// In single quotes, unless it holds one and no double quote. What is not printable is escaped.
std::string python_quoted(std::string_view text);

}  // namespace assay::text
