#include "interchange/report_text.h"

#include <gtest/gtest.h>

#include "base/testing_golden.h"
#include "metrics/testing_small_run.h"

namespace assay::interchange {
namespace {

using metrics::Point;

TEST(ReportText, of_a_hand_made_run) {
  const Point point = metrics::small_point("concurrency", {RunState::complete, ""});
  expect_golden("metrics/report.txt", report_text(point));
}

TEST(ReportText, of_a_run_that_was_interrupted_before_anything_came) {
  const Point point =
      metrics::PointFold(metrics::named_run("poisson")).finish({RunState::interrupted, "Ctrl-C"});
  expect_golden("metrics/empty_report.txt", report_text(point));
}

TEST(ReportText, a_crashed_run_says_so) {
  metrics::PointFold fold(metrics::named_run("concurrency"));
  fold.on_phase({1, PhaseStep::started, metrics::at_ms(0)});
  metrics::tell_sent(metrics::steady_query(1, 1, 10, 50, 10, 16), fold);
  EXPECT_NE(report_text(fold.finish(RunEnd{})).find("WARNING: the run crashed"), std::string::npos);
}

}  // namespace
}  // namespace assay::interchange
