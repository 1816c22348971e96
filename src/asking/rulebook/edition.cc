#include "rulebook/edition.h"

#include <algorithm>

#include "base/format.h"
#include "base/text.h"

namespace assay::rulebook {
namespace {

std::vector<Benchmark> benchmarks() {
  // 0.99 of the reference's score for each; the generated length may differ by 10 %.
  const std::vector<AccuracyGate> rouge{{"rouge1", 38.7792 * 0.99, {}},
                                        {"rouge2", 15.9075 * 0.99, {}},
                                        {"rougeL", 24.4957 * 0.99, {}},
                                        {"rougeLsum", 35.793 * 0.99, {}},
                                        {"gen_len", 8'167'644 * 0.9, 8'167'644 * 1.1}};
  return {
      {.name = "llama3_1-8b",
       .repository = "meta-llama/Llama-3.1-8B-Instruct",
       .samples = 13'368,
       .accuracy_samples_min = 13'368,
       .gates = rouge},
      {.name = "gpt-oss-120b",
       .repository = "openai/gpt-oss-120b",
       .samples = 6'396,
       .accuracy_samples_min = 4'395,
       .gates = {{"exact_match", 83.13 * 0.99, {}}}},
      {.name = "deepseek-r1",
       .repository = "deepseek-ai/DeepSeek-R1",
       .samples = 4'388,
       .accuracy_samples_min = 4'388,
       .gates = {{"exact_match", 81.3582 * 0.99, {}}}},
      {.name = "kimi-k3",
       .repository = "moonshotai/Kimi-K3",
       .agentic = true,
       .agentic_gate = {58.32, 93.5, 425, 520}},
      {.name = "qwen3_6-35b-a3b",
       .repository = "Qwen/Qwen3.6-35B-A3B",
       .agentic = true,
       .agentic_gate = {55.86, 69.0, 344, 422}},
      {.name = "deepseek-v4_1-flash",
       .repository = "deepseek-ai/DeepSeek-V4.1-Flash",
       .agentic = true,
       .agentic_gate = {52.36, 96.4, 793, 970}},
  };
}

std::vector<DatasetMinimum> datasets() {
  return {{"open_orca", 24'576},
          {"cnn_dailymail", 13'368},
          {"aime25", 30},
          {"gpqa", 198},
          {"livecodebench", 880},
          {"shopify_product_catalogue", 48'289},
          {"shopify_product_catalogue_8k", 8'000},
          {"mlperf_gpt_oss_performance", 6'396},
          {"mlperf_gpt_oss_accuracy", 4'395},
          {"math500", 500},
          {"legacy_mlperf_deepseek_r1", 4'388}};
}

std::vector<Drafter> drafters() {
  const auto approved = Cohort::parse("2026-09-C1");
  const auto entry = [approved](std::string benchmark, std::string model, std::string revision) {
    return Drafter{.benchmark = std::move(benchmark),
                   .approved = approved,
                   .model_id = std::move(model),
                   .weight_checksum = "git-sha1:" + revision};
  };
  return {
      entry("kimi-k3", "RadixArk/Kimi-K3-DSpark", "3c5bac301d9cf392706189d82ed947feca6c2f0f"),
      entry("kimi-k3", "Inferact/Kimi-K3-DSpark", "cf6b8244620e7ea4b0651d214f28e89eac75bed6"),
      entry("deepseek-v4_1-flash", "deepseek-ai/DeepSeek-V4.1-Flash",
            "dba1be0a40aa45a94ad051997016db3960a90277"),
      entry("qwen3_6-35b-a3b", "Qwen/Qwen3.6-35B-A3B", "995ad96eacd98c81ed38be0c5b274b04031597b0"),
      entry("qwen3_6-35b-a3b", "Qwen/Qwen3.6-35B-A3B-FP8",
            "95a723d08a9490559dae23d0cff1d9466213d989"),
      entry("qwen3_6-35b-a3b", "nvidia/Qwen3.6-35B-A3B-NVFP4",
            "1355db6a052410cfd62085d94b58866fd0f2c3c5"),
      entry("deepseek-r1", "deepseek-ai/DeepSeek-R1", "56d4cbbb4d29f4355bab4b9a39ccb717a14ad5ad"),
      entry("deepseek-r1", "centml/DeepSeek-R1-NVFP4-v2-mlpinf",
            "93947a0d7bd04f73ff98636f6b18ff5839e7aaf9"),
      entry("gpt-oss-120b", "nvidia/gpt-oss-120b-Eagle3-long-context",
            "633caf45f31288cbb70ee237f7c939db707ecc94"),
  };
}

Edition v1_0() {
  Edition edition{.name = "v1.0"};
  edition.region_names = {"low_latency", "low_concurrency", "med_concurrency", "high_concurrency",
                          "margin"};
  edition.benchmarks = benchmarks();
  edition.datasets = datasets();
  edition.seed_sets = {{.id = "A",
                        .cohort = Cohort::parse("2026-10-C1"),
                        .scheduler_rng_seed = 10'487'924'139'932'647'040U,
                        .sample_index_rng_seed = 586'478'644'936'801'402U,
                        .model_seed = 9'315'206'023'656'308'754U}};
  edition.drafters = drafters();
  return edition;
}

Edition v0_7() {
  Edition edition = v1_0();
  edition.name = "v0.7";
  edition.c_min_derived = false;
  edition.pareto_layout = true;
  edition.margin_is_high = true;
  edition.tps_per_user_of_tpot = false;
  edition.ttft_percentile = "95.0";
  edition.region_names = {"low_latency", "low_throughput", "med_throughput", "high_throughput",
                          "margin"};
  edition.duration_s = 600;
  edition.agentic_duration_s = 600;
  edition.seed_sets.clear();  // all seeds were 42
  return edition;
}

// Keeps letters and digits only, in lower case.
std::string bare(std::string_view name) {
  std::string out = lower(name);
  std::erase_if(out, [](char c) { return !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9'); });
  return out;
}

}  // namespace

const Benchmark* Edition::benchmark(std::string_view wanted) const {
  const auto found = std::ranges::find(benchmarks, wanted, &Benchmark::name);
  return found == benchmarks.end() ? nullptr : &*found;
}

const Benchmark* Edition::benchmark_like(std::string_view wanted) const {
  const std::string spelling = bare(wanted);
  for (const Benchmark& one : benchmarks) {
    const std::string_view repository = one.repository;
    const std::string_view weights = repository.substr(repository.find('/') + 1);
    if (spelling == bare(one.name) || wanted == repository || spelling == bare(weights)) {
      return &one;
    }
  }
  return nullptr;
}

std::string Edition::name_of(std::string_view model) const {
  const Benchmark* const found = benchmark_like(model);
  return std::string(found == nullptr ? model : found->name);
}

std::int64_t Edition::samples_of(std::string_view dataset) const {
  for (const std::string_view key : {dataset, dataset.substr(0, dataset.find("::"))}) {
    const auto found = std::ranges::find(datasets, key, &DatasetMinimum::dataset);
    if (found != datasets.end()) return found->samples;
  }
  return 0;
}

const SeedSet* Edition::seed_set(std::string_view id) const {
  const auto found = std::ranges::find(seed_sets, id, &SeedSet::id);
  return found == seed_sets.end() ? nullptr : &*found;
}

Result<Edition> edition_named(std::string_view name) {
  const std::string_view bare_name = name.starts_with('v') ? name.substr(1) : name;
  if (bare_name == "1.0") return v1_0();
  if (bare_name == "0.7") return v0_7();
  return invalid(format("edition: no '{}'; there are v0.7 and v1.0", name));
}

}  // namespace assay::rulebook
