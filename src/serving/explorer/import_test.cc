#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.h"
#include "base/format.h"
#include "base/testing_temp_folder.h"
#include "base/text.h"
#include "explorer/import.h"
#include "explorer/records.h"
#include "explorer/testing_import.h"
#include "report/run_document.h"
#include "rulebook/regions.h"
#include "store/open_store.h"

namespace assay::explorer {
namespace {

constexpr std::string_view kSummary = R"({
  "version": "1.0", "n_samples_issued": 101, "n_samples_completed": 100, "n_samples_failed": 1,
  "duration_ns": 10000000000, "state": "complete", "complete": true, "test_started_at": 1795186102,
  "ttft": {"avg": 2e8, "percentiles": {"50.0": 180000000, "90.0": 390000000, "99.0": 4e8}},
  "tpot": {"avg": 1.5e7, "percentiles": {"50.0": 14500000, "90.0": 20000000, "99.0": 3e7}},
  "latency": {"percentiles": {"90.0": 30100000000}},
  "output_sequence_lengths": {"total": 50000, "avg": 500.0},
  "input_sequence_lengths": {"total": 9000, "avg": 90.0}})";

constexpr std::string_view kDescription = R"({
  "division": "Standardized", "system_name": "Example 8x", "tensor_parallel": 8, "disaggregated": 0,
  "system_availability_status": "Available", "serving_framework": "SGLang 0.5",
  "max_supported_concurrency": 1024, "node_types": [
    {"number_of_nodes": 2, "host_processor_model_name": "CPU",
     "accelerator_info": [{"accelerator_model_name": "GPU A", "accelerators_per_node": 8}]},
    {"number_of_nodes": 1, "accelerator_info": [{"accelerator_model_name": "GPU B",
     "accelerators_per_node": 4, "accelerator_memory_capacity": "192 GB"}]}]})";

void write_point(const std::filesystem::path& folder, int concurrency, std::string_view accuracy) {
  write(folder / "result_summary.json", kSummary);
  write(folder / "system_desc.json", kDescription);
  write(folder / "point.yaml",
        format("concurrency: {}\nregion: med_concurrency\ndataset: perf\ndivision: Standardized\n"
               "steady_state: {{status: windowable, verdict: STEADY STATE}}\n",
               concurrency));
  if (!accuracy.empty()) write(folder / "accuracy_results.json", accuracy);
}

TEST(Import, a_submission_tree_becomes_one_curve_of_one_system_and_model) {
  const TempFolder folder;
  const auto model = folder.path() / "tree/results/Example_8x/gpt-oss-120b";
  write_point(model / "r64", 64,
              R"({"accuracy_scores": [{"dataset_name": "gpqa", "score": 0.84}]})");
  write_point(model / "r128", 128, "");
  const auto found = read_results(folder.path(), {});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(found->notes, testing::IsEmpty());
  ASSERT_EQ(found->curves.size(), 1u);
  const store::CurveRecord& curve = found->curves[0];
  EXPECT_EQ(curve.model, "gpt-oss-120b");
  EXPECT_EQ(curve.dataset, "perf");
  EXPECT_EQ(curve.accelerator, "GPU A + GPU B");
  EXPECT_EQ(curve.submission, "tree");
  const Json document = *Json::parse(curve.document);
  EXPECT_EQ(document["accelerators"].as_int(), 20);
  EXPECT_EQ(document["nodes"].as_int(), 3);
  EXPECT_EQ(document["layout"].as_string(), "v1.0");
  EXPECT_EQ(document["concurrency_max"].as_int(), 1024);
  const Json nodes = (*Json::parse(curve.system.document))["node_types"];
  EXPECT_EQ(nodes[0]["accelerator_memory"].as_string(), "");
  EXPECT_EQ(nodes[1]["accelerator_memory"].as_string(), "192 GB");
  ASSERT_EQ(curve.points.size(), 2u);
  const std::size_t at64 = curve.points[0].concurrency == 64 ? 0 : 1;
  const Json point = point_of(curve, at64);
  EXPECT_DOUBLE_EQ(point["system_tps"].as_double(), 5000);
  EXPECT_DOUBLE_EQ(point["tps_per_user"].as_double(), 50);
  EXPECT_DOUBLE_EQ(point["ttft_ms_p90"].as_double(), 390);
  EXPECT_EQ(point["region"].as_string(), "med_concurrency");
  EXPECT_EQ(point["steady"].as_string(), "yes");
  // exact_match is 0.84, and the gate is 82.30 percent.
  EXPECT_EQ(curve.points[at64].accuracy, "passed");
  EXPECT_EQ(curve.points[1 - at64].accuracy, "unknown");
}

