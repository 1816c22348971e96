#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "base/format.h"
#include "base/testing_temp_folder.h"
#include "base/text.h"
#include "explorer/import.h"
#include "explorer/testing_import.h"
#include "store/open_store.h"

namespace assay::explorer {
namespace {

std::string loadgen_log(std::initializer_list<std::pair<std::string_view, Json>> values) {
  std::string out;
  for (const auto& [key, value] : values) {
    out += ":::MLLOG " +
           Json().set("key", key).set("value", value).set("metadata", Json::object()).dump() + "\n";
  }
  return out;
}

std::string server_log(std::string_view validity) {
  return loadgen_log({{"loadgen_version", "6.0.17 @ x"},
                      {"sut_name", "My SUT"},
                      {"effective_scenario", "Server"},
                      {"effective_test_mode", "PerformanceOnly"},
                      {"effective_samples_per_query", 1},
                      {"effective_target_qps", 25.0},
                      {"effective_qsl_rng_seed", std::uint64_t{2465351861681999779U}},
                      {"effective_schedule_rng_seed", std::uint64_t{3936089224930324775U}},
                      {"power_begin", "11-23-2026 10:00:00.000"},
                      {"power_end", "11-23-2026 10:10:00.000"},
                      {"result_validity", validity},
                      {"result_query_count", 24576},
                      {"result_completed_samples_per_sec", 24.0},
                      {"result_completed_tokens_per_second", 2400.0},
                      {"result_mean_latency_ns", 2'000'000'000},
                      {"result_99.00_percentile_latency_ns", 3'000'000'000},
                      {"result_first_token_99.00_percentile_latency_ns", 400'000'000},
                      {"result_time_per_output_token_90.00_percentile_ns", 20'000'000}});
}

TEST(Import, a_folder_of_loadgen_s_logs_is_a_point) {
  const TempFolder folder;
  write(folder.path() / "logs/mlperf_log_detail.txt", server_log("VALID"));
  write(folder.path() / "accuracy/mlperf_log_detail.txt",
        loadgen_log({{"effective_scenario", "Server"}, {"effective_test_mode", "AccuracyOnly"}}));
  const ImportOptions options{.model = "llama3.1-8b", .published = "2026-04-01"};
  const auto found = read_results(folder.path(), options);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->curves.size(), 1U);
  ASSERT_EQ(found->notes.size(), 1U);
  EXPECT_THAT(found->notes[0], testing::HasSubstr("accuracy run"));
  const Json curve = *Json::parse(found->curves[0].document);
  EXPECT_EQ(curve["dataset"].as_string(), "MLPerf Inference v6.0");
  EXPECT_EQ(curve["system_name"].as_string(), "My SUT");
  EXPECT_EQ(curve["published"].as_string(), "2026-04-01");
  const Json point = point_of(found->curves[0], 0);
  EXPECT_EQ(point["concurrency"].as_double(), 48);  // 24 a second for 2 s each
  EXPECT_EQ(point["system_tps"].as_double(), 2400);
  EXPECT_EQ(point["osl_mean"].as_double(), 100);
  EXPECT_EQ(point["rate"].as_double(), 25);
  EXPECT_EQ(point["latency_ms_p99"].as_double(), 3000);
  EXPECT_EQ(point["ttft_ms_p99"].as_double(), 400);
  EXPECT_EQ(point["tps_per_user"].as_double(), 50);
}

TEST(Import, a_tree_of_mlperf_inference_gives_a_curve_for_each_model_with_its_findings_and_power) {
  const TempFolder folder;
  const auto root = folder.path() / "round";
  const auto system = root / "closed/Me/results/box";
  write(root / "closed/Me/systems/box.json",
        R"({"system_name": "Box of 8", "submitter": "Me", "division": "closed",
            "status": "available", "system_type": "datacenter", "number_of_nodes": 2,
            "accelerators_per_node": 8, "accelerator_model_name": "GPU A", "framework": "F"})");
  const auto server = system / "llama3.1-8b/Server/performance";
  write(server / "run_1/mlperf_log_detail.txt", server_log("INVALID"));
  write(server / "run_1/spl.txt",
        "Time,11-23-2026 10:05:00.000,Watts,8000,Volts,1,Amps,1,PF,1,Mark,m\n");
  write(server / "power/client.json", "{}");
  write(system / "llama3.1-8b/Offline/performance/run_1/mlperf_log_detail.txt",
        loadgen_log({{"effective_scenario", "Offline"},
                     {"effective_samples_per_query", 13368},
                     {"result_validity", "VALID"},
                     {"result_samples_per_second", 40.0},
                     {"result_mean_latency_ns", 100'000'000'000},
                     {"result_tokens_per_second", 4000.0}}));
  write(system / "whisper/Offline/README.md", "no log");
  const auto found = read_results(root, {});
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->curves.size(), 2U);  // one of each round: the second log has no seeds
  EXPECT_THAT(found->notes, testing::ElementsAre(testing::HasSubstr("no log of LoadGen")));
  for (const store::CurveRecord& record : found->curves) {
    EXPECT_EQ(record.model, "llama3_1-8b");
    EXPECT_EQ(record.organisation, "Me");
    EXPECT_EQ(record.division, "closed");
    EXPECT_EQ(record.accelerator, "GPU A");
    EXPECT_EQ(record.submission, "round");
    const Json point = point_of(record, 0);
    if (record.dataset == "MLPerf Inference v6.0") {
      EXPECT_EQ(point["power_kw"].as_double(), 8);
      EXPECT_EQ(point["power_basis"].as_string(), "measured");
      EXPECT_GT(point["findings"].as_int(), 0);
    } else {
      EXPECT_EQ(point["region"].as_string(), "offline");
      EXPECT_EQ(point["concurrency"].as_double(), 4000);
    }
  }
}

constexpr std::string_view kTable =
    "Organization,Availability,Division,SystemType,SystemName,Platform,Model,MlperfModel,Scenario,"
    "Result,number_of_nodes,accelerator_model_name,accelerators_per_node,total_accelerators,"
    "framework,version,has_power,Units,Location\n"
    R"("Me","available","closed","datacenter","Box, of ""8""","box","mine","llama3.1-8b","Server",)"
    R"("2500.5","1","GPU A","8","8","F 1","v6.0","True","Tokens/s","closed/Me/a")"
    "\n"
    R"("Me","available","closed","datacenter","Box, of ""8""","box","mine","llama3.1-8b","Server",)"
    R"("8000","1","GPU A","8","8","F 1","v6.0","True","Watts","closed/Me/a")"
    "\n"
    R"("Me","available","closed","edge","Small","small","resnet","resnet","SingleStream",)"
    R"csv("1.5","1","GPU B","1","1","F 1","v6.1","False","Latency (ms)","closed/Me/b")csv"
    "\n";

TEST(Import, a_table_of_results_has_a_point_for_each_scenario_and_its_power) {
  const TempFolder folder;
  write(folder.path() / "summary.csv", kTable);
  const auto found = read_results(folder.path() / "summary.csv", {});
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->curves.size(), 2U);
  for (const store::CurveRecord& record : found->curves) {
    const Json curve = *Json::parse(record.document);
    ASSERT_EQ(record.points.size(), 1U);
    const Json point = point_of(record, 0);
    if (record.model == "resnet") {
      EXPECT_EQ(record.submission, "inference-v6.1");
      EXPECT_EQ(point["latency_ms_p90"].as_double(), 1.5);
      EXPECT_EQ(point["concurrency"].as_double(), 1);
    } else {
      EXPECT_EQ(curve["system_name"].as_string(), "Box, of \"8\"");
      EXPECT_EQ(curve["accelerators"].as_int(), 8);
      EXPECT_EQ(record.dataset, "MLPerf Inference v6.0");
      EXPECT_EQ(point["system_tps"].as_double(), 2500.5);
      EXPECT_EQ(point["power_kw"].as_double(), 8);
    }
  }
  write(folder.path() / "other.csv", "a,b\n1,2\n");
  EXPECT_FALSE(read_results(folder.path() / "other.csv", {}));
}

