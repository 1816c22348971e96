// The Porter stemmer (Porter 1980) with NLTK's default extensions, since ROUGE uses those: "dying"
// gives "die", "happy" gives "happi", "enjoy" does not change. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace assay::score {

// REQUIRES: lower-case ASCII letters and digits.
std::string porter_stem(std::string_view word);

}  // namespace assay::score
