// Synthetic datasets: prompts from a seed (SyntheticSpec in dataset.h). Row i is computed from the
// seed and i when it is asked for, so that a million prompts cost no time before a run and no
// memory in it; it is the same whatever `count` is. Pure.
#pragma once

#include "base/result.h"
#include "dataset/dataset.h"
#include "text/tokenizer.h"

namespace assay::dataset {

// The first rows are tried, so that what a tokenizer cannot come to is refused here.
Result<Dataset> make_synthetic(const SyntheticSpec& spec, std::string name);

// Text of exactly `tokens` tokens, `prefix` included, by that tokenizer. Fails where no text of
// common words comes to this number.
Result<std::string> exact_text(const text::Tokenizer& tokenizer, std::string prefix,
                               std::int64_t tokens, Rng& rng);

// Words that come to about `tokens` tokens.
std::string synthetic_text(std::int64_t tokens, Rng& rng);

}  // namespace assay::dataset
