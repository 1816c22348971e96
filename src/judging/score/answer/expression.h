// Is the difference of two expressions zero? As PRM800K's grader asks a computer algebra system:
// digits, + - * / ^ (), sqrt, pi, letters as variables, products without a sign (2x, 3(x+1)),
// factorials. Names are read as that system's parser reads them: xy is x·y, x2 is x·2, xsqrt(2) is
// six letters and a 2. Whatever that parser refuses (a comma, an =, a bracket of a list) is not
// zero.
//
// The difference is evaluated, at several complex points where there are variables, and is zero
// where it vanishes at all of them. Numbers with a point are doubles, as there. Pure; any thread.
#pragma once

#include <string_view>

namespace assay::score {

// Both are normalized (prm800k.cc): without spaces, braces and capitals.
bool difference_is_zero(std::string_view a, std::string_view b);

}  // namespace assay::score
