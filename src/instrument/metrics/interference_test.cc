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

}  // namespace
}  // namespace assay::metrics