TEST(Import, a_folder_whose_name_is_no_plain_id_gets_one_that_is_told) {
  const TempFolder folder;
  for (const char* name : {"My submission, v2", "My submission; v2"}) {
    write_point(folder.path() / name / "results/s/m/r8", 8, "");
  }
  const auto found = read_results(folder.path(), {});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(found->notes, testing::IsEmpty());
  ASSERT_EQ(found->curves.size(), 2u) << "what is told apart stays so";
  ASSERT_EQ(found->derived_ids.size(), 2u);
  for (const auto& [name, id] : found->derived_ids) {
    EXPECT_TRUE(is_plain_id(id)) << id;
    EXPECT_THAT(id, testing::StartsWith("My-submission-v2-"));
    EXPECT_TRUE(std::ranges::any_of(found->curves, [&id = id](const store::CurveRecord& curve) {
      return curve.submission == id;
    }));
  }
  const auto named = read_results(folder.path() / "My submission, v2", {.submission = "ours"});
  ASSERT_TRUE(named) << named.error().message;
  EXPECT_EQ(named->curves[0].submission, "ours");
  EXPECT_THAT(named->derived_ids, testing::IsEmpty());
}

TEST(Import, a_submission_s_official_window_gives_its_figures) {
  const TempFolder folder;
  const auto point = folder.path() / "results/s/m/r64";
  write_point(point, 64, "");
  const auto with_window = [](bool official) {
    return format(
        "{}, \"steady_state\": {{\"status\": \"windowable\", \"verdict\": \"STEADY STATE\", "
        "\"official\": {}, \"window\": {{\"duration_s\": 8}}, \"figures\": {{\"system_tps\": 5100, "
        "\"tps_per_user\": 52, \"qps\": 11, \"ttft_ms\": {{\"p90\": 380}}, "
        "\"tpot_ms\": {{\"p90\": 19.2}}}}}}}}",
        kSummary.substr(0, kSummary.size() - 1), official);
  };
  const auto read = [&folder] {
    const auto found = read_results(folder.path(), {});
    return found && found->curves.size() == 1 ? point_of(found->curves[0], 0) : Json();
  };
  write(point / "result_summary.json", with_window(true));
  const Json window = read();
  EXPECT_DOUBLE_EQ(window["system_tps"].as_double(), 5100);
  EXPECT_DOUBLE_EQ(window["tps_per_user"].as_double(), 52);
  EXPECT_DOUBLE_EQ(window["qps"].as_double(), 11);
  EXPECT_DOUBLE_EQ(window["ttft_ms_p90"].as_double(), 380);
  EXPECT_DOUBLE_EQ(window["tpot_ms_p90"].as_double(), 19.2);
  write(point / "result_summary.json", with_window(false));
  const Json run = read();
  EXPECT_DOUBLE_EQ(run["system_tps"].as_double(), 5000);
  EXPECT_DOUBLE_EQ(run["ttft_ms_p90"].as_double(), 390);
}

TEST(Import, a_run_too_short_to_be_judged_is_not_called_unsteady) {
  EXPECT_EQ(report::steady_word("windowable", "STEADY STATE"), "yes");
  EXPECT_EQ(report::steady_word("windowable", "anomaly"), "yes");
  EXPECT_EQ(report::steady_word("windowable", "drifting_up"), "no");
  EXPECT_EQ(report::steady_word("partial_dataset", "drifting_up"), "no");
  EXPECT_EQ(report::steady_word("insufficient_passes", "STEADY STATE"), "");
  EXPECT_EQ(report::steady_word("insufficient_duration", "STEADY STATE"), "");
  EXPECT_EQ(report::steady_word("partial_dataset", "not found"), "");
  EXPECT_EQ(report::steady_word("insufficient_passes", "not found", 3), "");
  EXPECT_EQ(report::steady_word("insufficient_passes", "not found", 4), "no");
  EXPECT_EQ(report::steady_word("", ""), "");
}

TEST(Import, an_accuracy_below_the_gate_is_failed) {
  const TempFolder folder;
  write_point(folder.path() / "results/s/gpt-oss-120b/r8", 8,
              R"({"accuracy_scores": [{"dataset_name": "gpqa", "score": 0.82}]})");
  const auto found = read_results(folder.path(), {});
  ASSERT_TRUE(found && found->curves.size() == 1);
  EXPECT_EQ(found->curves[0].points[0].accuracy, "failed");
}

