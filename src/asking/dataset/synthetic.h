// Synthetic datasets: prompts from a seed (SyntheticSpec in dataset.h). Row i is computed from the
// seed and i when it is asked for, so a million prompts take no time before a run and no memory in
// it. Row i is the same for every `count`. Pure.
#pragma once

#include "base/result.h"
#include "dataset/dataset.h"
#include "text/tokenizer.h"

namespace assay::dataset {

// Makes the first rows at once, so that lengths a tokenizer cannot reach are refused here.
Result<Dataset> make_synthetic(const SyntheticSpec& spec, std::string name);

// Returns text of exactly `tokens` tokens by that tokenizer, `prefix` included. Fails if no text of
// common words has this number.
Result<std::string> exact_text(const text::Tokenizer& tokenizer, std::string prefix,
                               std::int64_t tokens, Rng& rng);

// Returns how many words have about this number of tokens.
std::int64_t synthetic_words(std::int64_t tokens);

// Returns words of about `tokens` tokens.
std::string synthetic_text(std::int64_t tokens, Rng& rng);

}  // namespace assay::dataset
