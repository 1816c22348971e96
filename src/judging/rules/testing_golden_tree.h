// For tests: submission trees that pass every rule, made in memory so that a mutation is one line,
// and written to disk to be read like any other. All values are invented and agree only with each
// other. Two kinds: a single-turn curve of 11 points with a dedicated Offline point, and an agentic
// curve of 7.
#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/files.h"
#include "base/format.h"
#include "base/json.h"

namespace assay::rules {

// Writes block YAML of maps and scalars; lists in one line.
inline std::string simple_yaml(const Json& map, int indent = 0) {
  std::string out;
  for (const auto& [name, value] : map.members()) {
    out += std::string(static_cast<std::size_t>(indent), ' ') + name + ":";
    const bool block = value.is_object() && value.size() > 0;
    out += block ? "\n" + simple_yaml(value, indent + 2) : " " + value.dump() + "\n";
  }
  return out;
}

struct GoldenTree {
  std::map<std::string, Json> documents{};     // by path; .yaml or .json
  std::map<std::string, std::string> texts{};  // anything else
  std::string curve{};                         // results/<system>/<model>

  Json& operator()(std::string_view point, std::string_view file) {
    return documents.at(format("{}/{}/{}", curve, point, file));
  }
  Json& point(std::string_view name) { return (*this)(name, "point.yaml"); }
  Json& summary(std::string_view name) { return (*this)(name, "result_summary.json"); }
  Json& description(std::string_view name) { return (*this)(name, "system_desc.json"); }
  Json& accuracy(std::string_view name) { return (*this)(name, "accuracy_results.json"); }
  Json& power() { return documents.at(curve.substr(0, curve.rfind('/')) + "/system_power.json"); }

  // Returns the names of the points' folders.
  std::vector<std::string> points() const {
    std::vector<std::string> out;
    for (const auto& [path, ignored] : documents) {
      if (!path.ends_with("/point.yaml") || !path.starts_with(curve + "/")) continue;
      out.push_back(path.substr(curve.size() + 1, path.size() - curve.size() - 12));
    }
    return out;
  }
  void each(std::string_view file, const std::function<void(Json&)>& change) {
    for (auto& [path, document] : documents) {
      if (path.ends_with("/" + std::string(file))) change(document);
    }
  }
  void erase(std::string_view prefix) {
    std::erase_if(documents, [&](const auto& one) { return one.first.starts_with(prefix); });
    std::erase_if(texts, [&](const auto& one) { return one.first.starts_with(prefix); });
  }
  void drop(std::string_view name) { erase(format("{}/{}/", curve, name)); }
  // Replaces the document by text, to break it.
  void replace(std::string_view name, std::string_view file, std::string text) {
    const std::string path = format("{}/{}/{}", curve, name, file);
    documents.erase(path);
    texts[path] = std::move(text);
  }
  void rename(std::string_view from, std::string_view to) {
    std::map<std::string, Json> renamed;
    const std::string old = std::string(from);
    for (auto& [path, document] : documents) {
      const bool inside = path.starts_with(old);
      renamed[inside ? std::string(to) + path.substr(old.size()) : path] = std::move(document);
    }
    documents = std::move(renamed);
  }
  // Adds a point: a copy of another, at its own concurrency and with a scatter of its own, as of
  // another run.
  void copy(std::string_view from, std::int64_t concurrency) {
    std::map<std::string, Json> copies;
    const std::string old = format("{}/{}/", curve, from);
    for (const auto& [path, document] : documents) {
      if (!path.starts_with(old) || path.ends_with("accuracy_results.json")) continue;
      copies[format("{}/r{}/{}", curve, concurrency, path.substr(old.size()))] = document;
    }
    documents.merge(copies);
    const std::string name = format("r{}", concurrency);
    point(name).set("concurrency", concurrency);
    summary(name).find("latency")->set("std_dev", concurrency);
  }

  // Returns every file as text.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> out = texts;
    for (const auto& [path, document] : documents) {
      out[path] = path.ends_with(".yaml") ? simple_yaml(document) : document.dump(2) + "\n";
    }
    return out;
  }
  void write(const std::filesystem::path& root) const {
    for (const auto& [path, text] : files()) save(root / path, text);
  }

 private:
  static void save(const std::filesystem::path& path, std::string_view text) {
    std::filesystem::create_directories(path.parent_path());
    std::FILE* file = std::fopen(path.c_str(), "wb");
    CHECK(file != nullptr);
    CHECK(std::fwrite(text.data(), 1, text.size(), file) == text.size());
    CHECK(std::fclose(file) == 0);
  }
};