TEST(Import, the_old_layout_counts_interactivity_its_own_way) {
  const TempFolder folder;
  write(folder.path() / "systems/sys.json", kDescription);
  write(folder.path() / "pareto/sys/llama/results/r100/result_summary.json", kSummary);
  const auto found = read_results(folder.path(), {});
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->curves.size(), 1u);
  const Json point = point_of(found->curves[0], 0);
  EXPECT_EQ(point["concurrency"].as_double(), 100);
  // system_tps / concurrency.
  EXPECT_DOUBLE_EQ(point["tps_per_user"].as_double(), 50);
  EXPECT_EQ(Json::parse(found->curves[0].document)->find("layout")->as_string(), "v0.7");
  EXPECT_EQ(found->curves[0].system.name, "Example 8x");
}

TEST(Import, the_old_layout_as_it_was_published) {
  const TempFolder folder;
  const auto model = folder.path() / "repo/Org/Example_8x/llama";
  write(model / "systems/Example_8x.json", kDescription);
  write(model / "points/point_100.yaml", "concurrency: 100\nregion: med_throughput\ndataset: d\n");
  write(model / "results/point_100/results_summary.json", kSummary);
  write(model / "results/point_100/run_metadata.json", R"({"system_tps": 1, "qps": 10})");
  // Without a summary the declared figures are taken.
  write(model / "points/point_8.yaml", "concurrency: 8\ndataset: d\n");
  write(model / "results/point_8/run_metadata.json",
        R"({"concurrency": 8, "system_tps": 800, "qps": 2.5, "measured_run_duration": 600,
            "measured_total_requests": 1500, "measured_latency_ttft_p90": 250.5,
            "measured_latency_request_p90": 4000})");
  write(model / "results/point_9/notes.txt", "no result");
  const auto found = read_results(folder.path() / "repo", {});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(found->notes, testing::ElementsAre(testing::HasSubstr("point_9: left out")));
  ASSERT_EQ(found->curves.size(), 1u);
  const store::CurveRecord& curve = found->curves[0];
  EXPECT_EQ(curve.model, "llama");
  EXPECT_EQ(curve.submission, "Org");
  EXPECT_EQ(curve.system.name, "Example 8x");
  ASSERT_EQ(curve.points.size(), 2u);
  const std::size_t at8 = curve.points[0].concurrency == 8 ? 0 : 1;
  const Json declared = point_of(curve, at8);
  EXPECT_DOUBLE_EQ(declared["system_tps"].as_double(), 800);
  EXPECT_DOUBLE_EQ(declared["tps_per_user"].as_double(), 100);
  EXPECT_DOUBLE_EQ(declared["ttft_ms_p90"].as_double(), 250.5);
  EXPECT_DOUBLE_EQ(declared["latency_ms_p90"].as_double(), 4000);
  EXPECT_DOUBLE_EQ(declared["duration_s"].as_double(), 600);
  const Json measured = point_of(curve, 1 - at8);
  EXPECT_DOUBLE_EQ(measured["tps_per_user"].as_double(), 50);
  EXPECT_EQ(measured["region"].as_string(), "med_throughput");
  // The model's folder alone gives the same.
  const auto one = read_results(model, {});
  ASSERT_TRUE(one && one->curves.size() == 1);
  EXPECT_EQ(one->curves[0].points.size(), 2u);
}

TEST(Import, a_run_folder_of_the_reference_client_is_a_point) {
  const TempFolder folder;
  write(folder.path() / "run/performance/result_summary.json", kSummary);
  write(folder.path() / "run/config.yaml",
        "model_params: {name: m}\ndatasets:\n  - {name: d, type: performance}\n"
        "settings: {load_pattern: {type: concurrency, target_concurrency: 32}}\n"
        "endpoint_config: {endpoints: ['http://h:1']}\n");
  const auto found = read_results(folder.path(), {});
  ASSERT_TRUE(found && found->curves.size() == 1) << found.error().message;
  EXPECT_EQ(found->curves[0].model, "m");
  EXPECT_EQ(found->curves[0].dataset, "d");
  EXPECT_EQ(found->curves[0].system.name, "http://h:1");
  EXPECT_EQ(found->curves[0].points[0].concurrency, 32);
  EXPECT_EQ(point_of(found->curves[0], 0)["started"].as_string().substr(0, 10), "2026-11-20");
}

