#include <gtest/gtest.h>

#include "base/files.h"
#include "base/format.h"
#include "base/testing_temp_folder.h"
#include "explorer/import.h"
#include "store/store.h"

namespace assay::explorer {
namespace {

Json imported(std::string_view pattern) {
  const TempFolder folder;
  EXPECT_TRUE(write_file_atomic(
      folder.path() / "run/performance/result_summary.json",
      format(R"({{"n_samples_issued": 300, "n_samples_completed": 300, "n_samples_failed": 0,
                  "duration_ns": 1000000000, "output_sequence_lengths": {{"total": 900}},
                  "run_config": {{"load_pattern": {}}}}})",
             pattern)));
  const auto found = read_results(folder.path(), {});
  if (!found || found->curves.size() != 1) return {};
  return *Json::parse(found->curves[0].points[0].document);
}

TEST(Import, a_run_that_sent_everything_at_once_is_an_offline_point_of_its_queries) {
  const Json offline = imported(R"({"type": "max_throughput"})");
  EXPECT_EQ(offline["offline"].as_string(), "dedicated");
  EXPECT_EQ(offline["region"].as_string(), "offline");
  EXPECT_EQ(offline["concurrency"].as_double(), 300);
  const Json online = imported(R"({"type": "concurrency", "target_concurrency": 8})");
  EXPECT_EQ(online["offline"].as_string(), "");
  EXPECT_EQ(online["concurrency"].as_double(), 8);
}

}  // namespace
}  // namespace assay::explorer
