// Compares two answers of a mathematics problem: first their spelling, then normalized LaTeX
// (fractions, roots, units, text, sizes), then numbers, element by element for tuples and
// intervals. A comparison that needs a computer algebra system (is (x+1)^2 the same as x^2+2x+1?)
// evaluates both at a few points.
//
// Based on the graders of MATH (Hendrycks 2021) and PRM800K (Lightman 2023), which the suite uses.
// Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay::score {

bool math_equal(std::string_view answer, std::string_view truth);
// The normalized spelling.
std::string normalize_latex(std::string_view text);
// The value of an expression without variables: numbers, + − * / ^, \frac, \sqrt, \pi, brackets.
// `x` replaces every variable; nullopt for any other text.
std::optional<double> evaluate_latex(std::string_view text, std::optional<double> x = {});

}  // namespace assay::score
