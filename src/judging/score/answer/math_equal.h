// Whether two answers of a mathematics problem are the same: first as spelled, then as LaTeX with
// its spellings evened out (fractions, roots, units, text, sizes), then as numbers, element by
// element where they are tuples or intervals. What would need a computer algebra system (is
// (x+1)^2 the same as x^2+2x+1?) is tried by evaluating both at a few points.
//
// After the graders of MATH (Hendrycks 2021) and PRM800K (Lightman 2023), which the suite uses.
// Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay::score {

bool math_equal(std::string_view answer, std::string_view truth);
// The spelling after evening out.
std::string normalize_latex(std::string_view text);
// The value of an expression without variables: numbers, + − * / ^, \frac, \sqrt, \pi, brackets.
// `x`: what every variable stands for; nothing where it is no such expression.
std::optional<double> evaluate_latex(std::string_view text, std::optional<double> x = {});

}  // namespace assay::score
