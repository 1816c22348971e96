// The settings of the reference client's shipped examples (spec/endpoints_client.md, appendix C):
// each must load unchanged, and name the reason if it cannot be run yet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "plan/config_reader.h"
#include "plan/make_plan.h"

namespace assay::plan {
namespace {

using testing::Contains;
using testing::HasSubstr;

struct Example {
  const char* name = "";
  const char* yaml = "";
  const char* refused = "";  // why make_plan cannot make a plan of it; "" where it can
  bool skips = false;        // its accuracy phase
};

const Example kExamples[] = {
    {"offline, local file", R"(
type: offline
model_params: {name: m, temperature: 0.7, top_p: 0.9, max_new_tokens: 1024}
datasets: [{name: cnn, path: cnn_dailymail_train.json, samples: 100, parser: {prompt: article}}]
settings:
  runtime: {min_duration_ms: 6000, max_duration_ms: 60000}
  load_pattern: {type: max_throughput}
  client: {num_workers: 4}
endpoint_config: {endpoints: ['http://localhost:8000']}
timeout: 60
)",
     ""},
    {"online, poisson", R"(
type: "online"
model_params: {name: llama2-70b, max_new_tokens: 1024, streaming: "on"}
datasets: [{name: cnn, path: cnn_dailymail_train.json}]
settings:
  runtime: {min_duration_ms: 60000, max_duration_ms: 180000}
  load_pattern: {type: "poisson", target_qps: 10.0}
endpoint_config: {endpoints: ['http://localhost:8000']}
)",
     ""},
    {"gpt-oss at a concurrency, per-dataset limits", R"(
type: online
model_params:
  {name: openai/gpt-oss-120b, temperature: 1.0, top_k: -1, top_p: 1.0, max_new_tokens: 10240,
   streaming: 'on'}
datasets:
  - {name: perf, type: performance, path: perf_eval_ref.parquet,
     parser: {input_tokens: input_tokens}}
  - name: aime25::gptoss
    type: accuracy
    generation_config_override: {max_new_tokens: 32768}
    accuracy_config: {eval_method: pass_at_1, ground_truth: answer,
                      extractor: boxed_math_extractor, num_repeats: 8}
  - name: livecodebench::gptoss
    type: accuracy
    accuracy_config:
      {eval_method: code_bench_scorer, extractor: python_code_extractor, num_repeats: 3}
settings:
  runtime: {n_samples_to_issue: 4096}
  load_pattern: {type: concurrency, target_concurrency: 512}
  client: {num_workers: 8, warmup_connections: 0}
endpoint_config: {endpoints: ['http://localhost:30000'], api_type: sglang}
)",
     ""},
    {"submission with a ruleset", R"(
type: submission
benchmark_mode: online
submission_ref: {model: llama2-70b, ruleset: mlperf-inference-v5.1}
datasets:
  - {name: 'open_orca::llama2_70b', type: performance}
  - {name: 'open_orca::llama2_70b', type: accuracy,
     accuracy_config: {eval_method: rouge, ground_truth: response, extractor: identity_extractor}}
settings: {load_pattern: {type: poisson, target_qps: 10}, runtime: {min_duration_ms: 600000}}
endpoint_config: {endpoints: ['http://localhost:8000']}
)",
     ""},
    {"multimodal with a warm-up", R"(
type: online
model_params: {name: Qwen/Qwen3-VL-235B-A22B-Instruct, max_new_tokens: 150}
datasets:
  - {name: 'shopify_product_catalogue::q3vl', type: performance}
  - {name: 'shopify_product_catalogue::q3vl', type: accuracy,
     accuracy_config: {eval_method: shopify_category_f1, ground_truth: ground_truth_category}}
settings:
  load_pattern: {type: poisson, target_qps: 5}
  runtime: {min_duration_ms: 600000}
  warmup: {enabled: true, salt: false}
  client: {max_connections: 1000, num_workers: 5}
endpoint_config: {endpoints: ['http://localhost:8000'], api_type: openai}
)",
     ""},
    {"video with an audit", R"(
type: submission
benchmark_mode: offline
submission_ref: {model: wan-2.2, ruleset: mlperf-inference-v6.1}
model_params: {name: wan22, max_new_tokens: 1, streaming: 'off'}
datasets: [{name: wan22, type: performance, path: wan22_prompts.jsonl, samples: 248}]
settings: {runtime: {n_samples_to_issue: 248}, load_pattern: {type: max_throughput}}
endpoint_config: {endpoints: ['http://localhost:8000'], api_type: videogen}
audit: {test: output_caching_test, samples: 20, audit_samples: 20, sample_index: 0}
)",
     ""},
    {"agentic", R"(
type: online
model_params: {name: moonshotai/Kimi-K3, temperature: 1, top_p: 1, max_new_tokens: 8192,
               streaming: 'on', tokenizer_name: '${MODEL_DIR}',
               chat_template_kwargs: {preserve_thinking: true}}
datasets:
  - name: agentic
    type: performance
    path: conversations.jsonl
    agentic_inference: {turn_timeout_s: 14400, enable_salt: true, inject_tool_delay: true,
                        num_trajectories_to_issue: 613}
    accuracy_config: {eval_method: agentic_inference_inline}
settings:
  runtime: {min_duration_ms: 0, max_duration_ms: 36000000}
  load_pattern: {type: agentic_inference, target_concurrency: 8}
  drain: {performance_timeout_s: null}
  client: {warmup_connections: 0}
endpoint_config: {endpoints: ['http://localhost:8000'], api_type: openai}
timeout: 14400
)",
     ""},
    // The default mode of the reference client is performance here, so the phase of SWE-bench is
    // skipped.
    {"agentic with a phase of SWE-bench", R"(
type: online
model_params: {name: Qwen/Qwen3.6-35B-A3B, temperature: 1, top_p: 0.95, top_k: 20,
               max_new_tokens: 8192, streaming: 'on', tokenizer_name: '${MODEL_DIR}',
               chat_template_kwargs: {preserve_thinking: true}}
datasets:
  - name: agentic
    type: performance
    path: conversations.jsonl
    agentic_inference: {turn_timeout_s: 14400, enable_salt: true, inject_tool_delay: true,
                        num_trajectories_to_issue: 613}
    accuracy_config: {eval_method: agentic_inference_inline}
  - name: swe_bench
    type: accuracy
    accuracy_config:
      eval_method: swe_bench_scorer
      num_repeats: 1
      extras: {swebench_service_url: 'http://localhost:18080', subset: verified, split: test,
               num_instances: 100, workers: 8, max_eval_workers: 10, swebench_template: qwen_tools}
settings:
  runtime: {min_duration_ms: 0, max_duration_ms: 36000000}
  load_pattern: {type: agentic_inference, target_concurrency: 8}
  drain: {performance_timeout_s: null}
  client: {warmup_connections: 0}
endpoint_config: {endpoints: ['http://localhost:8000'], api_type: openai}
)",
     "", true},
    {"edge, one stream", R"(
type: online
submission_ref: {model: qwen3.6-27b, ruleset: mlperf-edge-current}
model_params: {name: Qwen/Qwen3.6-27B, temperature: 0, max_new_tokens: 1024, seed: 42}
datasets:
  - {name: perf, path: perf.jsonl}
  - name: bfcl_v4::function_calling
    type: accuracy
    generate_params: {categories: [non_live, live, hallucination], sample_pct: 10}
    accuracy_config: {eval_method: bfcl_v4}
settings:
  runtime: {max_duration_ms: 14400000, min_duration_ms: 0}
  load_pattern: {type: concurrency, target_concurrency: 1}
  client: {num_workers: 1, max_connections: 1}
endpoint_config: {endpoints: ['http://localhost:8000']}
)",
     ""},
};

