#include "metrics/interference.h"

#include <gtest/gtest.h>

#include "metrics/series.h"

namespace assay::metrics {
namespace {

Distribution of(std::vector<std::int64_t> values) {
  Series series;
  for (const std::int64_t value : values) series.add(value);
  return series.finish(false);
}

// A report of `classes` classes, of which one has these latencies.
ClassReport report(std::size_t classes, std::size_t which, std::vector<std::int64_t> latencies) {
  ClassReport out;
  out.classes.resize(classes);
  out.classes[which].ended = latencies.size();
  out.classes[which].good = latencies.size() / 2;
  out.classes[which].latency = of(std::move(latencies));
  return out;
}

TEST(Interference, every_class_is_measured_alone_in_pairs_and_with_all) {
  using Sets = std::vector<std::vector<std::size_t>>;
  EXPECT_EQ(interference_sets(2), (Sets{{0}, {1}, {0, 1}}));
  EXPECT_EQ(interference_sets(3), (Sets{{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}}));
}

TEST(Interference, a_cell_is_the_figure_beside_others_over_the_figure_alone) {
  ClassReport both = report(2, 0, {300, 300, 300, 300});
  both.classes[1] = report(2, 1, {50, 50}).classes[1];
  const std::vector<InterferenceRun> runs = {
      {{0}, report(2, 0, {100, 100, 100, 100})}, {{1}, report(2, 1, {40, 40})}, {{0, 1}, both}};
  const auto cells = interference(runs);
  ASSERT_EQ(cells.size(), 2U);
  EXPECT_EQ(cells[0].beside, std::vector<std::size_t>{1});
  EXPECT_DOUBLE_EQ(*cells[0].ratio[4], 3);
  EXPECT_DOUBLE_EQ(*cells[1].ratio[4], 1.25);
  EXPECT_DOUBLE_EQ(*cells[0].ratio[6], 1);
  EXPECT_FALSE(cells[0].ratio[0]);  // nothing was streamed
  const std::string text = interference_text(runs, {"chat", "batch"});
  EXPECT_NE(text.find("chat beside batch: latency p50 x 3.00"), std::string::npos) << text;
  EXPECT_EQ(interference_json(runs, {"chat", "batch"})["interference"].items().size(), 2U);
}

TEST(Interference, every_figure_has_its_place_in_the_document_and_in_the_text) {
  const auto figures = [](std::int64_t scale, std::uint64_t good) {
    ClassFigures one;
    one.ended = 4;
    one.good = good;
    one.succeeded = 4;
    one.ttft = of({10 * scale});
    one.tpot = of({20 * scale});
    one.latency = of({30 * scale});
    return one;
  };
  ClassReport alone;
  alone.classes = {figures(1, 4), ClassFigures{}};
  ClassReport other;
  other.classes = {ClassFigures{}, ClassFigures{}};
  ClassReport both;
  both.classes = {figures(3, 2), figures(1, 1)};
  both.classes[0].traffic.name = "chat";
  both.classes[1].traffic.name = "batch";
  const std::vector<InterferenceRun> runs = {{{0}, alone}, {{1}, other}, {{0, 1}, both}};
  const Json json = interference_json(runs, {"chat", "batch"});
  const Json& cell = json["interference"][0];
  EXPECT_EQ(cell["class"].as_string(), "chat");
  EXPECT_EQ(cell["beside"].dump(), R"(["batch"])");
  EXPECT_EQ(cell["figures"].dump(), R"({"ttft_p50":{"alone":10.0,"with":30.0,"ratio":3.0},)"
                                    R"("ttft_p99":{"alone":10.0,"with":30.0,"ratio":3.0},)"
                                    R"("tpot_p50":{"alone":20.0,"with":60.0,"ratio":3.0},)"
                                    R"("tpot_p99":{"alone":20.0,"with":60.0,"ratio":3.0},)"
                                    R"("latency_p50":{"alone":30.0,"with":90.0,"ratio":3.0},)"
                                    R"("latency_p99":{"alone":30.0,"with":90.0,"ratio":3.0},)"
                                    R"("attainment":{"alone":1.0,"with":0.5,"ratio":0.5}})");
  EXPECT_EQ(json["interference"][1]["figures"]["attainment"].dump(),
            R"({"alone":null,"with":0.25,"ratio":null})")
      << "alone it had no query";
  ASSERT_EQ(json["runs"].size(), 3U);
  EXPECT_EQ(json["runs"][2]["present"].dump(), R"(["chat","batch"])");
  EXPECT_EQ(json["runs"][0]["present"].dump(), R"(["chat"])");
  EXPECT_EQ(json["runs"][2]["classes"].size(), 2U);
  const std::string text = interference_text(runs, {"chat", "batch"});
  EXPECT_EQ(text.substr(0, text.find("  class: ")),
            "each class beside others, against itself alone:\n"
            "  chat beside batch: ttft p50 x 3.00, ttft p99 x 3.00, tpot p50 x 3.00, tpot p99 x "
            "3.00, latency p50 x 3.00, latency p99 x 3.00, attainment x 0.50\n"
            "  batch beside chat: no figures\n");
  EXPECT_NE(text.find("  class: chat: 4 queries"), std::string::npos) << "with all present";
  EXPECT_NE(text.find("  class: batch: "), std::string::npos);
  EXPECT_EQ(text.find("  class: ", text.find("  class: batch: ") + 1), std::string::npos);
}

TEST(Interference, a_figure_that_is_0_alone_has_no_ratio) {
  ClassReport alone = report(2, 0, {100});
  ClassReport both = report(2, 0, {200});
  const std::vector<InterferenceRun> runs = {
      {{0}, alone}, {{1}, report(2, 1, {40})}, {{0, 1}, both}};
  const auto cells = interference(runs);
  EXPECT_EQ(cells[0].alone[6], 0.0) << "none of one query was good";
  EXPECT_FALSE(cells[0].ratio[6]);
  EXPECT_DOUBLE_EQ(*cells[0].ratio[4], 2);
  EXPECT_FALSE(cells[1].with[6]) << "beside the other it had no query";
}

TEST(Interference, beside_several_they_are_all_named) {
  ClassReport all = report(3, 0, {100});
  const std::vector<InterferenceRun> runs = {{{0}, report(3, 0, {100})},
                                             {{1}, report(3, 1, {100})},
                                             {{2}, report(3, 2, {100})},
                                             {{0, 1, 2}, all}};
  const std::string text = interference_text(runs, {"a", "b", "c"});
  EXPECT_NE(text.find("  a beside b + c:"), std::string::npos) << text;
  EXPECT_NE(text.find("  b beside a + c:"), std::string::npos) << text;
}

TEST(Interference, runs_of_one_class_each_stand_side_by_side) {
  ClassReport one = report(1, 0, {100, 100});
  one.classes[0].traffic.name = "a";
  ClassReport two = report(1, 0, {7});
  two.classes[0].traffic.name = "b";
  const std::vector<InterferenceRun> runs = {{{0}, one}, {{1}, two}};
  const Json json = each_class_json(runs);
  ASSERT_EQ(json["each_class"].size(), 2U);
  EXPECT_EQ(json["each_class"][0]["name"].as_string(), "a");
  EXPECT_EQ(json["each_class"][1]["ended"].as_int(), 1);
  const std::string text = each_class_text(runs);
  EXPECT_EQ(text.find("  class: a: 2 queries"), 0U) << text;
  EXPECT_NE(text.find("\n  class: b: 1 queries"), std::string::npos) << text;
}

}  // namespace
}  // namespace assay::metrics
