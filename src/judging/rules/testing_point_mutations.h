// For tests: mutations that break the rules on points: declarations, measurements and scores.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "rules/testing_mutation.h"

namespace assay::rules {

inline void write_text(const std::filesystem::path& path, std::string_view text) {
  std::ofstream(path) << text;
}

inline std::vector<Mutation> token_mutations() {
  return {
      {.rule = "token-evidence",
       .what = "replies whose token counts cannot be",
       .change =
           [](GoldenTree& t) {
             const Json counts = Json().set("replies", 400).set("said", 400'000).set("counted", 9);
             t.summary("r96").set("assay",
                                  Json().set("tokens", Json().set("contradicted", counts)));
           }},
      {.rule = "token-evidence",
       .what = "one reply without any content",
       .change =
           [](GoldenTree& t) {
             const Json none = Json().set("replies", 0);
             t.summary("r96").set(
                 "assay",
                 Json().set("tokens", Json().set("contradicted", none).set("empty_replies", 1)));
           },
       .severity = Severity::warning},
  };
}

inline std::vector<Mutation> point_mutations_1() {
  const auto set_steady = [](std::initializer_list<std::string_view> path, std::string_view name,
                             Json value) {
    const std::vector<std::string_view> steps(path);
    return [steps, name, value](GoldenTree& t) {
      Json* here = t.point("r96").find("steady_state");
      for (const std::string_view step : steps) here = here->find(step);
      here->set(name, value);
    };
  };
  return {
      {.rule = "point-config-valid",
       .what = "broken YAML",
       .change = [](GoldenTree& t) { t.replace("r96", "point.yaml", "concurrency: [1\n"); },
       .also = {"point-rules-skipped", "region-basis"}},
      {.rule = "point-config-valid",
       .what = "a warm-up of two days",
       .change =
           [](GoldenTree& t) { inner(t.point("r96"), {"warmup"}).set("duration_s", 172'800); },
       .also = {"point-rules-skipped", "region-basis"}},
      {.rule = "point-config-valid",
       .what = "more warm-up requests completed than issued",
       .change =
           [](GoldenTree& t) { inner(t.point("r96"), {"warmup"}).set("requests_completed", 129); },
       .also = {"point-rules-skipped", "region-basis"}},
      {.rule = "point-config-valid",
       .what = "an initialization step that is a number",
       .change =
           [](GoldenTree& t) {
             inner(t.point("r96"), {"warmup"}).set("initialization_steps", Json().push_back(3));
           },
       .also = {"point-rules-skipped", "region-basis"}},
      {.rule = "point-disclosure-complete",
       .what = "no precision",
       .change = [](GoldenTree& t) { t.point("r96").erase("model_precision"); }},
      {.rule = "load-pattern",
       .what = "Poisson",
       .change =
           [](GoldenTree& t) {
             inner(t.point("r96"), {"runtime_settings"}).set("load_pattern", "poisson");
           }},
      {.rule = "streaming-config",
       .what = "streaming off",
       .change =
           [](GoldenTree& t) {
             t.documents[t.curve + "/r96/config.yaml"] =
                 Json().set("model_params", Json().set("streaming", "off"));
           },
       .severity = Severity::warning},
      {.rule = "point-duration",
       .what = "an agentic run of half an hour",
       .change =
           [](GoldenTree& t) {
             constexpr double kSeconds = 1800;
             t.summary("r96").set("duration_ns", static_cast<std::int64_t>(kSeconds * 1e9));
             inner(t.summary("r96"), {"output_sequence_lengths"})
                 .set("total", static_cast<std::int64_t>(golden_tps(96) * kSeconds));
           },
       .severity = Severity::warning,
       .agentic = true},
      {.rule = "point-duration",
       .what = "a window of ten minutes",
       .change = set_steady({"window"}, "duration_s", 600),
       .severity = Severity::warning},
  };
}

inline std::vector<Mutation> point_mutations_2() {
  const auto set_steady = [](std::initializer_list<std::string_view> path, std::string_view name,
                             Json value) {
    const std::vector<std::string_view> steps(path);
    return [steps, name, value](GoldenTree& t) {
      Json* here = t.point("r96").find("steady_state");
      for (const std::string_view step : steps) here = here->find(step);
      here->set(name, value);
    };
  };
  return {
      {.rule = "min-query-count",
       .what = "less than a pass",
       .change =
           [](GoldenTree& t) {
             t.summary("r96").set("n_samples_issued", 6000).set("n_samples_completed", 6000);
           }},
      {.rule = "whole-passes",
       .what = "five passes and a bit",
       .change =
           [](GoldenTree& t) {
             t.summary("r96").set("n_samples_issued", 32'000).set("n_samples_completed", 32'000);
           },
       .severity = Severity::warning},
      {.rule = "run-complete",
       .what = "an interrupted run",
       .change =
           [](GoldenTree& t) {
             t.summary("r96").set("complete", false).set("state", "interrupted");
           }},
      {.rule = "steady-state-valid",
       .what = "another word",
       .change = set_steady({}, "verdict", "steady")},
      {.rule = "steady-state-consistency",
       .what = "windowable with three super-passes",
       .change = set_steady({"window"}, "super_pass_end", 4)},
      {.rule = "steady-state-consistency",
       .what = "windowable and drifting",
       .change = set_steady({"state"}, "tpot_p90", "Drifting Up")},
      {.rule = "steady-state-basis",
       .what = "no block",
       .change = [](GoldenTree& t) { t.point("r96").erase("steady_state"); },
       .severity = Severity::warning},
      {.rule = "steady-state-basis",
       .what = "a drifting verdict",
       .change = set_steady({}, "verdict", "drifting_up"),
       .severity = Severity::warning},
      {.rule = "warmup-present",
       .what = "no block",
       .change = [](GoldenTree& t) { t.point("r96").erase("warmup"); }},
  };
}

inline std::vector<Mutation> point_mutations_3() {
  return {
      {.rule = "warmup-logs-retained",
       .what = "logs thrown away",
       .change =
           [](GoldenTree& t) { inner(t.point("r96"), {"warmup"}).set("logs_retained", false); },
       .severity = Severity::warning},
      {.rule = "warmup-salt",
       .what = "a salted warm-up",
       .change =
           [](GoldenTree& t) {
             inner(t.point("r96"), {"runtime_settings", "warmup"}).set("salt", true);
           },
       .severity = Severity::warning},
      {.rule = "config-consistency-model",
       .what = "a point of another model",
       .change = [](GoldenTree& t) { t.point("r96").set("model_name", "deepseek-r1"); },
       .also = {"model-name-consistency"}},
      {.rule = "config-consistency-dataset",
       .what = "a point of another dataset",
       .change = [](GoldenTree& t) { t.point("r96").set("dataset", "mine"); }},
      {.rule = "target-cohort",
       .what = "a date",
       .change = [](GoldenTree& t) { t.point("r96").set("target_cohort", "2026-10-21"); }},
      {.rule = "agentic-settings",
       .what = "no whole multiple of the trajectories",
       .change =
           [](GoldenTree& t) {
             inner(t.point("r96"), {"runtime_settings", "agentic_inference"})
                 .set("num_trajectories_to_issue", 700);
           },
       .agentic = true},
      {.rule = "agentic-settings",
       .what = "no tool delays",
       .change =
           [](GoldenTree& t) {
             inner(t.point("r96"), {"runtime_settings", "agentic_inference"})
                 .set("inject_tool_delay", false);
           },
       .agentic = true},
  };
}

inline std::vector<Mutation> point_mutations_4() {
  return {
      {.rule = "secrets-redacted",
       .what = "a key in config.yaml",
       .change =
           [](GoldenTree& t) {
             t.documents[t.curve + "/r96/config.yaml"] =
                 Json().set("endpoint_config", Json().set("api_key", "sk-live-1"));
           }},
      {.rule = "responses-truncated",
       .what = "20 kB of responses",
       .change =
           [](GoldenTree& t) {
             t.documents[t.curve + "/r96/results.json"] =
                 Json().set("responses", Json().push_back(std::string(20'000, 'x')));
           },
       .severity = Severity::warning},
      {.rule = "output-caching-audit",
       .what = "the audit of the curve failed",
       .change =
           [](GoldenTree& t) {
             t.documents[t.curve + "/audit/audit_output_caching_test.json"] =
                 Json().set("test", "output_caching_test").set("passed", false);
           }},
      {.rule = "output-caching-audit",
       .what = "a point's audit says nothing",
       .change =
           [](GoldenTree& t) {
             t.documents[t.curve + "/r96/audit/audit_output_caching_test.json"] =
                 Json().set("test", "output_caching_test");
           }},
  };
}

inline std::vector<Mutation> seed_mutations_1() {
  const auto seeds = [](std::string_view point, std::string_view name, Json value) {
    return [point, name, value](GoldenTree& t) {
      inner(t.point(point), {"runtime_settings", "runtime"}).set(name, value);
    };
  };
  return {
      {.rule = "seed-set-consistency",
       .what = "a point of another set, its seeds all right",
       .change = [](GoldenTree& t) { t.point("r96").set("seed_set", "B"); },
       .on_disk =
           [](const auto& root, CheckOptions& options) {
             const char* set =
                 "scheduler_rng_seed: 10487924139932647040, sample_index_rng_seed: "
                 "586478644936801402, model_seed: 9315206023656308754}";
             write_text(root / "seedset.yaml",
                        format("cohort:\n  cohort-id: 2026-10-C1\n  seed_sets:\n"
                               "    - {{id: A, {}\n    - {{id: B, {}\n",
                               set, set));
             options.seed_sets = root / "seedset.yaml";
           }},
      {.rule = "seed-set-membership",
       .what = "a set that nobody published",
       .change =
           [](GoldenTree& t) {
             t.each("point.yaml", [](Json& one) { one.set("seed_set", "Z"); });
           }},
      {.rule = "seed-runtime-match",
       .what = "another seed",
       .change = seeds("r96", "model_seed", 7)},
      {.rule = "seed-runtime-match",
       .what = "a seed under its old name",
       .change =
           [](GoldenTree& t) {
             Json& runtime = inner(t.point("r96"), {"runtime_settings", "runtime"});
             runtime.set("scheduler_random_seed", runtime["scheduler_rng_seed"]);
             runtime.erase("scheduler_rng_seed");
           },
       .severity = Severity::warning},
      {.rule = "seed-set-adoption",
       .what = "five cohorts later",
       .change = [](GoldenTree& t) { t.point("r96").set("target_cohort", "2026-12-C1"); }},
      {.rule = "seed-config-legacy",
       .what = "no set, and seeds that are not 42",
       .change = [](GoldenTree& t) { t.point("r96").erase("seed_set"); },
       .also = {"point-disclosure-complete"}},
  };
}

inline std::vector<Mutation> seed_mutations_2() {
  const auto speculate = [](std::string checksum) {
    return [checksum](GoldenTree& t) {
      t.point("r96").set("speculative_decoding",
                         Json()
                             .set("model_id", "nvidia/gpt-oss-120b-Eagle3-long-context")
                             .set("weight_checksum", checksum));
    };
  };
  const std::string approved = "git-sha1:633caf45f31288cbb70ee237f7c939db707ecc94";
  return {
      {.rule = "seed-set-registry",
       .what = "a list that is not a list",
       .severity = Severity::warning,
       .on_disk =
           [](const auto& root, CheckOptions& options) {
             write_text(root / "seedset.yaml", "cohort: 3\n");
             options.seed_sets = root / "seedset.yaml";
           }},
      {.rule = "drafter-list-registry",
       .what = "a list that is not there",
       .severity = Severity::warning,
       .on_disk = [](const auto& root,
                     CheckOptions& options) { options.drafters = root / "drafters.yaml"; }},
      {.rule = "approved-drafter", .what = "other weights", .change = speculate("git-sha1:0000")},
      {.rule = "drafter-approval-lead-time",
       .what = "approved one cohort before",
       .change = speculate(approved),
       .on_disk =
           [approved](const auto& root, CheckOptions& options) {
             write_text(root / "drafters.yaml",
                        format("drafters:\n  - benchmark: gpt-oss-120b\n"
                               "    approved_cohort: 2026-10-C0\n    weight_checksum: {}\n",
                               approved));
             options.drafters = root / "drafters.yaml";
           }},
  };
}

inline std::vector<Mutation> metric_mutations_1() {
  const auto summary = [](std::string_view name, Json value) {
    return [name, value](GoldenTree& t) { t.summary("r96").set(name, value); };
  };
  return {
      {.rule = "result-file-valid",
       .what = "broken JSON",
       .change = [](GoldenTree& t) { t.replace("r96", "result_summary.json", "{\"a\":"); }},
      {.rule = "result-file-valid",
       .what = "two keys of one percentile that disagree",
       .change =
           [](GoldenTree& t) {
             inner(t.summary("r96"), {"ttft", "percentiles"}).set("90", 1);
           }},
      {.rule = "result-file-valid",
       .what = "a null where a block stands",
       .change = summary("ttft", Json())},
      {.rule = "result-file-valid",
       .what = "a percentile that is null",
       .change =
           [](GoldenTree& t) {
             inner(t.summary("r96"), {"latency", "percentiles"}).set("50.0", Json());
           }},
      {.rule = "metric-consistency-duration",
       .what = "no time at all",
       .change = summary("duration_ns", 0)},
      {.rule = "metric-consistency-accounting",
       .what = "a lost sample",
       .change = summary("n_samples_completed", 31'979)},
      {.rule = "metric-consistency-output-tokens",
       .what = "less than none",
       .change =
           [](GoldenTree& t) {
             inner(t.summary("r96"), {"output_sequence_lengths"}).set("total", -1);
             t.summary("r96").erase("system_tps");
             t.summary("r96").erase("system_tps_per_kw");
             t.description("r96").set("tps_utilization", 0);
           }},
      {.rule = "metric-consistency-system-tps",
       .what = "two percent too many",
       .change = [](GoldenTree& t) { t.summary("r96").set("system_tps", golden_tps(96) * 1.02); }},
      {.rule = "metric-consistency-tps-per-user",
       .what = "v0.7's definition",
       .change = summary("tps_per_user", golden_tps(96) / 96)},
      {.rule = "metric-consistency-tpot-p90",
       .what = "no TPOT",
       .change =
           [](GoldenTree& t) {
             t.summary("r96").erase("tpot");
             t.summary("r96").erase("tps_per_user");
           }},
      {.rule = "metric-consistency-tps-per-kw",
       .what = "of another denominator",
       .change = summary("system_tps_per_kw", golden_tps(96) / 10)},
  };
}

inline std::vector<Mutation> metric_mutations_2() {
  const auto summary = [](std::string_view name, Json value) {
    return [name, value](GoldenTree& t) { t.summary("r96").set(name, value); };
  };
  return {
      {.rule = "agentic-metric-consistency",
       .what = "another figure",
       .change = summary("e2e_avg_interactivity", 60.0),
       .agentic = true},
      {.rule = "nodes-used",
       .what = "an ensemble that the system does not have",
       .change =
           [](GoldenTree& t) {
             t.point("r96").set(
                 "nodes_used",
                 Json().push_back(Json().set("system_node_ensemble_id", 7).set("nodes", 1)));
           }},
      {.rule = "maximal-engagement",
       .what = "no expert parallelism, not even one",
       .change = [](GoldenTree& t) { t.description("r96").set("expert_parallel", 0); }},
      {.rule = "maximal-engagement",
       .what = "half of the accelerators idle",
       .change = [](GoldenTree& t) { t.description("r96").set("tensor_parallel", 4); }},
      {.rule = "maximal-engagement",
       .what = "more replicas than fit",
       .change = [](GoldenTree& t) { t.description("r96").set("data_parallel", 2); }},
      {.rule = "maximal-engagement",
       .what = "half idle, and declared so",
       .change =
           [](GoldenTree& t) {
             t.description("r96").set("tensor_parallel", 4);
             t.point("r96").set(
                 "dp_shortfall",
                 Json().set("dp_actual", 1).set("dp_formula", 2).set("reason", "topology"));
           },
       .severity = Severity::warning},
  };
}

inline std::vector<Mutation> accuracy_mutations_1() {
  const auto entry = [](GoldenTree& t, std::string_view point) -> Json& {
    return t.accuracy(point).find("accuracy_scores")->make_array()[0];
  };
  return {
      {.rule = "accuracy-present",
       .what = "none anywhere",
       .change =
           [](GoldenTree& t) {
             for (const std::string& name : t.points()) {
               t.documents.erase(format("{}/{}/accuracy_results.json", t.curve, name));
             }
           }},
      {.rule = "accuracy-coverage",
       .what = "none at Offline",
       .change =
           [](GoldenTree& t) { t.documents.erase(t.curve + "/r6396/accuracy_results.json"); }},
      {.rule = "accuracy-coverage",
       .what = "one result at 16 for Ultra Low and for Low",
       .change = [](GoldenTree& t) { t.documents.erase(t.curve + "/r8/accuracy_results.json"); }},
      {.rule = "accuracy-run-count",
       .what = "one at a submitter's choice",
       .change =
           [](GoldenTree& t) {
             t.documents[t.curve + "/r96/accuracy_results.json"] = t.accuracy("r8");
           }},
      {.rule = "accuracy-run-count",
       .what = "a second one in a region",
       .change =
           [](GoldenTree& t) {
             t.documents[t.curve + "/r128/accuracy_results.json"] = t.accuracy("r8");
           }},
      {.rule = "accuracy-valid",
       .what = "two names of one number that disagree",
       .change = [entry](GoldenTree& t) { entry(t, "r48").set("num_samples", 4396); }},
      {.rule = "accuracy-valid",
       .what = "no scores",
       .change = [](GoldenTree& t) { t.accuracy("r48").set("accuracy_scores", Json::array()); }},
      {.rule = "accuracy-valid",
       .what = "broken JSON",
       .change = [](GoldenTree& t) { t.replace("r48", "accuracy_results.json", "[1,"); }},
      {.rule = "accuracy-valid",
       .what = "a dataset called by a blank",
       .change = [entry](GoldenTree& t) { entry(t, "r48").set("dataset_name", " "); }},
      {.rule = "accuracy-sample-count",
       .what = "no count at all",
       .change = [entry](GoldenTree& t) { entry(t, "r48").erase("unit_samples"); },
       .severity = Severity::warning},
      {.rule = "accuracy-sample-count",
       .what = "a sample too few",
       .change = [entry](GoldenTree& t) { entry(t, "r48").set("unit_samples", 4394); }},
  };
}

inline std::vector<Mutation> accuracy_mutations_2() {
  const auto entry = [](GoldenTree& t, std::string_view point) -> Json& {
    return t.accuracy(point).find("accuracy_scores")->make_array()[0];
  };
  return {
      {.rule = "accuracy-gate",
       .what = "just below",
       .change =
           [entry](GoldenTree& t) {
             entry(t, "r48").set("score", Json().set("exact_match", 82.29));
           }},
      {.rule = "accuracy-gate",
       .what = "a number without a name",
       .change = [entry](GoldenTree& t) { entry(t, "r48").set("score", 0.84); },
       .severity = Severity::warning},
      {.rule = "accuracy-gate",
       .what = "a number without a name, below the first threshold",
       .change = [entry](GoldenTree& t) { entry(t, "r48").set("score", 0.82); }},
      {.rule = "agentic-accuracy",
       .what = "an agentic curve of a single-turn model",
       .change =
           [](GoldenTree& t) {
             t.rename(t.curve, "results/Example_8x/gpt-oss-120b");
             t.curve = "results/Example_8x/gpt-oss-120b";
             t.each("point.yaml", [](Json& one) { one.set("model_name", "gpt-oss-120b"); });
           },
       .also = {"accuracy-sample-count"},
       .agentic = true},
      {.rule = "agentic-accuracy-inline",
       .what = "just below",
       .change = [entry](GoldenTree& t) { entry(t, "r96").set("score", 0.5585); },
       .agentic = true},
      {.rule = "agentic-accuracy-inline",
       .what = "a percentage",
       .change = [entry](GoldenTree& t) { entry(t, "r96").set("score", 57.01); },
       .agentic = true},
      {.rule = "agentic-accuracy-inline",
       .what = "a point without",
       .change = [](GoldenTree& t) { t.documents.erase(t.curve + "/r96/accuracy_results.json"); },
       .agentic = true},
      {.rule = "agentic-accuracy-swebench",
       .what = "a mean below",
       .change =
           [](GoldenTree& t) {
             t.accuracy("r64").find("accuracy_scores")->make_array()[1].set("score", 0.6);
           },
       .agentic = true},
  };
}

inline std::vector<Mutation> accuracy_mutations_3() {
  return {
      {.rule = "agentic-osl-range",
       .what = "too long",
       .change =
           [](GoldenTree& t) {
             inner(t.summary("r96"),
                   {"output_sequence_lengths_full_run", "output_sequence_lengths"})
                 .set("avg", 430.0);
           },
       .agentic = true},
  };
}

}  // namespace assay::rules