inline Json golden_description(std::int64_t c_max) {
  Json accelerator;
  accelerator.set("accelerator_model_name", "Example GPU")
      .set("accelerators_per_node", 8)
      .set("accelerator_memory_capacity", "192 GB")
      .set("accelerator_memory_type", "HBM3e");
  Json node;
  node.set("system_node_ensemble_id", 0)
      .set("number_of_nodes", 1)
      .set("host_processor_model_name", "Example CPU 64-core")
      .set("host_processors_per_node", 2)
      .set("host_processor_core_count", 64)
      .set("host_memory_capacity", "2 TB")
      .set("host_memory_configuration", "24x 96GB DDR5-5600")
      .set("accelerator_info", Json().push_back(std::move(accelerator)))
      .set("host_network_card_count", "8x 400 GbE")
      .set("cooling", "air")
      .set("driver", "590.10")
      .set("filesystem", "ext4");
  return Json()
      .set("division", "Standardized")
      .set("system_name", "Example 8x")
      .set("shortened_system_name", "Ex8x")
      .set("system_availability_status", "Available")
      .set("availability_url", "https://example.org/buy")
      .set("system_size", "8 accelerators")
      .set("system_node_ensemble_count", 1)
      .set("system_node_ensemble_total", 1)
      .set("max_supported_concurrency", c_max)
      .set("serving_framework", "SGLang 0.5")
      .set("node_types", Json().push_back(std::move(node)))
      .set("disaggregated", 0)
      .set("expert_parallel", 1)
      .set("tensor_parallel", 8)
      .set("pipeline_parallel", 1)
      .set("data_parallel", 1)
      .set("batch", 256)
      .set("config_summary", "TP 8");
}

inline Json golden_power() {
  const auto sourced = [](int watts, std::string_view url) {
    return Json().set("value_w", watts).set("source_type", "vendor_spec").set("source", url);
  };
  Json parts;
  parts.set("cpu", Json()
                       .set("model", "Example CPU 64-core")
                       .set("count_per_node", 2)
                       .set("tdp_per_unit", sourced(350, "https://example.org/cpu")));
  parts.set("accelerator", Json()
                               .set("model", "Example GPU")
                               .set("count_per_node", 8)
                               .set("tdp_per_unit", sourced(1000, "https://example.org/gpu")));
  parts.set("scale_up_network", Json().set("method", "none"));
  Json set;
  set.set("node_set_id", 0)
      .set("system_node_ensemble_id", 0)
      .set("nodes_provisioned", 1)
      .set("power_method", "component_sum")
      .set("components", std::move(parts));
  return Json()
      .set("system_desc_id", "ex8x")
      .set("cooling", "air")
      .set("node_sets", Json().push_back(std::move(set)))
      .set("scale_out", Json().set("present", false))
      .set("computed", Json()
                           .set("major_components_w", 8700)
                           .set("overhead_fraction", 0.5)
                           .set("other_components_w", 4350)
                           .set("total_system_power_w", 13050))
      .set("provisioned_power_kw", 13.05)
      .set("mlc_estimated_power", false);
}

