// For tests: mutations that break the rules on the tree, its systems and its curves.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "rules/testing_mutation.h"

namespace assay::rules {

inline std::vector<Mutation> structure_mutations_1() {
  return {
      {.rule = "path-exists",
       .what = "another path",
       .on_disk = [](const auto& root, CheckOptions&) { std::filesystem::remove_all(root); }},
      {.rule = "tree-readable",
       .what = "a link out of the tree",
       .on_disk =
           [](const auto& root, CheckOptions&) {
             std::filesystem::create_directory_symlink("/", root / "results/Elsewhere");
           }},
      {.rule = "required-dir",
       .what = "no docs/",
       .change = [](GoldenTree& t) { t.erase("docs/"); },
       .also = {"shared-path-resolution"}},
      {.rule = "required-dir",
       .what = "no results/",
       .change = [](GoldenTree& t) { t.erase("results/"); }},
      {.rule = "src-dir",
       .what = "no src/",
       .change = [](GoldenTree& t) { t.erase("src/"); },
       .also = {"shared-path-resolution"}},
      {.rule = "src-readme",
       .what = "an implementation without README",
       .change = [](GoldenTree& t) { t.texts["src/vllm/run.sh"] = "#!/bin/sh\n"; }},
      {.rule = "system-results-dir",
       .what = "results/ with a file only",
       .change =
           [](GoldenTree& t) {
             t.erase("results/");
             t.texts["results/readme.txt"] = "nothing\n";
           }},
      {.rule = "benchmark-model-dir",
       .what = "a second system, empty",
       .change =
           [](GoldenTree& t) { t.documents["results/Empty/system_power.json"] = golden_power(); }},
      {.rule = "point-dirs",
       .what = "a second model without points",
       .change =
           [](GoldenTree& t) { t.texts["results/Example_8x/deepseek-r1/readme.txt"] = "later\n"; }},
  };
}

inline std::vector<Mutation> structure_mutations_2() {
  const auto rename_system = [](GoldenTree& t) {
    t.rename("results/Example_8x", "results/Other");
    t.curve = "results/Other/gpt-oss-120b";
  };
  return {
      {.rule = "measurement-points-present",
       .what = "a point without point.yaml",
       .change =
           [](GoldenTree& t) {
             t.texts[t.curve + "/r96/readme.txt"] = "later\n";
             t.documents.erase(t.curve + "/r96/point.yaml");
           },
       .also = {"point-rules-skipped", "region-basis"}},
      {.rule = "result-summary-present",
       .what = "a point without summary",
       .change = [](GoldenTree& t) { t.documents.erase(t.curve + "/r96/result_summary.json"); }},
      {.rule = "config-file-present",
       .what = "a point without config.yaml",
       .change = [](GoldenTree& t) { t.documents.erase(t.curve + "/r96/config.yaml"); }},
      {.rule = "config-file-present",
       .what = "a config.yaml that is a list",
       .change = [](GoldenTree& t) { t.replace("r96", "config.yaml", "- 1\n"); }},
      {.rule = "shared-path-resolution",
       .what = "a path that leads out",
       .change = [](GoldenTree& t) { t.point("r96").set("shared_src", "../src"); }},
      {.rule = "shared-path-resolution",
       .what = "a folder that is not there",
       .change = [](GoldenTree& t) { t.point("r96").set("shared_docs", "documents"); }},
      {.rule = "point-dirname-concurrency",
       .what = "a folder of another number",
       .change = [](GoldenTree& t) { t.rename(t.curve + "/r96/", t.curve + "/r97/"); },
       .severity = Severity::warning},
      {.rule = "point-rules-skipped",
       .what = "a field of another kind",
       .change = [](GoldenTree& t) { t.point("r96").set("offline", 3); },
       .also = {"point-config-valid", "region-basis"}},
      {.rule = "system-dirname",
       .what = "another folder",
       .change = rename_system,
       .severity = Severity::warning},
  };
}

inline std::vector<Mutation> system_mutations_1() {
  const auto all = [](std::string name, Json value) {
    return [name, value](GoldenTree& t) {
      t.each("system_desc.json", [&](Json& one) { one.set(name, value); });
    };
  };
  return {
      {.rule = "system-description-present",
       .what = "a point without description",
       .change = [](GoldenTree& t) { t.documents.erase(t.curve + "/r96/system_desc.json"); }},
      {.rule = "system-description-valid",
       .what = "no driver",
       .change =
           [](GoldenTree& t) {
             t.each("system_desc.json",
                    [](Json& one) { one.find("node_types")->make_array()[0].erase("driver"); });
           }},
      {.rule = "system-description-valid",
       .what = "a count of cores that is null",
       .change =
           [](GoldenTree& t) {
             t.each("system_desc.json", [](Json& one) {
               one.find("node_types")->make_array()[0].set("host_processor_core_count", Json());
             });
           }},
      {.rule = "system-description-valid",
       .what = "Available without a URL",
       .change = all("availability_url", "")},
      {.rule = "system-description-valid",
       .what = "a short name of 21 characters",
       .change = all("shortened_system_name", "123456789012345678901")},
      {.rule = "system-description-valid",
       .what = "a short name of blanks",
       .change = all("shortened_system_name", "  ")},
      {.rule = "system-description-valid",
       .what = "to be had on a day that no year has",
       .change = all("target_availability_date", "2027-02-30")},
      {.rule = "system-description-valid",
       .what = "a summary of the layout in two letters",
       .change = all("config_summary", "TP")},
      {.rule = "system-description-valid",
       .what = "broken JSON",
       .change = [](GoldenTree& t) { t.replace("r96", "system_desc.json", "{"); }},
      {.rule = "system-description-consistency",
       .what = "one copy with another size",
       .change = [](GoldenTree& t) { t.description("r96").set("system_size", "9 accelerators"); }},
      {.rule = "model-name-valid",
       .what = "a spelling of its own",
       .change =
           [](GoldenTree& t) {
             t.rename(t.curve, "results/Example_8x/gpt_oss_120b");
             t.curve = "results/Example_8x/gpt_oss_120b";
             t.each("point.yaml", [](Json& one) { one.set("model_name", "gpt_oss_120b"); });
           },
       .also = {"accuracy-gate"}},
      {.rule = "model-name-consistency",
       .what = "every point names another model",
       .change =
           [](GoldenTree& t) {
             t.each("point.yaml", [](Json& one) { one.set("model_name", "deepseek-r1"); });
           }},
      {.rule = "max-concurrency-declared",
       .what = "a point declares less",
       .change = [](GoldenTree& t) { t.point("r96").set("max_supported_concurrency", 512); },
       .severity = Severity::warning},
  };
}

inline std::vector<Mutation> c_min_mutations() {
  const auto all = [](Json value) {
    return [value](GoldenTree& t) {
      t.each("system_desc.json", [&](Json& one) { one.set("c_min_override", value); });
    };
  };
  return {
      {.rule = "c-min-override",
       .what = "declared by one point",
       .change = [](GoldenTree& t) { t.description("r96").set("c_min_override", 8); },
       .also = {"system-description-consistency"}},
      {.rule = "c-min-override",
       .what = "one point declares another",
       .change =
           [all](GoldenTree& t) {
             all(8)(t);
             t.description("r96").set("c_min_override", 16);
           },
       .also = {"system-description-consistency"}},
      {.rule = "c-min-override", .what = "above 32", .change = all(40)},
      {.rule = "c-min-override", .what = "a number with a fraction", .change = all(8.5)},
      {.rule = "c-min-override", .what = "null", .change = all(Json())},
      {.rule = "c-min-override", .what = "a level that was not measured", .change = all(9)},
  };
}

inline std::vector<Mutation> system_mutations_2() {
  return {
      {.rule = "tps-utilization",
       .what = "a figure of another curve",
       .change = [](GoldenTree& t) { t.description("r1024").set("tps_utilization", 0.3); }},
      {.rule = "power-descriptor",
       .what = "no system_power.json",
       .change = [](GoldenTree& t) { t.documents.erase("results/Example_8x/system_power.json"); }},
      {.rule = "power-descriptor",
       .what = "a sum that does not add up",
       .change = [](GoldenTree& t) { t.power().set("provisioned_power_kw", 12.0); }},
      {.rule = "power-descriptor",
       .what = "sums that are a text",
       .change = [](GoldenTree& t) { t.power().set("computed", "13 kW"); }},
      {.rule = "power-descriptor",
       .what = "another cooling than described",
       .change =
           [](GoldenTree& t) {
             t.power().set("cooling", "liquid").erase("computed");
             t.power().erase("provisioned_power_kw");
             t.each("result_summary.json", [](Json& one) { one.erase("system_tps_per_kw"); });
           }},
      {.rule = "power-estimated",
       .what = "a default for the accelerator",
       .change =
           [](GoldenTree& t) {
             Json& part =
                 inner(t.power().find("node_sets")->make_array()[0], {"components", "accelerator"});
             part.set("model", "Example B200").erase("tdp_per_unit");
             t.power().set("mlc_estimated_power", true);
           },
       .severity = Severity::warning},
  };
}

inline std::vector<Mutation> curve_mutations_1() {
  return {
      {.rule = "region-basis",
       .what = "C_max is nowhere",
       .change =
           [](GoldenTree& t) {
             t.each("system_desc.json", [](Json& one) { one.erase("max_supported_concurrency"); });
           },
       .also = {"system-description-valid"}},
      {.rule = "region-computation",
       .what = "C_max of 32",
       .change =
           [](GoldenTree& t) {
             t.each("system_desc.json",
                    [](Json& one) { one.set("max_supported_concurrency", 32); });
             t.each("point.yaml", [](Json& one) { one.set("max_supported_concurrency", 32); });
           }},
      {.rule = "concurrency-in-range",
       .what = "a point beyond the margin",
       .change = [](GoldenTree& t) { t.copy("r1024", 1200); }},
      {.rule = "region-declared",
       .what = "no region",
       .change = [](GoldenTree& t) { t.point("r96").erase("region"); },
       .severity = Severity::warning},
      {.rule = "region-declared",
       .what = "a name of v0.7",
       .change = [](GoldenTree& t) { t.point("r48").set("region", "med_throughput"); }},
      {.rule = "region-placement",
       .what = "a medium point declared high",
       .change = [](GoldenTree& t) { t.point("r48").set("region", "high_concurrency"); },
       .severity = Severity::warning},
      {.rule = "offline-declared",
       .what = "another word",
       .change = [](GoldenTree& t) { t.point("r96").set("offline", "perhaps"); }},
      {.rule = "offline-point-present",
       .what = "none",
       .change = [](GoldenTree& t) { t.drop("r6396"); }},
      {.rule = "offline-point-present",
       .what = "two",
       .change = [](GoldenTree& t) { t.point("r1024").set("offline", "elected"); }},
  };
}

inline std::vector<Mutation> curve_mutations_2() {
  return {
      {.rule = "offline-point-present",
       .what = "elected below C_max",
       .change =
           [](GoldenTree& t) {
             t.drop("r6396");
             t.point("r128").set("offline", "elected");
             t.documents[t.curve + "/r128/accuracy_results.json"] = t.accuracy("r8");
             t.documents.erase(t.curve + "/r1024/accuracy_results.json");
           }},
      {.rule = "offline-point-present",
       .what = "on an agentic curve",
       .change = [](GoldenTree& t) { t.point("r512").set("offline", "elected"); },
       .agentic = true},
      {.rule = "offline-ordering",
       .what = "slower than the C_max point",
       .change =
           [](GoldenTree& t) {
             Json& summary = t.summary("r6396");
             const double tps = golden_tps(1024) * 0.97;
             inner(summary, {"output_sequence_lengths"})
                 .set("total", static_cast<std::int64_t>(tps * 1500));
             summary.set("system_tps", tps).set("system_tps_per_kw", tps / 13.05);
           },
       .severity = Severity::warning},
      {.rule = "ultra-low-concurrency-coverage",
       .what = "no point up to 32",
       .change =
           [](GoldenTree& t) {
             const Json accuracy = t.accuracy("r16");
             t.drop("r8");
             t.drop("r16");
             // C_min is 32 now, and the low region 33..42.
             t.point("r40").set("region", "low_concurrency");
             t.point("r128").set("region", "med_concurrency");
             t.documents[t.curve + "/r40/accuracy_results.json"] = accuracy;
           }},
      {.rule = "low-concurrency-coverage",
       .what = "no point in it",
       .change = [](GoldenTree& t) { t.drop("r16"); }},
  };
}

inline std::vector<Mutation> curve_mutations_3() {
  return {
      {.rule = "med-concurrency-coverage",
       .what = "no point in it",
       .change =
           [](GoldenTree& t) {
             for (const char* name : {"r40", "r48", "r64", "r96"}) t.drop(name);
             for (const std::int64_t c : {160, 192, 224, 384}) t.copy("r256", c);
           },
       .also = {"review-curve-shape"}},
      {.rule = "high-concurrency-coverage",
       .what = "only the margin has one",
       .change =
           [](GoldenTree& t) {
             t.each("system_desc.json",
                    [](Json& one) { one.set("max_supported_concurrency", 5000); });
             t.each("point.yaml", [](Json& one) { one.set("max_supported_concurrency", 5000); });
             // C_max 5000 and C_min 8: high begins at 301.
             for (const char* name : {"r512", "r1024"}) t.drop(name);
             t.point("r128").set("region", "med_concurrency");
             t.point("r16").set("region", "low_concurrency");
             t.copy("r256", 5100);
             t.point("r5100").set("region", "margin");
           }},
      {.rule = "point-count",
       .what = "7 with a dedicated Offline point",
       .change =
           [](GoldenTree& t) {
             for (const char* name : {"r40", "r64", "r96", "r128"}) t.drop(name);
           }},
      {.rule = "point-cap",
       .what = "33",
       .change =
           [](GoldenTree& t) {
             for (std::int64_t c = 257; c < 257 + 22; ++c) t.copy("r256", c);
           }},
  };
}

inline std::vector<Mutation> curve_mutations_4() {
  return {
      {.rule = "benchmark-type-consistency",
       .what = "one agentic point",
       .change =
           [](GoldenTree& t) {
             inner(t.point("r96"), {"runtime_settings"})
                 .set("load_pattern", "agentic_inference")
                 .set("agentic_inference",
                      Json().set("enable_salt", true).set("num_trajectories_to_issue", 613));
           }},
  };
}

}  // namespace assay::rules