TEST(Import, results_of_vllm_and_aiperf_are_points) {
  const TempFolder folder;
  write(folder.path() / "v.json",
        R"({"model_id": "m", "backend": "vllm", "max_concurrency": 8, "completed": 10, "failed": 1,
            "duration": 2.5, "request_throughput": 4.0, "output_throughput": 400.0,
            "total_input_tokens": 100, "total_output_tokens": 1000, "mean_ttft_ms": 20,
            "median_ttft_ms": 18, "p99_ttft_ms": 30, "p90_tpot_ms": 12.5})");
  write(
      folder.path() / "a.json",
      R"({"request_throughput": {"unit": "r/s", "avg": 4}, "output_token_throughput": {"avg": 500},
            "time_to_first_token": {"unit": "ms", "avg": 20, "p50": 18, "p90": 25, "p99": 30},
            "inter_token_latency": {"unit": "ms", "p90": 10}, "request_count": {"avg": 10},
            "input_config": {"endpoint": {"model_names": ["m"], "url": "http://h"},
                             "loadgen": {"concurrency": 16}}})");
  write(folder.path() / "other.json", R"({"hello": 1})");
  const auto found = read_results(folder.path(), {});
  ASSERT_TRUE(found && found->curves.size() == 2u);
  for (const store::CurveRecord& curve : found->curves) {
    const Json point = point_of(curve, 0);
    const bool vllm = Json::parse(curve.document)->find("origin")->as_string() == "vllm";
    EXPECT_EQ(point["concurrency"].as_double(), vllm ? 8 : 16);
    EXPECT_EQ(point["system_tps"].as_double(), vllm ? 400 : 500);
    EXPECT_EQ(point["ttft_ms_p99"].as_double(), 30);
    EXPECT_DOUBLE_EQ(point["tps_per_user"].as_double(), vllm ? 80 : 100);
  }
}

// AIPerf 0.13 renamed its settings.
TEST(Import, aiperf_s_newer_config_and_its_file_of_requests) {
  const TempFolder folder;
  const auto requests = folder.path() / "profile_export.jsonl";
  write(requests, R"({"metadata": {"request_start_ns": 1}, "metrics": {}})");
  const auto alone = read_results(requests, {});
  ASSERT_FALSE(alone);
  EXPECT_NE(alone.error().message.find("assay convert"), std::string::npos);
  write(folder.path() / "profile_export_aiperf.json",
        R"({"request_throughput": {"avg": 4}, "output_token_throughput": {"avg": 500},
            "input_config": {"models": {"items": [{"name": "m"}]},
                             "endpoint": {"urls": ["http://h"], "type": "chat"},
                             "datasets": [{"name": "main", "type": "synthetic"}],
                             "phases": [{"kind": "warmup", "concurrency": 1},
                                        {"kind": "profiling", "concurrency": 16}]}})");
  const auto found = read_results(requests, {});
  ASSERT_TRUE(found && found->curves.size() == 1u);
  EXPECT_EQ(found->curves[0].model, "m");
  EXPECT_EQ(found->curves[0].dataset, "synthetic");
  EXPECT_EQ(found->curves[0].points[0].concurrency, 16);
}

