// Are two answers of MATH the same, by the verdict of PRM800K's grader (Lightman 2023), which
// DeepSeek-R1's and GPT-OSS's evaluators call? First a normal form of LaTeX, then a normal form of
// plain text (units, percent, "and", mixed numbers), then tuples element by element, where a
// fraction must be reduced and an integer must be the same, and all else may be equal as an
// expression. Its verdict is kept also where it is plainly wrong; math_equal.h is our own.
// Pure; any thread.
#pragma once

#include <string_view>

namespace assay::score {

bool prm800k_equal(std::string_view answer, std::string_view truth);

}  // namespace assay::score
