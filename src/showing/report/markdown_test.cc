#include "report/markdown.h"

#include <gtest/gtest.h>

#include "report/sample_point.h"
#include "report/testing_golden.h"

namespace assay::report {
namespace {

TEST(Markdown, of_a_good_run) {
  expect_golden("markdown/good.md", markdown_report(sample_point(), sample_context()));
}

TEST(Markdown, of_an_empty_point_with_warnings) {
  metrics::Point point;
  point.warnings = {"one", "two"};
  expect_golden("markdown/empty.md", markdown_report(point, {}));
}

TEST(Markdown, what_a_server_said_is_text_and_nothing_else) {
  EXPECT_EQ(markdown_escape("<img src=x> [a](b) | `c` *d* ~e~\n# f"),
            "&lt;img src=x\\> \\[a\\]\\(b\\) \\| \\`c\\` \\*d\\* \\~e\\~\\\\n\\# f");
}

TEST(Markdown, a_config_cannot_close_its_fence) {
  RunContext context;
  context.config_yaml = "a: |\n  ````\n  # injected\n";
  const std::string text = markdown_report(metrics::Point{}, context);
  EXPECT_NE(text.find("`````yaml\n"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("`````\n")) << text;
}

TEST(Markdown, a_window_that_is_the_result_has_its_figures_told) {
  metrics::Point point = sample_point();
  point.steady = official_window();
  const std::string text = markdown_report(point, sample_context());
  EXPECT_NE(text.find("official, of the steady window: 10,501 tok/s at 47.4 per user"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("10,501 tok/s, 47.4 tok/s per user, TTFT P90 391 ms, TPOT P90 21.1 ms,"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace assay::report
