// The Porter stemmer (Porter 1980) with the extensions that NLTK makes by default, since ROUGE is
// computed with those: "dying" is "die", "happy" is "happi", "enjoy" stays. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace assay::score {

// REQUIRES: lower-case ASCII letters and digits.
std::string porter_stem(std::string_view word);

}  // namespace assay::score
