// Secrets: random bytes and text that cannot be guessed, from the system's random source. For
// tokens, keys and masks only: values that must follow from a seed come from Rng. Any thread.
#pragma once

#include <cstddef>
#include <string>

namespace assay {

// REQUIRES: count <= 256, which the kernel gives at once.
std::string random_bytes(std::size_t count);
// 32 hex digits, 128 bits.
std::string random_secret();

}  // namespace assay
