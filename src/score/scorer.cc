#include "score/scorer.h"

#include <array>

#include "base/format.h"
#include "base/text.h"
#include "score/extract.h"

namespace assay::score {
namespace {

struct Entry {
  std::string_view name{};
  Made (*make)(std::string_view, const ScorerOptions&) = nullptr;
  std::string_view about{};
};

constexpr std::array<Entry, 31> kScorers = {{
    {"pass_at_1", make_exact_match, "the extracted answer is the ground truth, to the letter"},
    {"string_match", make_exact_match, "the same, but for spaces around"},
    {"aime", make_exact_match, "the boxed integer, 0 to 999"},
    {"gpqa", make_exact_match, "the choice, A to D or choice1 to choice4"},
    {"mmlu_pro", make_exact_match, "the choice, A to J"},
    {"math500", make_exact_match, "the boxed expression, equal as LaTeX or as a number"},
    {"gsm8k", make_exact_match, "the number after \"The answer is\", else the last one"},
    {"pass_at_k", make_pass_at_k, "pass@k over repeats, unbiased; extras: k, of (a scorer)"},
    {"gpt_oss", make_suite, "GPT-OSS: AIME, GPQA and LiveCodeBench, each by its samples, × 100"},
    {"deepseek_r1", make_suite, "DeepSeek-R1: five subsets together, × 100"},
    {"legacy_mlperf_deepseek_r1", make_suite, "the same by the reference client's name"},
    {"code_bench_scorer", make_code, "the last code block passes all tests of its sample"},
    {"llama3_1_405b", make_long_context, "Llama 3.1 405B: ROUGE-L, needles, answers, by the row"},
    {"mixtral_8x7b", make_mixtral, "Mixtral 8x7B: ROUGE, GSM8K and MBXP's programs, by the row"},
    {"agentic_inference_inline", make_agentic, "a replayed turn's intent or bash programs"},
    {"bfcl_v4", make_bfcl, "function calls against BFCL v4's answer key, single turn"},
    {"swe_bench_scorer", make_external, "as external; reads SWE-bench's own report too"},
    {"rouge", make_rouge, "ROUGE-1, -2, -L, -Lsum with stemmer, × 100"},
    {"shopify_category_f1", make_hierarchical_f1, "hierarchical F1 of Qwen3-VL's categories"},
    {"coco_map", make_coco, "COCO's mAP; replies of seven floats a detection"},
    {"dlrm", make_recommendation, "DLRMv3: normalised entropy, accuracy, GAUC"},
    {"dlrm_v3", make_recommendation, "the same by the workload's name"},
    {"top_1", make_top_1, "the first label is the true one, × 100"},
    {"top1", make_top_1, "the same by the workload's name"},
    {"squad_f1", make_squad_f1, "SQuAD's exact match and F1, × 100"},
    {"wer", make_word_error_rate, "word error rate; extras: ignore_case"},
    {"whisper", make_word_error_rate, "Whisper: 100 - WER of normalised text; extras: spellings"},
    {"token_bounds", make_token_bounds, "tokens a sample; extras: reference, tolerance, low, high"},
    {"vbench", make_external, "as external; VBench's own program is given in extras.command"},
    {"sdxl", make_external, "as external, which says clip_score and fid_score"},
    {"external", make_external, "a program of yours; extras: command, timeout_s"},
}};

const Entry* find(std::string_view name) {
  for (const Entry& entry : kScorers) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

}  // namespace

std::vector<std::string_view> scorer_names() {
  std::vector<std::string_view> out;
  for (const Entry& entry : kScorers) out.push_back(entry.name);
  return out;
}

std::string_view scorer_about(std::string_view name) {
  const Entry* const entry = find(name);
  return entry == nullptr ? std::string_view() : entry->about;
}

Result<std::unique_ptr<Scorer>> make_scorer(std::string_view name, const ScorerOptions& options) {
  ScorerOptions resolved = options;
  if (!options.extractor.empty()) {
    ASSIGN_OR_RETURN(resolved.extractor, find_extractor(options.extractor));
  }
  if (const Entry* const entry = find(name)) return entry->make(name, resolved);
  const std::vector<std::string_view> names = scorer_names();
  std::string all;
  for (const std::string_view known : names) all += (all.empty() ? "" : ", ") + std::string(known);
  const std::string_view near = nearest(name, names);
  return invalid(format("no scorer '{}'{}; there are: {}", name,
                        near.empty() ? "" : format(" (did you mean '{}'?)", near), all));
}

Result<std::string> column_text(const Row& row, std::string_view column) {
  const Json* value = row.columns->find(column);
  if (value == nullptr || value->is_null()) {
    return invalid(format("sample {}: no column '{}' to score against", row.sample, column));
  }
  return value->is_string() ? std::string(value->as_string()) : value->dump();
}

}  // namespace assay::score