// As a page of results is saved: another name for the model, commas in numbers, a byte order mark,
// commas or tabs between the columns.
TEST(Import, a_table_saved_from_a_page_has_the_same_points) {
  const TempFolder folder;
  const std::string commas =
      "\xEF\xBB\xBFPublic ID,Organization,Division,Category,System Name,# of Nodes,Accelerator,"
      "# of Accelerators,Benchmark,Scenario,Result,Units\n"
      "6.0-0042,Me,Closed,Datacenter,Box,2,GPU A,16,llama3.1-8b,Offline,\"12,345.5\",Tokens/s\n"
      "6.0-0042,Me,Closed,Datacenter,Box,2,GPU A,16,resnet,Server,900,Queries/s\n";
  std::string tabs;
  bool quoted = false;
  for (const char c : commas) {
    if (c == '"') quoted = !quoted;
    tabs += c == ',' && !quoted ? '\t' : c;
  }
  for (const std::string& text : {commas, tabs}) {
    write(folder.path() / "table.csv", text);
    const auto found = read_results(folder.path() / "table.csv", {});
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_EQ(found->curves.size(), 2U);
    for (const store::CurveRecord& record : found->curves) {
      const Json curve = *Json::parse(record.document);
      EXPECT_EQ(record.submission, "inference-v6.0");
      EXPECT_EQ(curve["system_name"].as_string(), "Box");
      EXPECT_EQ(curve["division"].as_string(), "closed");
      EXPECT_EQ(curve["accelerators"].as_int(), 16);
      const Json point = point_of(record, 0);
      const bool offline = record.model == "llama3_1-8b";
      EXPECT_EQ(point[offline ? "system_tps" : "qps"].as_double(), offline ? 12345.5 : 900);
    }
  }
}

TEST(Import, rounds_of_the_sites_json_are_curves_of_one_system_beside_each_other) {
  const TempFolder folder;
  const auto row = [](std::string_view id, double tokens) {
    return Json()
        .set("ID", id)
        .set("Submitter", "Me")
        .set("Category", "closed")
        .set("System", "Box of 8")
        .set("Model", "llama3.1-8b")
        .set("UsedModel", "llama3.1-8b")
        .set("Scenario", "Offline")
        .set("Accelerator", "GPU A")
        .set("Total Accelerators", 8)
        .set("Performance_Result", tokens)
        .set("Performance_Units", "Tokens/s")
        .set("Power_Result", 8000.0)
        .set("Power_Units", "Watts");
  };
  write(folder.path() / "results.json",
        Json::array().push_back(row("6.0-0001", 4000)).push_back(row("6.1-0007", 5000)).dump());
  const auto found = read_results(folder.path(), {});
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->curves.size(), 2U);
  EXPECT_EQ(found->curves[0].system.id, found->curves[1].system.id);
  EXPECT_NE(found->curves[0].submission, found->curves[1].submission);
  for (const store::CurveRecord& record : found->curves) {
    const Json point = point_of(record, 0);
    EXPECT_EQ(point["power_kw"].as_double(), 8);
    EXPECT_EQ(point["region"].as_string(), "offline");
    EXPECT_EQ(point["system_tps"].as_double(), record.submission == "inference-v6.0" ? 4000 : 5000);
  }
}

}  // namespace
}  // namespace assay::explorer