inline Json golden_seeds() {
  return Json()
      .set("scheduler_rng_seed", 10'487'924'139'932'647'040U)
      .set("sample_index_rng_seed", 586'478'644'936'801'402U)
      .set("model_seed", 9'315'206'023'656'308'754U);
}

inline Json golden_point(std::int64_t concurrency, std::string_view region, std::string_view model,
                         std::string_view dataset, std::int64_t c_max) {
  Json runtime;
  runtime.set("load_pattern", "concurrency")
      .set("min_duration_ms", 1'200'000)
      .set("min_sample_count", 6396)
      .set("stream_all_chunks", false)
      .set("runtime", golden_seeds())
      .set("warmup", Json().set("salt", false));
  Json warmup;
  warmup.set("duration_s", 240)
      .set("requests_issued", 128)
      .set("requests_completed", 128)
      .set("data_source", "synthetic prompts, fixed word list v1")
      .set("concurrency", concurrency)
      .set("initialization_steps", Json().push_back("engine load").push_back("graph capture"))
      .set("logs_retained", true)
      .set("link_logs", "docs/warmup.jsonl");
  Json steady;
  steady.set("status", "windowable").set("verdict", "STEADY STATE");
  steady.set("window", Json()
                           .set("super_pass_start", 2)
                           .set("super_pass_end", 6)
                           .set("super_pass_size", 6396)
                           .set("n_samples", 31'980)
                           .set("duration_s", 1310.5));
  steady.set("state", Json().set("tpot_p50", "Plateau").set("tpot_p90", "Plateau"));
  return Json()
      .set("concurrency", concurrency)
      .set("region", region)
      .set("dataset", dataset)
      .set("runtime_settings", std::move(runtime))
      .set("warmup", std::move(warmup))
      .set("division", "Standardized")
      .set("max_supported_concurrency", c_max)
      .set("model_name", model)
      .set("model_precision", "FP4")
      .set("link_to_model", "https://example.org/model")
      .set("dataset_name", "Example set")
      .set("dataset_type", "Performance")
      .set("dataset_link", "https://example.org/dataset")
      .set("offline", "none")
      .set("steady_state", std::move(steady))
      .set("shared_src", "src/sglang")
      .set("shared_docs", "docs")
      .set("seed_set", "A")
      .set("target_cohort", "2026-10-C1");
}

// The client's settings that a reader of the tree uses.
inline Json golden_config(std::int64_t concurrency, std::string_view model,
                          std::string_view dataset) {
  return Json()
      .set("type", "online")
      .set("model_params", Json().set("name", model).set("streaming", "on"))
      .set("datasets", Json().push_back(Json().set("name", dataset).set("type", "performance")))
      .set("endpoint_config", Json().set("api_key", "<redacted>"))
      .set("settings",
           Json().set("load_pattern",
                      Json().set("type", "concurrency").set("target_concurrency", concurrency)));
}

inline double golden_tpot_ms(std::int64_t concurrency) {
  return 8 + 0.03 * static_cast<double>(concurrency);
}

inline Json golden_summary(std::int64_t concurrency, double system_tps, double seconds = 1500) {
  const double tpot = golden_tpot_ms(concurrency);
  const double ttft = 50 + 0.8 * static_cast<double>(concurrency);
  const auto block = [](double p90_ms) {
    return Json()
        .set("avg", p90_ms * 0.8e6)
        .set("percentiles", Json().set("50.0", p90_ms * 0.7e6).set("90.0", p90_ms * 1e6));
  };
  const auto tokens = static_cast<std::int64_t>(system_tps * seconds);
  return Json()
      .set("version", "1.0")
      .set("git_sha", "feedface")
      .set("test_started_at", 1'790'000'000)
      .set("n_samples_issued", 31'980)
      .set("n_samples_completed", 31'980)
      .set("n_samples_failed", 0)
      .set("duration_ns", static_cast<std::int64_t>(seconds * 1e9))
      .set("state", "complete")
      .set("complete", true)
      .set("ttft", block(ttft))
      .set("tpot", block(tpot))
      .set("latency", block(tpot * 100))
      .set("output_sequence_lengths", Json().set("total", tokens))
      .set("system_tps", system_tps)
      .set("tps_per_user", 1000 / tpot);
}

inline double golden_tps(std::int64_t concurrency) {
  return 900 * static_cast<double>(concurrency) / golden_tpot_ms(concurrency);
}

inline void golden_shared(GoldenTree& tree) {
  tree.documents[tree.curve.substr(0, tree.curve.rfind('/')) + "/system_power.json"] =
      golden_power();
  tree.texts["src/sglang/README.md"] = "How to launch it.\n";
  tree.texts["docs/software_disclosure.txt"] = "What runs.\n";
}

inline GoldenTree golden_tree() {
  GoldenTree tree{.curve = "results/Example_8x/gpt-oss-120b"};
  golden_shared(tree);
  const std::map<std::int64_t, std::string_view> regions{
      {8, "low_latency"},        {16, "low_concurrency"},    {40, "submitters_choice"},
      {48, "med_concurrency"},   {64, "submitters_choice"},  {96, "submitters_choice"},
      {128, "high_concurrency"}, {256, "submitters_choice"}, {512, "submitters_choice"},
      {1024, "high_concurrency"}};
  constexpr std::int64_t kMax = 1024;
  constexpr std::int64_t kOffline = 6396;
  const double best = golden_tps(kMax) * 1.1;
  const auto add = [&](std::int64_t concurrency, std::string_view region, double tps) {
    const std::string at = format("{}/r{}/", tree.curve, concurrency);
    tree.documents[at + "point.yaml"] =
        golden_point(concurrency, region, "gpt-oss-120b", "mlperf_gpt_oss_performance", kMax);
    tree.documents[at + "config.yaml"] =
        golden_config(concurrency, "gpt-oss-120b", "mlperf_gpt_oss_performance");
    tree.documents[at + "system_desc.json"] =
        golden_description(kMax).set("tps_utilization", std::round(tps / best * 1000) / 1000);
    tree.documents[at + "result_summary.json"] =
        golden_summary(concurrency, tps).set("system_tps_per_kw", tps / 13.05);
  };
  for (const auto& [concurrency, region] : regions)
    add(concurrency, region, golden_tps(concurrency));
  add(kOffline, "submitters_choice", best);
  tree.point("r6396").set("offline", "dedicated").erase("steady_state");
  tree.point("r6396").find("runtime_settings")->set("load_pattern", "max_throughput");
  tree.summary("r6396").erase("tpot");
  tree.summary("r6396").erase("ttft");
  tree.summary("r6396").erase("tps_per_user");
  for (const std::string_view name : {"r8", "r16", "r48", "r1024", "r6396"}) {
    Json entry;
    entry.set("dataset_name", "mlperf_gpt_oss_accuracy")
        .set("score", Json().set("exact_match", 0.8342))
        .set("unit_samples", 4395)
        .set("num_repeats", 1)
        .set("complete", true)
        .set("dataset_type", "accuracy");
    tree.documents[format("{}/{}/accuracy_results.json", tree.curve, name)] =
        Json().set("accuracy_scores", Json().push_back(std::move(entry)));
  }
  return tree;
}

inline GoldenTree golden_agentic_tree() {
  GoldenTree tree{.curve = "results/Example_8x/qwen3_6-35b-a3b"};
  golden_shared(tree);
  constexpr std::int64_t kMax = 512;
  const std::map<std::int64_t, std::string_view> regions{
      {32, "low_latency"},      {36, "low_concurrency"},   {48, "submitters_choice"},
      {64, "med_concurrency"},  {96, "submitters_choice"}, {256, "submitters_choice"},
      {512, "high_concurrency"}};
  for (const auto& [concurrency, region] : regions) {
    const std::string at = format("{}/r{}/", tree.curve, concurrency);
    const double tps = golden_tps(concurrency);
    Json point = golden_point(concurrency, region, "qwen3_6-35b-a3b",
                              "agentic_inference_conversations", kMax);
    point.erase("offline");
    point.erase("steady_state");
    Json& settings = *point.find("runtime_settings");
    settings.set("load_pattern", "agentic_inference");
    settings.set("agentic_inference", Json()
                                          .set("enable_salt", true)
                                          .set("inject_tool_delay", true)
                                          .set("stop_issuing_on_first_user_complete", false)
                                          .set("num_trajectories_to_issue", 1226));
    tree.documents[at + "point.yaml"] = std::move(point);
    tree.documents[at + "config.yaml"] =
        golden_config(concurrency, "qwen3_6-35b-a3b", "agentic_inference_conversations");
    tree.documents[at + "system_desc.json"] = golden_description(kMax).set(
        "tps_utilization", std::round(tps / golden_tps(kMax) * 1000) / 1000);
    tree.documents[at + "result_summary.json"] =
        golden_summary(concurrency, tps, 2600)
            .set("output_tokens_per_turn_total", 120'000)
            .set("e2e_turn_time_seconds_total", 2400)
            .set("e2e_avg_interactivity", 50.0)
            .set("output_sequence_lengths_full_run",
                 Json().set("output_sequence_lengths", Json().set("avg", 383.4)));
    Json scores = Json::array();
    scores.push_back(Json()
                         .set("dataset_name", "agentic_coding")
                         .set("dataset_type", "performance")
                         .set("score", 0.5701)
                         .set("unit_samples", 613)
                         .set("num_repeats", 2));
    if (region != "submitters_choice") {
      scores.push_back(Json()
                           .set("dataset_name", "swe_bench")
                           .set("dataset_type", "accuracy")
                           .set("score", 0.71)
                           .set("unit_samples", 200)
                           .set("num_repeats", 1));
    }
    tree.documents[at + "accuracy_results.json"] = Json().set("accuracy_scores", std::move(scores));
  }
  return tree;
}

}  // namespace assay::rules
