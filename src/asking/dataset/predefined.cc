#include "dataset/predefined.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <vector>

namespace assay::dataset {
namespace {

constexpr std::array<Predefined, 12> kPredefined{{
    {"aime25", "Hugging Face opencompass/AIME2025, configs AIME2025-I and AIME2025-II, split test",
     "question, answer", "gptoss"},
    {"gpqa", "Hugging Face Idavidrein/gpqa, config gpqa_diamond, split train",
     "Question, Correct Answer, Incorrect Answer 1, Incorrect Answer 2, Incorrect Answer 3",
     "gptoss"},
    {"livecodebench", "Hugging Face livecodebench/code_generation_lite, release_v6",
     "question, starter_code, question_id", "gptoss"},
    {"cnn_dailymail", "Hugging Face abisee/cnn_dailymail, 3.0.0, split validation",
     "article, highlights", "llama3_8b"},
    {"open_orca",
     "the MLCommons download page of inference/language/llama2-70b (Open Orca, 24,576 "
     "rows)",
     "question, system_prompt", "llama2_70b"},
    {"random", "no file: prompts are made from a seed", "prompt"},
    {"shopify_product_catalogue", "Hugging Face Shopify/product-catalogue, splits train and test",
     "product_title, product_description, potential_product_categories, product_image",
     "q3vl, q3vl_loadgen"},
    {"shopify_product_catalogue_8k",
     "Hugging Face nvidia/Shopify-product-catalogue-8k, split train",
     "product_title, product_description, potential_product_categories, product_image",
     "q3vl, q3vl_loadgen"},
    {"legacy_mlperf_deepseek_r1", "the MLCommons download page of inference/language/deepseek-r1",
     "input_tokens, ground_truth"},
    {"bfcl_v4", "Berkeley Function Calling Leaderboard v4 (Gorilla project)",
     "messages, tools, tool_choice", "function_calling"},
    {"swe_bench", "Hugging Face princeton-nlp/SWE-bench_Verified or SWE-bench_Lite, split test",
     "prompt, instance_id"},
    {"agentic_inference_conversations", "your own conversations, one row a turn",
     "conversation_id, turn, role, content"},
}};

}  // namespace

std::optional<Predefined> predefined(std::string_view name) {
  const std::string_view id = name.substr(0, name.find("::"));
  for (const Predefined& entry : kPredefined) {
    if (entry.id == id) return entry;
  }
  return std::nullopt;
}

std::string_view presets_of(std::string_view id) {
  const auto entry = predefined(id);
  return !entry || entry->presets.empty() ? "none" : entry->presets;
}

std::string find_predefined(std::string_view name) {
  const auto entry = predefined(name);
  if (!entry) return {};
  const std::string id(entry->id);
  const char* told = std::getenv("ASSAY_DATASETS");
  std::vector<std::filesystem::path> folders{"datasets", "dataset_cache/" + id};
  if (told != nullptr && *told != '\0') folders.insert(folders.begin(), told);
  for (const std::filesystem::path& folder : folders) {
    for (const char* extension : {".parquet", ".jsonl", ".json", ".csv"}) {
      std::error_code ignored;
      const std::filesystem::path path = folder / (id + extension);
      if (std::filesystem::is_regular_file(path, ignored)) return path.string();
    }
  }
  return {};
}

}  // namespace assay::dataset