TEST(Import, what_cannot_be_read_is_a_note_and_the_rest_is_read) {
  const TempFolder folder;
  const auto model = folder.path() / "results/s/m";
  write_point(model / "r1", 1, "");
  write(model / "r2/result_summary.json", "{ not json");
  const auto found = read_results(folder.path(), {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->curves[0].points.size(), 1u);
  EXPECT_THAT(found->notes, testing::ElementsAre(testing::HasSubstr("r2")));
  EXPECT_FALSE(read_results(folder.path() / "none", {}));
  EXPECT_FALSE(read_results(model / "r2/result_summary.json", {}));
}

TEST(Import, importing_twice_changes_nothing) {
  const TempFolder folder;
  write_point(folder.path() / "results/s/m/r1", 1, "");
  auto store = store::open_store(":memory:");
  ASSERT_TRUE(store);
  const auto found = read_results(folder.path(), {});
  ASSERT_TRUE(put_all(**store, found->curves));
  const auto revision = (*store)->revision();
  const auto again = read_results(folder.path(), {});
  const auto counts = put_all(**store, again->curves);
  ASSERT_TRUE(counts);
  EXPECT_EQ(counts->points_new + counts->points_changed + counts->curves_new, 0u);
  EXPECT_EQ(*(*store)->revision(), *revision);
}

TEST(Import, options_beat_files) {
  const TempFolder folder;
  write_point(folder.path() / "results/s/m/r1", 1, "");
  const auto found =
      read_results(folder.path(),
                   {.model = "other", .system = "mine", .organisation = "we", .price_per_hour = 9});
  ASSERT_TRUE(found && found->curves.size() == 1);
  EXPECT_EQ(found->curves[0].model, "other");
  EXPECT_EQ(found->curves[0].system.name, "mine");
  EXPECT_EQ(found->curves[0].organisation, "we");
}

void write_run(const std::filesystem::path& folder, int concurrency, std::string_view description) {
  write(folder / "performance/result_summary.json",
        format("{}{}", kSummary.substr(0, kSummary.size() - 1),
               format(",\"duration_ns\": {}}}", 1'000'000'000 + concurrency)));
  write(folder / "config.yaml",
        format("model_params: {{name: m}}\ndatasets:\n  - {{name: d, type: performance}}\n"
               "settings: {{load_pattern: {{type: concurrency, target_concurrency: {}}}}}\n"
               "endpoint_config: {{endpoints: ['http://h:1']}}\n",
               concurrency));
  if (!description.empty()) write(folder / "system_desc.json", description);
}

TEST(Import, single_runs_get_their_region_where_c_max_is_declared) {
  const TempFolder folder;
  for (const int level : {4, 64, 1000}) {
    write_run(folder.path() / format("r{}", level), level, "");
  }
  const auto regions = [&folder](const ImportOptions& options) {
    std::vector<std::string> out;
    const auto found = read_results(folder.path(), options);
    for (std::size_t i = 0; i < 3; ++i) {
      out.emplace_back(point_of(found->curves[0], i)["region"].as_string());
    }
    std::ranges::sort(out);
    return out;
  };
  EXPECT_THAT(regions({}), testing::Each("")) << "nobody said what the highest is";
  const auto told = rulebook::Regions::make(1024, 4);
  std::vector<std::string> expected;
  for (const int level : {4, 64, 1000}) {
    expected.emplace_back(to_string(*told->region_of(level)));
  }
  std::ranges::sort(expected);
  EXPECT_EQ(regions({.concurrency_max = 1024}), expected);
  // Without a point low enough to be C_min no region is known.
  std::filesystem::remove_all(folder.path() / "r4");
  write_run(folder.path() / "r100", 100, "");
  EXPECT_THAT(regions({.concurrency_max = 1024}), testing::Each(""));
}

TEST(Import, a_price_stands_in_the_description_or_in_the_options) {
  const TempFolder folder;
  std::string description(kDescription);
  description.insert(1, "\"price_per_hour\": 32.5, ");
  write_run(folder.path() / "r4", 4, description);
  const auto price = [&folder](const ImportOptions& options) {
    const auto found = read_results(folder.path(), options);
    return (*Json::parse(found->curves[0].document))["price_per_hour"].as_double();
  };
  EXPECT_EQ(price({}), 32.5);
  EXPECT_EQ(price({.price_per_hour = 9}), 9);
}

TEST(Import, a_twin_names_the_curve_that_it_was_fitted_to) {
  const TempFolder folder;
  write(folder.path() / "twin.json",
        R"({"kind": "simulated", "system": "gpt-oss-120b mxfp4 on 8 x h200-sxm, vllm",
            "fitted_to": {"curve_id": "c-17", "model": "served-name"},
            "points": [{"concurrency": 4, "queries": 10, "system_tps": 100.0}]})");
  const auto found = read_results(folder.path() / "twin.json", {});
  ASSERT_TRUE(found && found->curves.size() == 1);
  EXPECT_EQ(found->curves[0].model, "served-name") << "where the measured curve is";
  EXPECT_EQ((*Json::parse(found->curves[0].document))["twin_of"].as_string(), "c-17");
  const auto told = read_results(folder.path() / "twin.json", {.twin_of = "0123"});
  EXPECT_EQ((*Json::parse(told->curves[0].document))["twin_of"].as_string(), "0123");
}

TEST(Records, names_are_text_without_control_bytes) {
  EXPECT_EQ(clean_name("a\nb\x1b[31m"), "a b [31m");
  EXPECT_EQ(clean_name("\xff\xfez"), "??z");
  EXPECT_EQ(clean_name(std::string(299, 'a') + "\xc3\xa4"), std::string(299, 'a'));
}

}  // namespace
}  // namespace assay::explorer
