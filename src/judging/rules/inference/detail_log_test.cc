#include "rules/inference/detail_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing_temp_folder.h"
#include "rules/inference/check.h"
#include "rules/inference/rule.h"
#include "rules/write_report.h"

namespace assay::rules::inference {
namespace {

using testing::HasSubstr;

std::string entry(std::string_view key, std::string_view value, bool error = false) {
  return format(":::MLLOG {{\"key\": \"{}\", \"value\": {}, \"metadata\": {{\"is_error\": {}}}}}\n",
                key, value, error);
}

TEST(DetailLog, the_first_value_of_a_key_counts_and_knows_its_line) {
  const DetailLog log =
      DetailLog::parse("d", entry("a", "1") + entry("b", "\"x\"") + "noise\n" + entry("a", "2"));
  ASSERT_TRUE(log.good());
  EXPECT_EQ(log["a"].as_int(), 1);
  EXPECT_EQ(log["b"].as_string(), "x");
  EXPECT_EQ(log.place("b").line, 2);
  EXPECT_TRUE(log["c"].is_null());
  EXPECT_FALSE(log.has("c"));
}

TEST(DetailLog, errors_are_kept_up_to_a_limit_and_all_counted) {
  std::string text = entry("a", "1");
  for (int i = 0; i < 150; ++i) text += entry("error_runtime", "\"late\"", true);
  const DetailLog log = DetailLog::parse("d", text);
  EXPECT_EQ(log.error_count(), 150U);
  EXPECT_EQ(log.errors().size(), 100U);
  EXPECT_EQ(log.errors()[1].line, 3);
}

TEST(DetailLog, what_is_no_log_says_where) {
  EXPECT_THAT(DetailLog::parse("d", "hello\n").trouble(), HasSubstr(":::MLLOG"));
  EXPECT_EQ(DetailLog::parse("d", entry("a", "1") + ":::MLLOG {\"key\": \"b\"\n").place().line, 2);
  EXPECT_FALSE(DetailLog::parse("d", entry("a", "]")).good());
  EXPECT_FALSE(DetailLog::parse("d", "").good());
}

TEST(DetailLog, a_metric_is_found_as_its_script_prints_it) {
  EXPECT_EQ(metric_in("acc", "accuracy=75.7%, good=1"), "75.7");
  EXPECT_EQ(metric_in("acc", "{\"accuracy\": 0.72, \"n\": 1}"), "0.72");
  EXPECT_EQ(metric_in("acc", "mean accuracy=75.7%"), "");
  EXPECT_EQ(metric_in("F1", "{\"exact_match\": 83.5, \"f1\": 90.8}"), "90.8");
  EXPECT_EQ(metric_in("F1", "{\"f1\": 90.8}"), "");
  EXPECT_EQ(metric_in("ROUGE1", "{'rouge1': '44.1', 'rouge1': 45}"), "45");
  EXPECT_EQ(metric_in("ROUGE1", "{'rouge1':44.1}"), "");
  EXPECT_EQ(metric_in("GEN_LEN", "'gen_len': 8167644, 'gen_num': 3"), "8167644");
  EXPECT_EQ(metric_in("GEN_LEN", "'gen_len': np.int64(8167644)"), "");
  EXPECT_EQ(metric_in("ACCURACY", "Word Error Rate: 2.06%, accuracy=97.93%"), "97.93");
  EXPECT_EQ(metric_in("DICE", "Accuracy: mean = 0.86170, kidney = 0.9"), "0.86170");
  EXPECT_EQ(metric_in("mAP", "x mAP=53.1% 'Total': 0.5"), "0.5");
  EXPECT_EQ(metric_in("F1_HIERARCHICAL", "{\"f1\": 0.79}"), "0.79");
  EXPECT_EQ(metric_in("DLRM_NE", "[0] metric/lifetime_ne/rating: 0.8669"), "0.8669");
  EXPECT_EQ(metric_in("E2E_ACCURACY", "Accuracy: 34.5"), "34.5");
}

TEST(CheckInference, every_rule_names_itself_once_with_clause_demand_and_fix) {
  std::set<std::string_view> ids;
  for (const InferenceRule& one : catalogue()) {
    EXPECT_TRUE(ids.insert(one.rule.id).second) << one.rule.id;
    EXPECT_FALSE(one.rule.clause.empty() || one.rule.demand.empty() || one.rule.fix.empty())
        << one.rule.id;
  }
  EXPECT_GT(ids.size(), 45U);
  EXPECT_THAT(rules_markdown(true), HasSubstr("`inf-seeds`"));
}

TEST(CheckInference, a_folder_without_results_is_no_submission) {
  const TempFolder folder;
  const auto report = check_inference(folder.path(), {});
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->usable);
  EXPECT_FALSE(check_inference(folder.path(), {.round = "v9.9"}));
}

}  // namespace
}  // namespace assay::rules::inference
