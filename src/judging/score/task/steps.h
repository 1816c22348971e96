// The steps of a task's extraction (docs/formats/task.md): each takes the text of the one before
// it. Pure; any thread. Time is limited for each pattern (text/regex.h); a pattern past the limit
// finds nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "score/answer/extract.h"
#include "task/task.h"

namespace assay::score {

// `rule` of the result is the last step's name; without steps the answer is the whole text.
Extraction apply_steps(const std::vector<task::Step>& steps, std::string_view text);

// The text without the pattern's matches.
std::string without_matches(const text::Regex& pattern, const std::string& text);

}  // namespace assay::score
