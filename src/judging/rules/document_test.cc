#include "rules/document.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "base/rng.h"
#include "base/testing_temp_folder.h"
#include "rules/check_tree.h"
#include "rules/event_summary.h"
#include "rules/schemas.h"
#include "rules/testing_golden_tree.h"
#include "rules/testing_review_mutations.h"

namespace assay::rules {
namespace {

// The rules' own example of a point (invented values), in the form a person writes.
constexpr std::string_view kPoint = R"(# r64/point.yaml
concurrency: 64
region: med_concurrency          # C_max 1024
dataset: mlperf_gpt_oss_performance
runtime_settings:
  load_pattern: concurrency
  stream_all_chunks: false
  runtime:
    scheduler_rng_seed: 10487924139932647040
    model_seed: 9315206023656308754
  warmup: {salt: yes}
warmup:
  duration_s: 240
  requests_issued: 128
  requests_completed: 128
  data_source: "synthetic prompts, fixed word list v1"
  concurrency: 64
  initialization_steps: ["engine load", "graph capture"]
division: Standardized
model_precision: "4"
offline: none
target_cohort: 2026-10-C1
)";

TEST(Document, yaml_is_read_as_the_reference_reader_reads_it) {
  const Document point = Document::parse_yaml("point.yaml", std::string(kPoint));
  ASSERT_TRUE(point.good()) << point.trouble();
  EXPECT_EQ(point.at("/concurrency").as_int(), 64);
  EXPECT_EQ(point.at("/runtime_settings/runtime/scheduler_rng_seed").as_uint(),
            10'487'924'139'932'647'040U);
  EXPECT_EQ(point.at("/runtime_settings/warmup/salt"), Json(true));
  EXPECT_EQ(point.at("/model_precision"), Json("4"));
  EXPECT_EQ(point.at("/offline"), Json("none"));
  EXPECT_EQ(point.at("/warmup/initialization_steps/1").as_string(), "graph capture");
  EXPECT_TRUE(point.at("/nowhere/else").is_null());
  EXPECT_TRUE(point_issues(point.root()).empty());
}

TEST(Document, every_value_of_yaml_knows_its_line) {
  const Document point = Document::parse_yaml("point.yaml", std::string(kPoint));
  EXPECT_EQ(point.place("/concurrency").line, 2);
  EXPECT_EQ(point.place("/runtime_settings/runtime/model_seed").line, 10);
  EXPECT_EQ(point.place("/runtime_settings/warmup/salt").line, 11);
  // A missing value's line is that of its parent.
  EXPECT_EQ(point.place("/runtime_settings/runtime/sample_index_rng_seed").line, 8);
  EXPECT_EQ(point.place("/nowhere").line, 0);
}

TEST(Document, broken_yaml_says_where) {
  const Document broken = Document::parse_yaml("point.yaml", "a: 1\nb: [1, 2\nc: 3\n");
  EXPECT_TRUE(broken.broken());
  EXPECT_GE(broken.place().line, 2);
  EXPECT_NE(broken.trouble().find("not valid YAML"), std::string::npos);
  EXPECT_TRUE(Document::parse_yaml("p", "a: \xff\n").broken());
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += "[";
  EXPECT_TRUE(Document::parse_yaml("p", deep).broken());
  std::string bomb = "a: &a [1,1,1,1,1,1,1,1,1,1]\n";
  for (char c = 'b'; c < 'k'; ++c) {
    bomb += format("{0}: &{0} [*{1},*{1},*{1},*{1},*{1},*{1},*{1},*{1},*{1},*{1}]\n", c,
                   static_cast<char>(c - 1));
  }
  EXPECT_TRUE(Document::parse_yaml("p", bomb).broken());
}

// Visits a value and checks the line of each part of it; in pretty JSON the lines are known.
int count_lines(const Document& document, const Json& value, const std::string& pointer, int line) {
  EXPECT_EQ(document.place(pointer).line, pointer.empty() ? 0 : line) << pointer;
  if (value.size() == 0) return line;
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      line = count_lines(document, value.items()[i], pointer_to(pointer, i), line + 1);
    }
  }
  for (const auto& [name, inner] : value.members()) {
    line = count_lines(document, inner, pointer_to(pointer, name), line + 1);
  }
  return line + 1;
}

