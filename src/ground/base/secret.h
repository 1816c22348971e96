// Secrets: text that nobody can guess, from the system's own source of chance. For tokens and
// nothing else: what must be the same from one seed comes from Rng. Any thread.
#pragma once

#include <string>

namespace assay {

// 32 hex digits, 128 bits.
std::string random_secret();

}  // namespace assay
