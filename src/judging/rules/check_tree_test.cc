#include "rules/check_tree.h"

#include <gtest/gtest.h>

#include <set>

#include "base/testing_golden.h"
#include "base/testing_temp_folder.h"
#include "rules/catalogue.h"
#include "rules/testing_golden_tree.h"
#include "rules/testing_mutations.h"
#include "rules/write_report.h"

namespace assay::rules {
namespace {

CheckReport checked(const GoldenTree& tree, const Mutation* mutation = nullptr) {
  TempFolder folder;
  tree.write(folder.path());
  CheckOptions options;
  if (mutation != nullptr && mutation->on_disk) mutation->on_disk(folder.path(), options);
  auto report = check_tree(folder.path(), options);
  EXPECT_TRUE(report);
  return *report;
}

// Returns the rules with findings above info.
std::set<std::string> fired(const CheckReport& report) {
  std::set<std::string> out;
  for (const Finding& finding : report.findings) {
    if (finding.severity != Severity::info) out.insert(std::string(finding.rule));
  }
  return out;
}

TEST(Check, the_golden_trees_pass_every_rule) {
  for (const GoldenTree& tree : {golden_tree(), golden_agentic_tree()}) {
    const CheckReport report = checked(tree);
    EXPECT_TRUE(report.clean(true)) << report_text(report, true, false);
    EXPECT_TRUE(report.usable);
    EXPECT_EQ(report.rules.size(), catalogue().size());
  }
}

TEST(Check, a_curve_without_tokens_is_judged_by_its_units_and_latency) {
  GoldenTree tree = golden_pictures("wan2_2");
  const CheckReport legal = checked(tree);
  EXPECT_TRUE(legal.clean(false)) << report_text(legal, false, false);
  EXPECT_EQ(fired(legal), (std::set<std::string>{"accuracy-gate", "model-name-valid"}))
      << "no benchmark is of images";
  Json* const units = tree.summary("r96").find("assay")->find("units");
  units->set("per_second", units->operator[]("per_second").as_double() * 1.02);
  EXPECT_TRUE(fired(checked(tree)).contains("metric-consistency-units"));
  tree = golden_pictures("wan2_2");
  tree.summary("r96").erase("latency");
  EXPECT_TRUE(fired(checked(tree)).contains("metric-consistency-units"));
  tree = golden_pictures("wan2_2");
  tree.summary("r96").find("assay")->find("units")->set("completed", -1);
  EXPECT_TRUE(fired(checked(tree)).contains("metric-consistency-units"));
}

TEST(Check, a_benchmark_of_tokens_does_not_become_one_of_units_by_saying_so) {
  const std::set<std::string> found = fired(checked(golden_pictures("gpt-oss-120b")));
  EXPECT_TRUE(found.contains("metric-consistency-output-tokens"));
  EXPECT_TRUE(found.contains("metric-consistency-tpot-p90"));
  EXPECT_FALSE(found.contains("metric-consistency-units"));
}

TEST(Check, up_to_32_in_flight_ten_minutes_are_enough_whatever_C_min_is) {
  GoldenTree tree = golden_tree();
  inner(tree.point("r16"), {"steady_state", "window"}).set("duration_s", 601);
  EXPECT_TRUE(checked(tree).clean(true));
}

TEST(Check, a_declared_C_min_cuts_the_regions_and_ends_Ultra_Low) {
  GoldenTree tree = golden_tree();
  const auto declare = [&](int value) {
    tree.each("system_desc.json", [&](Json& one) { one.set("c_min_override", value); });
  };
  declare(8);
  EXPECT_TRUE(checked(tree).clean(true));
  // Then 1..16 is Ultra Low, and no point is in Low, 17..26.
  declare(16);
  const auto found = fired(checked(tree));
  EXPECT_TRUE(found.contains("low-concurrency-coverage"));
  EXPECT_TRUE(found.contains("region-placement"));
  EXPECT_FALSE(found.contains("c-min-override"));
}

// Kept for tests that use a tree without making one (end-to-end tests, importers).
TEST(Check, the_golden_tree_is_the_one_under_tests_golden) {
  for (const auto& [path, text] : golden_tree().files()) {
    expect_golden("submission/" + path, text);
  }
}

// In parts, for each takes seconds and shards of a program run whole tests.
constexpr std::size_t kParts = 8;
class EachMutation : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Check, EachMutation, testing::Range<std::size_t>(0, kParts));

TEST_P(EachMutation, fires_its_rule_and_no_unrelated_one) {
  const auto all = mutations();
  for (std::size_t i = GetParam(); i < all.size(); i += kParts) {
    const Mutation& mutation = all[i];
    SCOPED_TRACE(format("{}: {}", mutation.rule, mutation.what));
    GoldenTree tree = mutation.agentic ? golden_agentic_tree() : golden_tree();
    if (mutation.change) mutation.change(tree);
    const CheckReport report = checked(tree, &mutation);
    std::set<std::string> wanted(mutation.also.begin(), mutation.also.end());
    wanted.insert(mutation.rule);
    EXPECT_EQ(fired(report), wanted) << report_text(report, true, false);
    const bool error = report.count(Severity::error) > 0;
    EXPECT_EQ(error, mutation.severity == Severity::error) << report_text(report, true, false);
  }
}

TEST(Check, every_rule_has_a_mutation_that_makes_it_fire) {
  std::set<std::string> mutated;
  for (const Mutation& mutation : mutations()) mutated.insert(mutation.rule);
  for (const Rule& rule : catalogue()) {
    EXPECT_TRUE(mutated.contains(std::string(rule.id)))
        << rule.id << ": give it a mutation in testing_*_mutations.h";
  }
}

TEST(Check, every_rule_says_what_it_demands_and_how_to_mend_it) {
  std::set<std::string_view> ids;
  for (const Rule& rule : catalogue()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id << " twice";
    EXPECT_FALSE(rule.clause.empty()) << rule.id;
    EXPECT_FALSE(rule.demand.empty()) << rule.id;
    EXPECT_FALSE(rule.fix.empty()) << rule.id;
    EXPECT_NE(rule.check, nullptr) << rule.id;
  }
  EXPECT_GE(ids.size(), 80U);
}

TEST(Check, synthetic_prompts_are_not_the_dataset_that_is_called_prompts) {
  GoldenTree tree = golden_tree();
  tree.each("point.yaml", [](Json& one) {
    one.set("dataset", "prompts");
    inner(one, {"warmup"}).set("data_source", "synthetic prompts of common words");
  });
  EXPECT_FALSE(fired(checked(tree)).contains("review-warmup-overlap"));
  inner(tree.point("r96"), {"warmup"}).set("data_source", "rows of my_prompts, not prompts-2");
  EXPECT_FALSE(fired(checked(tree)).contains("review-warmup-overlap"));
  inner(tree.point("r96"), {"warmup"}).set("data_source", "the first 100 prompts");
  EXPECT_TRUE(fired(checked(tree)).contains("review-warmup-overlap"));
}

TEST(Check, a_finding_names_the_line) {
  GoldenTree tree = golden_tree();
  tree.point("r48").set("region", "mid");
  const CheckReport report = checked(tree);
  ASSERT_EQ(report.count(Severity::error), 1);
  const auto found = std::find_if(report.findings.begin(), report.findings.end(),
                                  [](const Finding& f) { return f.severity == Severity::error; });
  EXPECT_EQ(found->rule, "region-declared");
  EXPECT_EQ(found->where.file, "results/Example_8x/gpt-oss-120b/r48/point.yaml");
  EXPECT_EQ(found->where.line, 2);
}

// Ten right errors of one kind read as ten faults.
TEST(Check, what_is_wrong_alike_in_many_places_is_told_once) {
  CheckReport report{.path = "tree"};
  for (int i = 1; i <= 7; ++i) {
    report.findings.push_back({.rule = "one-rule",
                               .clause = "1",
                               .severity = Severity::error,
                               .found = i == 3 ? "another" : "the same",
                               .where = {.file = format("r{}/point.yaml", i), .line = i}});
  }
  const std::string text = report_text(report, false, false);
  EXPECT_NE(text.find("r1/point.yaml:1: error: the same [one-rule]\n"
                      "    also in:  r2/point.yaml:2, r4/point.yaml:4, r5/point.yaml:5, "
                      "r6/point.yaml:6 and 1 more\n    clause:"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("r3/point.yaml:3: error: another [one-rule]\n    clause:"),
            std::string::npos);
  EXPECT_NE(text.find("not clean: 7 errors"), std::string::npos);
}

TEST(Check, an_organisation_with_one_submission_means_it) {
  TempFolder folder;
  golden_tree().write(folder.path() / "pending-submission-id");
  const auto report = check_tree(folder.path(), {});
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->clean(true)) << report_text(*report, true, false);
  EXPECT_EQ(report->points, 11);
}

TEST(Check, a_path_that_is_no_tree_is_unusable_and_says_one_thing) {
  const auto report = check_tree("/nonexistent/tree", {});
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->usable);
  EXPECT_EQ(fired(*report), std::set<std::string>{"path-exists"});
  EXPECT_FALSE(check_tree("/", {.edition = "v9"}));
}

