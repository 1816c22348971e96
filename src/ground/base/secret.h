// Secrets: random text that cannot be guessed, from the system's random source. For tokens only:
// values that must follow from a seed come from Rng. Any thread.
#pragma once

#include <string>

namespace assay {

// 32 hex digits, 128 bits.
std::string random_secret();

}  // namespace assay
