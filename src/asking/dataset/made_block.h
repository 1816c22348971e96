// The stand-in for a block of a prompt that a trace names by its hash: token ids, or words. The
// same generator gives the same block, and a short block is the beginning of the full one.
#pragma once

#include <cstdint>

#include "base/rng.h"
#include "domain/sample.h"

namespace assay::dataset {

// Appends the first `size` of a block of `block` tokens to input_tokens, or words to prompt.
// REQUIRES: 0 < size <= block.
void append_made(Sample& sample, std::int64_t size, std::int64_t block, Rng& rng, bool token_ids);

}  // namespace assay::dataset