TEST(Check, v0_7_has_its_own_regions_durations_and_tps_per_user) {
  GoldenTree tree = golden_tree();
  TempFolder folder;
  tree.write(folder.path());
  const auto report = check_tree(folder.path(), {.edition = "v0.7"});
  ASSERT_TRUE(report);
  const std::set<std::string> rules = fired(*report);
  EXPECT_TRUE(rules.contains("region-declared"));  // low_concurrency is no name of v0.7
  EXPECT_TRUE(rules.contains("metric-consistency-tps-per-user"));
  EXPECT_FALSE(rules.contains("point-duration"));
}

TEST(Check, v0_7_is_read_in_its_own_layout) {
  TempFolder folder;
  pareto_tree().write(folder.path() / "org");
  // The organisation's folder stands for its only submission.
  const auto report = check_tree(folder.path(), {.edition = "v0.7"});
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->usable);
  EXPECT_TRUE(report->clean(true)) << report_text(*report, true, false);
  EXPECT_EQ(report->points, 7);
  // v1.0 has no such layout.
  const auto other = check_tree(folder.path() / "org", {});
  ASSERT_TRUE(other);
  EXPECT_FALSE(other->usable);
}

// v0.7's published results: the same figures, one folder for each model.
void write_published(const ParetoTree& tree, const std::filesystem::path& curve) {
  const std::string before = std::string(ParetoTree::kCurve) + "/";
  CHECK(write_file_atomic(curve / "systems/ex8x.json", tree.json.at("systems/ex8x.json").dump(2)));
  for (const auto& [path, text] : tree.texts) {
    if (path.starts_with(before + "points/")) {
      CHECK(write_file_atomic(curve / path.substr(before.size()), text));
    }
  }
  for (const auto& [path, document] : tree.json) {
    const std::size_t file = path.find("/mlperf_endpoints_log_summary.json");
    if (file == std::string::npos) continue;
    const std::filesystem::path results = curve / path.substr(before.size(), file - before.size());
    Json metadata = Json::object();
    metadata.set("system_tps", document["system_tps"]).set("tps_per_user", 1000.0);
    CHECK(write_file_atomic(results / "run_metadata.json", metadata.dump()));
    CHECK(write_file_atomic(results / "results_summary.json", document.dump()));
  }
}

