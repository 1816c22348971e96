// The model's own tokenizer at work on a run: loaded before the run, so that a wrong path costs
// nothing, and used after its clock has stopped. Wiring only; the counting is
// campaign/token_counter.h.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "domain/request_spec.h"
#include "metrics/token_counts.h"
#include "plan/make_plan.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace assay::campaign {

struct CountingTokenizer {
  std::unique_ptr<const text::Tokenizer> tokenizer{};
  std::optional<text::ChatFormat> chat{};  // where the API takes messages and the folder has one
  Json about{};                            // for TokenCounts::source
};

// `name`: model_params.tokenizer_name.
Result<CountingTokenizer> load_counting_tokenizer(const std::string& name, Api api);
// The one that the config names; nullopt where it names none.
Result<std::optional<CountingTokenizer>> counting_tokenizer_of(const plan::Config& config,
                                                               const plan::PlanBundle& bundle);

// Counts the run in `folder` and writes assay/token_counts.jsonl.
Result<void> count_tokens(const std::filesystem::path& folder, const CountingTokenizer& counting,
                          const plan::PlanBundle& bundle);
// Counts again what was recorded, by another tokenizer or where none was at hand, and writes
// nothing. Prompts are counted where the run's datasets are still there; `source` says "input" why
// they were not. Fails where the log keeps no texts.
Result<metrics::TokenCounts> recount_tokens(const std::filesystem::path& folder,
                                            const std::string& tokenizer);

}  // namespace assay::campaign
