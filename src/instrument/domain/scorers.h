// The scorers and extractors by name: one list for configs (plan/) and for scoring (score/). A new
// scorer is a row here. A new way of scoring is also an enumerator, and the build then fails until
// score/scorer.cc makes it. Plain data; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace assay {

// A way of scoring; each is one file of score/.
enum class ScorerKind : std::uint8_t {
  exact_match,
  pass_at_k,
  suite,
  code,
  long_context,
  mixtral,
  agentic,
  bfcl,
  external,
  rouge,
  hierarchical_f1,
  coco,
  recommendation,
  clicks,
  boxes_3d,
  rag_db,
  top_1,
  dice,
  squad_f1,
  word_error_rate,
  token_bounds,
  json_schema,
  tool_calls,
  task,
};

struct ScorerFacts {
  std::string_view name{};
  ScorerKind kind = ScorerKind::external;
  bool needs_extractor = false;  // the config must name one
  bool once = false;             // each row is asked once: num_repeats must be 1
  std::string_view about{};      // one line for people: what it expects and reports
};

inline constexpr std::array<ScorerFacts, 40> kScorers = {{
    {"pass_at_1", ScorerKind::exact_match, true, false,
     "the extracted answer is the ground truth, to the letter"},
    {"string_match", ScorerKind::exact_match, true, false, "the same, but for spaces around"},
    {"aime", ScorerKind::exact_match, false, false, "the boxed integer, 0 to 999"},
    {"gpqa", ScorerKind::exact_match, false, false, "the choice, A to D or choice1 to choice4"},
    {"mmlu_pro", ScorerKind::exact_match, false, false, "the choice, A to J"},
    {"math500", ScorerKind::exact_match, false, false,
     "the boxed expression, equal as LaTeX or as a number"},
    {"gsm8k", ScorerKind::exact_match, false, false,
     "the number after \"The answer is\", else the last one"},
    {"pass_at_k", ScorerKind::pass_at_k, false, false,
     "pass@k over repeats, unbiased; extras: k, of (a scorer)"},
    {"gpt_oss", ScorerKind::suite, false, false,
     "GPT-OSS: AIME, GPQA and LiveCodeBench, each by its samples, × 100"},
    {"deepseek_r1", ScorerKind::suite, false, false, "DeepSeek-R1: five subsets together, × 100"},
    {"legacy_mlperf_deepseek_r1", ScorerKind::suite, false, true,
     "the same by the reference client's name"},
    {"code_bench_scorer", ScorerKind::code, true, false,
     "the last code block passes all tests of its sample"},
    {"llama3_1_405b", ScorerKind::long_context, false, false,
     "Llama 3.1 405B: ROUGE-L, needles, answers, by the row"},
    {"mixtral_8x7b", ScorerKind::mixtral, false, false,
     "Mixtral 8x7B: ROUGE, GSM8K and MBXP's programs, by the row"},
    {"agentic_inference_inline", ScorerKind::agentic, false, true,
     "a replayed turn's intent or bash programs"},
    {"bfcl_v4", ScorerKind::bfcl, false, false,
     "function calls against BFCL v4's answer key, single turn"},
    {"bfcl_v4_multi_turn", ScorerKind::external, false, true,
     "BFCL v4's conversations, played by the installed bfcl-eval; extras: endpoint, model"},
    {"swe_bench_scorer", ScorerKind::external, false, true,
     "as external; reads SWE-bench's own report too"},
    {"rouge", ScorerKind::rouge, true, false, "ROUGE-1, -2, -L, -Lsum with stemmer, × 100"},
    {"shopify_category_f1", ScorerKind::hierarchical_f1, false, false,
     "hierarchical F1 of Qwen3-VL's categories"},
    {"coco_map", ScorerKind::coco, false, false, "COCO's mAP; replies of seven floats a detection"},
    {"dlrm", ScorerKind::recommendation, false, false,
     "DLRMv3: normalised entropy, accuracy, GAUC"},
    {"dlrm_v3", ScorerKind::recommendation, false, false, "the same by the workload's name"},
    {"dlrm_v2", ScorerKind::clicks, false, false,
     "DLRM v2: area under the ROC curve and accuracy, × 100"},
    {"waymo_map", ScorerKind::boxes_3d, false, false,
     "PointPainting: mAP of boxes in space; replies of fourteen floats a detection"},
    {"rag_db", ScorerKind::rag_db, false, false,
     "RAG's database: documents that were taken in, × 100; extras: database, a file"},
    {"rag_qna", ScorerKind::external, false, true,
     "the suite's accuracy_results.json of RAG's answers, or as external"},
    {"top_1", ScorerKind::top_1, false, false, "the first label is the true one, × 100"},
    {"top1", ScorerKind::top_1, false, false, "the same by the workload's name"},
    {"dice", ScorerKind::dice, false, false,
     "3D U-Net: mean DICE of kidney and tumour; replies of volumes"},
    {"squad_f1", ScorerKind::squad_f1, false, false, "SQuAD's exact match and F1, × 100"},
    {"wer", ScorerKind::word_error_rate, false, false, "word error rate; extras: ignore_case"},
    {"whisper", ScorerKind::word_error_rate, false, false,
     "Whisper: 100 - WER of normalised text; extras: spellings"},
    {"token_bounds", ScorerKind::token_bounds, false, false,
     "tokens a sample; extras: reference, tolerance, low, high"},
    {"json_schema", ScorerKind::json_schema, false, false,
     "structured output: is it JSON, and does it fit the schema that was sent, × 100"},
    {"tool_calls", ScorerKind::tool_calls, false, false,
     "tool calls: called, the right tool, valid and right arguments, × 100"},
    {"task", ScorerKind::task, false, false, "by a task file; extras: task, a name or a file"},
    {"vbench", ScorerKind::external, false, true,
     "VBench's results file, or as external where extras.command runs VBench"},
    {"sdxl", ScorerKind::external, false, true,
     "the suite's CLIP_SCORE and FID_SCORE, or as external, which says them"},
    {"external", ScorerKind::external, false, false,
     "a program of yours; extras: command, timeout_s"},
}};

// How an answer is found in a reply (score/extract.h), by name.
inline constexpr std::array<std::string_view, 11> kExtractors = {"abcd_extractor",
                                                                 "boxed_math_extractor",
                                                                 "identity_extractor",
                                                                 "python_code_extractor",
                                                                 "letter_aj",
                                                                 "aime_integer",
                                                                 "last_boxed",
                                                                 "gsm8k_number",
                                                                 "first_python_code",
                                                                 "final_channel_code",
                                                                 "function_call_extractor"};

// True for scorers that ask the endpoint by themselves, after a run: no phase of it sends for them.
constexpr bool asks_itself(std::string_view scorer) {
  return scorer == "swe_bench_scorer" || scorer == "bfcl_v4_multi_turn";
}

// Null if the name is unknown.
constexpr const ScorerFacts* find_scorer(std::string_view name) {
  for (const ScorerFacts& one : kScorers) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

}  // namespace assay
