// Counts a run's tokens with the model's own tokenizer. It is loaded before the run, so that a
// wrong path fails early, and used after the run's clock has stopped. Wiring only; the counting is
// in campaign/token_counter.h.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "metrics/token_counts.h"
#include "plan/make_plan.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace assay::campaign {

struct CountingTokenizer {
  std::unique_ptr<const text::Tokenizer> tokenizer{};
  std::optional<text::ChatFormat> chat{};  // if the API takes messages and the folder has one
  Json about{};                            // for TokenCounts::source
};

// `name`: model_params.tokenizer_name.
Result<CountingTokenizer> load_counting_tokenizer(const std::string& name, Api api);
// The tokenizer that the config names; nullopt if none.
Result<std::optional<CountingTokenizer>> counting_tokenizer_of(const plan::Config& config,
                                                               const plan::PlanBundle& bundle);

// Counts the run in `folder` and writes assay/token_counts.jsonl.
Result<void> count_tokens(const std::filesystem::path& folder, const CountingTokenizer& counting,
                          const plan::PlanBundle& bundle);
// Counts a recorded run again, with another tokenizer or for a run without one, and writes nothing.
// Prompts are counted if the run's datasets still exist; otherwise `source` has the reason in
// "input". Fails if the log keeps no texts.
Result<metrics::TokenCounts> recount_tokens(const std::filesystem::path& folder,
                                            const std::string& tokenizer);

}  // namespace assay::campaign
