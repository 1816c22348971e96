// LaTeX as plain text, as the graders' reader shows it (pylatexenc 2.10): \frac{1}{2} is 1/2,
// \sqrt{2} is √(2), \leq is ≤, a matrix is [ 1 2; 3 4 ], and an unknown command shows its braces'
// content alone. What it shows for broken LaTeX is part of a verdict, so it is the same here.
// Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay::score {

// nullopt where that reader raises, and for text that is nested too deeply.
std::optional<std::string> latex_text(std::string_view latex);

}  // namespace assay::score