TEST(Check, v0_7_is_read_as_its_results_were_published) {
  TempFolder folder;
  const auto curve = folder.path() / "repository/Org/Example 8x/gpt-oss-120b";
  write_published(pareto_tree(), curve);
  // The repository, an organisation's folder, a system's, a model's.
  for (auto at = curve; at != folder.path(); at = at.parent_path()) {
    const auto report = check_tree(at, {.edition = "v0.7"});
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->usable) << at;
    EXPECT_TRUE(report->clean(true)) << report_text(*report, true, false);
    EXPECT_EQ(report->points, 7);
  }
  // The declared figures are compared with the run's own.
  const auto metadata = curve / "results/point_40/run_metadata.json";
  ASSERT_TRUE(write_file_atomic(metadata, R"({"system_tps": 40000, "tps_per_user": 5})"));
  std::filesystem::remove(curve / "results/point_8/run_metadata.json");
  std::filesystem::remove(curve / "results/point_100/results_summary.json");
  const auto report = check_tree(folder.path() / "repository", {.edition = "v0.7"});
  ASSERT_TRUE(report);
  EXPECT_EQ(fired(*report),
            (std::set<std::string>{"metric-consistency-tps-per-user", "pareto-layout"}));
  EXPECT_EQ(report->count(Severity::error), 3);
  for (const Finding& finding : report->findings) {
    EXPECT_TRUE(finding.where.file.starts_with("Org/Example 8x/gpt-oss-120b"))
        << finding.where.file;
  }
}

