// The account of a run's prefix cache, made after its clock has stopped: every request's body is
// made again as it was sent, its prompt becomes token ids where the request has them or a tokenizer
// is named, else bytes, and observe/prefix_reuse.h counts.
//
// Ids: of the request itself, or of the prompt as the model's chat template renders it. Bytes: the
// body from its prompt's key on, four for a token. Prompts of different models share nothing; in
// bytes, nor do those with different tools or a different system prompt in a field of its own.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.h"
#include "campaign/token_counting.h"
#include "plan/make_plan.h"

namespace assay::campaign {

// Writes assay/prefix_reuse.json into the run folder. `block`: tokens. `counting`: may be null.
Result<void> account_prefix_reuse(const std::filesystem::path& folder,
                                  const plan::PlanBundle& bundle, const CountingTokenizer* counting,
                                  std::uint32_t block);

}  // namespace assay::campaign
