// Text as Python's repr writes it: templates and benchmarks' prompts print lists so. Pure.
#pragma once

#include <string>
#include <string_view>

namespace assay::text {

// Uses single quotes, unless the text has one and no double quote. Escapes unprintable characters.
std::string python_quoted(std::string_view text);

}  // namespace assay::text
