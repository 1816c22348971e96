// What the power of an imported result rests on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/format.h"
#include "base/testing_temp_folder.h"
#include "explorer/import.h"

namespace assay::explorer {
namespace {

// A tree of one system with a power file in which the accelerator has `figure`.
Json imported_point(const std::string& figure, Json* curve) {
  const TempFolder folder;
  const auto write = [&folder](const char* name, const std::string& text) {
    ASSERT_TRUE(write_file_atomic(folder.path() / "results/s" / name, text));
  };
  write("m/r8/result_summary.json",
        R"({"n_samples_issued": 9, "n_samples_completed": 9, "duration_ns": 1000000000,
            "output_sequence_lengths": {"total": 900}})");
  write("m/r8/point.yaml", "concurrency: 8\ndataset: d\n");
  write("m/r8/system_desc.json", R"({"system_name": "S", "node_types": [{"number_of_nodes": 1,
      "accelerator_info": [{"accelerator_model_name": "B200", "accelerators_per_node": 8}]}]})");
  const std::string cpu =
      R"("tdp_per_unit": {"value_w": 350, "source_type": "vendor_spec", "source": "https://x.org"})";
  write("system_power.json",
        format(R"({{"system_desc_id": "s", "cooling": "air", "scale_out": {{"present": false}},
            "node_sets": [{{"node_set_id": 0, "system_node_ensemble_id": 0, "nodes_provisioned": 1,
            "power_method": "component_sum", "components": {{
            "cpu": {{"model": "C", "count_per_node": 2, {}}},
            "accelerator": {{"model": "B200", "count_per_node": 8{}}},
            "scale_up_network": {{"method": "none"}}}}}}]}})",
               cpu, figure));
  const auto found = read_results(folder.path(), {});
  EXPECT_TRUE(found && found->curves.size() == 1 && found->curves[0].points.size() == 1);
  if (!found || found->curves.empty()) return {};
  *curve = *Json::parse(found->curves[0].document);
  return *Json::parse(found->curves[0].points[0].document);
}

TEST(PowerBasis, a_default_of_the_rules_is_an_estimate) {
  Json curve;
  const Json stated = imported_point(
      R"(, "tdp_per_unit": {"value_w": 1000, "source_type": "vendor_spec", "source": "https://x.org"})",
      &curve);
  EXPECT_EQ(curve["power_basis"].as_string(), "provisioned");
  EXPECT_EQ(stated["power_basis"].as_string(), "provisioned");
  EXPECT_GT(stated["power_kw"].as_double(), 0);
  const Json guessed = imported_point("", &curve);
  EXPECT_EQ(curve["power_basis"].as_string(), "estimated");
  EXPECT_EQ(guessed["power_basis"].as_string(), "estimated");
  EXPECT_GT(guessed["power_kw"].as_double(), 0);
}

}  // namespace
}  // namespace assay::explorer
