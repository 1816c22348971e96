// For tests: a tree in edition v0.7's layout that passes every rule of that edition, and mutations
// of it. C_max 1024: 33-42, 43-131, 132-1024.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/files.h"
#include "rules/testing_mutation.h"

namespace assay::rules {

struct ParetoTree {
  std::map<std::string, Json> json{};
  std::map<std::string, std::string> texts{};

  static constexpr const char* kCurve = "pareto/ex8x/gpt-oss-120b";

  void write(const std::filesystem::path& root) const {
    std::filesystem::remove_all(root);
    for (const auto& [path, document] : json) {
      CHECK(write_file_atomic(root / path, document.dump(2) + "\n"));
    }
    for (const auto& [path, text] : texts) CHECK(write_file_atomic(root / path, text));
  }
};

inline Json pareto_description() {
  return Json()
      .set("division", "Standardized")
      .set("publication_status", "Available")
      .set("availability_url", "https://example.org/buy")
      .set("benchmark_model", "gpt-oss-120b")
      .set("max_supported_concurrency", 1024)
      .set("endpoint_url", "http://10.0.0.2:8000")
      .set("serving_framework", "SGLang 0.5")
      .set("submitter", "Example")
      .set("system_name", "Example 8x")
      .set("system_type", "datacenter")
      .set("system_type_detail", "")
      .set("number_of_nodes", 1)
      .set("host_processors_per_node", 2)
      .set("host_processor_model_name", "Example CPU")
      .set("host_processor_core_count", 64)
      .set("host_memory_capacity", "2 TB")
      .set("host_storage_type", "NVMe")
      .set("host_storage_capacity", "8 TB")
      .set("host_networking", "Ethernet")
      .set("host_networking_topology", "one switch")
      .set("accelerators_per_node", 8)
      .set("accelerator_model_name", "Example GPU")
      .set("accelerator_memory_capacity", "192 GB")
      .set("operating_system", "Ubuntu 24.04");
}

inline ParetoTree pareto_tree() {
  ParetoTree out;
  out.json["systems/ex8x.json"] = pareto_description();
  out.texts["src/serving/README.md"] = "# How it is launched\n";
  const std::string curve = ParetoTree::kCurve;
  const std::pair<int, const char*> points[] = {{1, "low_latency"},       {8, "low_latency"},
                                                {32, "low_latency"},      {40, "low_throughput"},
                                                {100, "med_throughput"},  {512, "high_throughput"},
                                                {1024, "high_throughput"}};
  for (const auto& [level, region] : points) {
    out.texts[format("{}/points/point_{}.yaml", curve, level)] = format(
        "concurrency: {}\nregion: {}\ndataset: perf\nruntime_settings:\n"
        "  load_pattern: concurrency\n  stream_all_chunks: true\n",
        level, region);
    const std::string results = format("{}/results/point_{}/mlperf_endpoints_log", curve, level);
    out.json[results + "_summary.json"] =
        Json()
            .set("n_samples_issued", 1000)
            .set("n_samples_completed", 1000)
            .set("n_samples_failed", 0)
            .set("duration_ns", 700'000'000'000)
            .set("ttft", Json().set("percentiles", Json().set("50", 1e8).set("95", 3e8)))
            .set("output_sequence_lengths", Json().set("total", 700'000 * level))
            .set("system_tps", 1000.0 * level)
            .set("tps_per_user", 1000.0);
    out.json[results + "_detail.json"] = Json::object();
  }
  out.texts[curve + "/accuracy/accuracy.txt"] = "exact_match 83.1\n";
  out.json[curve + "/accuracy/accuracy_result.json"] = Json()
                                                           .set("metric", "exact_match")
                                                           .set("score", 83.1)
                                                           .set("quality_target", 82.3)
                                                           .set("passed", true);
  return out;
}

inline std::vector<Mutation> pareto_mutations() {
  const auto broken = [](std::string rule, std::string what,
                         std::function<void(ParetoTree&)> change) {
    Mutation out{.rule = std::move(rule), .what = "v0.7: " + std::move(what)};
    out.on_disk = [change](const std::filesystem::path& root, CheckOptions& options) {
      ParetoTree tree = pareto_tree();
      change(tree);
      tree.write(root);
      options.edition = "v0.7";
    };
    return out;
  };
  const std::string curve = ParetoTree::kCurve;
  const std::string accuracy = curve + "/accuracy/accuracy_result.json";
  return {
      broken("pareto-layout", "no detail log",
             [=](ParetoTree& t) {
               t.json.erase(curve + "/results/point_40/mlperf_endpoints_log_detail.json");
             }),
      broken("pareto-layout", "no result of a point",
             [=](ParetoTree& t) {
               t.json.erase(curve + "/results/point_40/mlperf_endpoints_log_summary.json");
             }),
      broken("pareto-layout", "Standardized without code",
             [](ParetoTree& t) { t.texts.erase("src/serving/README.md"); }),
      broken("pareto-accuracy", "below its target",
             [=](ParetoTree& t) { t.json.at(accuracy).set("score", 80).set("passed", false); }),
      broken("pareto-accuracy", "passed that did not",
             [=](ParetoTree& t) { t.json.at(accuracy).set("passed", false); }),
      broken("region-declared", "a name of v1.0",
             [=](ParetoTree& t) {
               std::string& text = t.texts.at(curve + "/points/point_40.yaml");
               text.replace(text.find("low_throughput"), 14, "low_concurrency");
             }),
      broken("system-description-valid", "no accelerator named",
             [](ParetoTree& t) { t.json.at("systems/ex8x.json").erase("accelerator_model_name"); }),
      broken("metric-consistency-tps-per-user", "as v1.0 has it",
             [=](ParetoTree& t) {
               t.json.at(curve + "/results/point_40/mlperf_endpoints_log_summary.json")
                   .set("tps_per_user", 55);
             }),
  };
}

}  // namespace assay::rules