TEST(ReferenceExamples, load_as_they_are) {
  for (const Example& example : kExamples) {
    ConfigReader reader(
        [](const std::string& name) -> std::optional<std::string> {
          if (name == "MODEL_DIR") return "/models/kimi";
          return std::nullopt;
        },
        28232);
    reader.read_text(example.yaml, example.name);
    const auto loaded = reader.finish();
    ASSERT_TRUE(loaded) << loaded.error().message;
    std::vector<Dataset> datasets(loaded->config.datasets.size());
    for (Dataset& dataset : datasets) {
      dataset.samples = {{.prompt = "a"}, {.prompt = "b"}};
      if (!loaded->config.datasets[0].agentic_inference) continue;
      const Json system = Json().set("role", "system").set("content", "be brief");
      dataset.samples = {{.messages = Json::array().push_back(system)}};
      dataset.conversations = {{{{0, {}}}}};
    }
    const auto bundle = make_plan(loaded->config, std::move(datasets));
    if (std::string_view(example.refused).empty()) {
      ASSERT_TRUE(bundle) << example.name << ": " << bundle.error().message;
      EXPECT_EQ(bundle->plan.phases.back().kind == PhaseKind::accuracy,
                loaded->config.datasets.size() > 1 && !example.skips)
          << example.name;
      EXPECT_EQ(example.skips, testing::Value(bundle->notes, Contains(HasSubstr("is left out"))))
          << example.name;
    } else {
      ASSERT_FALSE(bundle) << example.name;
      EXPECT_EQ(bundle.error().code, Code::unsupported);
      EXPECT_THAT(bundle.error().message, HasSubstr(example.refused));
    }
  }
}

}  // namespace
}  // namespace assay::plan