// Files that the reference client writes in addition, its nulls, and its own folders.
TEST(Check, a_run_of_the_reference_client_has_no_false_findings) {
  GoldenTree tree = golden_tree();
  tree.each("result_summary.json", [](Json& summary) {
    summary.set("version", "0.1.0").set("git_sha", nullptr).set("test_started_at", 0);
    summary.set("legacy_loadgen_window_duration_ns", nullptr).set("qps", 21.32);
    for (const char* block : {"ttft", "tpot", "latency"}) {
      Json stat = summary[block].is_object() ? summary[block] : Json::object();
      stat.set("early_stopping_percentiles", Json().set("99.9", nullptr).set("99.0", 391e6));
      stat.set("histogram", Json().set("buckets", Json::array()).set("counts", Json::array()));
      summary.set(block, std::move(stat));
    }
    summary.set("input_sequence_lengths", Json::object())
        .set("finish_reason_counts", Json().set("stop", 900).set("other", 0))
        .set("run_config", Json().set("load_pattern", Json().set("target_qps", nullptr)));
  });
  tree.each("accuracy_results.json", [](Json& accuracy) {
    accuracy.set("average_accuracy", nullptr).set("osl_tokenization_s", 1.2);
    Json scores = Json::array();
    for (Json entry : accuracy["accuracy_scores"].items()) {
      entry.set("breakdown", Json().set("subset_scores", Json().set("math", 81.25)))
          .set("response_counts", Json().set("issued", 240).set("missing", 0))
          .set("output_sequence_lengths", Json().set("percentiles", Json::object()));
      scores.push_back(std::move(entry));
    }
    accuracy.set("accuracy_scores", std::move(scores));
  });
  // One point is the client's own run folder, not flattened.
  const std::string point = tree.curve + "/r48/";
  tree.documents[point + "performance/result_summary.json"] = tree.summary("r48");
  tree.documents.erase(point + "result_summary.json");
  tree.texts[point + "metrics/.ready"] = "";
  tree.texts[point + "profiling.json"] = "{}";
  tree.texts[point + "audit/verify_OUTPUT_CACHING_TEST.txt"] = "Performance check pass: True\n";
  tree.documents[point + "audit/audit_output_caching_test.json"] =
      Json().set("test", "output_caching_test").set("passed", true).set("reason", "");
  const CheckReport report = checked(tree);
  EXPECT_TRUE(report.clean(true)) << report_text(report, true, false);
}

TEST(CheckReport, sarif_and_junit_have_every_finding) {
  GoldenTree tree = golden_tree();
  tree.point("r48").set("region", "mid<&>");
  tree.summary("r64").set("duration_ns", -1);
  const CheckReport report = checked(tree);
  const Json sarif = report_sarif(report);
  EXPECT_EQ(sarif["version"].as_string(), "2.1.0");
  const Json& run = sarif["runs"][0];
  EXPECT_EQ(run["results"].size(), report.findings.size());
  EXPECT_EQ(run["tool"]["driver"]["rules"].size(), catalogue().size());
  for (const Json& result : run["results"].items()) {
    const auto index = static_cast<std::size_t>(result["ruleIndex"].as_int(-1));
    EXPECT_EQ(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
  }
  const std::string junit = report_junit(report, false);
  EXPECT_NE(junit.find("name=\"region-declared\""), std::string::npos);
  EXPECT_NE(junit.find("mid&lt;&amp;&gt;"), std::string::npos);
  EXPECT_EQ(junit.find("mid<"), std::string::npos);
}

}  // namespace
}  // namespace assay::rules