TEST(Document, every_value_of_json_has_its_line) {
  Json odd = Json().set("a/b", 1).set("~", Json().push_back(Json().push_back("]\n,\"{")));
  odd.set("quo\"te", Json().set("in", nullptr)).set("e", Json::array());
  for (const Json& value : {odd, golden_description(64), golden_power()}) {
    const Document document = Document::parse_json("x.json", value.dump(2));
    ASSERT_TRUE(document.good());
    count_lines(document, value, "", 1);
  }
}

TEST(Document, a_pointer_is_spoken_as_a_path) {
  EXPECT_EQ(spoken("/warmup/duration_s"), "warmup.duration_s");
  EXPECT_EQ(spoken("/node_types/0/driver"), "node_types[0].driver");
  EXPECT_EQ(spoken(pointer_to("", "a/b")), "a/b");
}

TEST(Percentile, has_one_key_however_it_is_written) {
  const auto at = [](std::string_view key) {
    return percentile(Json().set("percentiles", Json().set(key, 7)), 90);
  };
  EXPECT_EQ(at("90"), 7);
  EXPECT_EQ(at("90.0"), 7);
  EXPECT_EQ(at("90.00"), 7);
  EXPECT_EQ(at("99.0"), std::nullopt);
}

TEST(EventSummary, counts_what_it_was_told) {
  GoldenLog log;
  log.ask(0, "warm");
  log.answer(0, "a", GoldenLog::text(0));
  log.tracking();
  for (int i = 1; i <= 10; ++i) log.ask(i, i == 4 ? "warm" : "p" + std::to_string(i));
  for (int i = 10; i >= 1; --i) log.answer(i, i == 3 ? "\n" : "a", GoldenLog::text(i));
  GoldenTree tree;
  tree.texts["events.jsonl"] = log.lines();
  const TempFolder folder;
  tree.write(folder.path());
  const EventSummary summary = summarise_events(folder.path() / "events.jsonl", 5);
  EXPECT_EQ(summary.trouble, "");
  EXPECT_EQ(summary.warmup_issued, 1U);
  EXPECT_EQ(summary.issued, 10U);
  EXPECT_EQ(summary.completed, 11U);
  EXPECT_EQ(summary.warmup_prompts.count, 1U);
  EXPECT_EQ(summary.filler_first.count, 1U);
  EXPECT_EQ(summary.same_output.count, 0U);
  // All five queries of the second pass ended while the first pass was in flight.
  EXPECT_EQ(summary.early.count, 5U);
}

// One byte changed, or the end cut off, anywhere in the tree gives at worst findings.
TEST(Check, survives_damage_anywhere) {
  GoldenTree tree = golden_tree();
  for (const std::string& name : tree.points()) {
    if (name != "r8" && name != "r6396") tree.drop(name);
  }
  tree.texts[tree.curve + "/r8/events.jsonl"] =
      golden_log(20, [](GoldenLog& l, int i) { l.answer(i, "a", l.text(i)); });
  const std::map<std::string, std::string> files = tree.files();
  const TempFolder folder;
  tree.write(folder.path());
  Rng rng(20'261'120);
  for (int i = 0; i < 200; ++i) {
    auto chosen = files.begin();
    std::advance(chosen, static_cast<std::ptrdiff_t>(rng.below(files.size())));
    if (chosen->second.empty()) continue;
    GoldenTree damaged;
    std::string& text = damaged.texts[chosen->first] = chosen->second;
    const auto at = static_cast<std::size_t>(rng.below(text.size()));
    if (rng.below(2) == 0) {
      text[at] = static_cast<char>(rng.below(256));
    } else {
      text.resize(at);
    }
    damaged.write(folder.path());
    const auto report = check_tree(folder.path(), {});
    ASSERT_TRUE(report) << chosen->first << " at byte " << at;
    EXPECT_EQ(report->points, 2);
    damaged.texts[chosen->first] = chosen->second;
    damaged.write(folder.path());
  }
}

}  // namespace
}  // namespace assay::rules
