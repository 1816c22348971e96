#include "report/html.h"

#include <gtest/gtest.h>

#include "report/sample_point.h"
#include "report/testing_golden.h"
#include "report/testing_markup.h"

namespace assay::report {
namespace {

TEST(Html, of_a_good_run) {
  const std::string html = html_report(sample_point(), sample_context());
  expect_balanced(html);
  expect_golden("html/good.html", html);
  EXPECT_LT(html.size(), 600'000U);
}

TEST(Html, of_a_simulated_run_says_so_and_draws_dashed) {
  metrics::Point point = sample_point();
  point.run.simulated = true;
  const std::string html = html_report(point, sample_context());
  expect_balanced(html);
  EXPECT_NE(html.find("simulated: computed by a model, not measured"), std::string::npos);
  EXPECT_NE(html.find("line s1 dashed"), std::string::npos);
  EXPECT_EQ(html.find("measured run"), std::string::npos);
  // Every chart says "simulated", since a chart can be pasted elsewhere.
  std::size_t charts = 0;
  std::size_t words = 0;
  for (std::size_t at = html.find("<svg"); at != std::string::npos;
       at = html.find("<svg", at + 1)) {
    ++charts;
    const std::string chart = html.substr(at, html.find("</svg>", at) - at);
    words += chart.find(">simulated<") != std::string::npos ? 1U : 0U;
  }
  EXPECT_GT(charts, 10U);
  EXPECT_EQ(charts, words);
}

TEST(Html, of_a_small_run_whose_sender_fell_behind) {
  metrics::Point point = sample_point({.queries = 40, .backlog_ms = 3000});
  point.warnings = {"the client sent its queries up to 2.93 s late"};
  expect_golden("html/small.html", html_report(point, {}));
}

TEST(Html, a_window_that_is_the_result_has_its_figures_told) {
  metrics::Point point = sample_point();
  point.steady = official_window();
  const std::string html = html_report(point, sample_context());
  EXPECT_NE(html.find("official, of the steady window: 10,501 tok/s"), std::string::npos);
  EXPECT_NE(html.find("official: 391 ms"), std::string::npos);
  EXPECT_EQ(html.find("over the window"), std::string::npos) << "the whole run is not a window";
}

TEST(Html, the_drain_is_not_said_to_be_unmeasured) {
  metrics::Point point = sample_point();
  const std::string both = html_report(point, {});
  EXPECT_NE(both.find("Shaded: not measured. Lightly shaded, the drain: nothing new is sent, "
                      "replies still count."),
            std::string::npos);
  point.phases.erase(point.phases.begin());  // the warm-up
  const std::string drain = html_report(point, {});
  EXPECT_EQ(drain.find("Shaded: not measured"), std::string::npos);
  EXPECT_NE(drain.find("the drain: nothing new is sent"), std::string::npos);
}

// Throughput, queries in flight and TTFT share one axis.
TEST(Html, charts_over_time_line_up_where_one_has_long_labels) {
  metrics::Point point = sample_point();
  for (metrics::TimeBucket& bucket : point.timeline.buckets) bucket.output_tokens *= 1000;
  const std::string html = html_report(point, {});
  std::vector<std::string> lefts;
  for (const std::string_view label :
       {"throughput over the run", "queries in flight over the run", "TTFT over the run"}) {
    const std::size_t chart = html.find(std::string("aria-label=\"").append(label));
    ASSERT_NE(chart, std::string::npos) << label;
    const std::size_t at = html.find("class=\"axis\" x1=", chart);
    lefts.push_back(html.substr(at, html.find(" y1", at) - at));
  }
  EXPECT_EQ(lefts[0], lefts[1]);
  EXPECT_EQ(lefts[0], lefts[2]);
  EXPECT_EQ(lefts[0].find("\"62\""), std::string::npos) << lefts[0];
}

TEST(Html, of_an_empty_point_is_still_a_page) {
  const std::string html = html_report(metrics::Point{}, {});
  expect_balanced(html);
  EXPECT_EQ(html.find("<svg"), std::string::npos);
  EXPECT_NE(html.find("no query was sent"), std::string::npos);
}

TEST(Html, of_accuracy_alone_says_that_no_performance_was_measured) {
  metrics::Point point;
  point.all_phases = {.issued = 4, .completed = 3, .failed = 1};
  const std::string html = html_report(point, {});
  EXPECT_NE(html.find("no performance was measured; 3 of 4 other queries succeeded"),
            std::string::npos);
}

TEST(Html, fetches_nothing_and_runs_nothing) {
  const std::string html = html_report(sample_point(), sample_context());
  for (const std::string_view word :
       {"<script", "<link", "<img", "src=", "href=", "@import", "url("}) {
    EXPECT_EQ(html.find(word), std::string::npos) << word;
  }
  EXPECT_NE(html.find("default-src 'none'"), std::string::npos);
}

TEST(Html, every_text_from_outside_is_escaped) {
  const std::string evil = "</style><script>x</script>\"'&";
  metrics::Point point = sample_point();
  point.run.facts.set("model", evil).set("api", evil);
  point.run.facts.set("endpoints", Json().push_back(evil));
  point.run.facts.set("run_config", Json().set("load_pattern", Json().set("type", evil)));
  point.run.run_id = point.run.version = point.run.git_sha = point.run.plan_digest = evil;
  point.warnings = {evil};
  point.failures[0].examples[0].detail = evil;
  point.phases[0].name = evil;
  point.phases[0].kind = PhaseKind::accuracy;
  RunContext context = sample_context();
  context.config_yaml = context.log_note = context.folder = evil;
  context.innocence = audit::Innocence{audit::ClientLimited::yes, {{{}, evil, evil}}};
  context.files.push_back({evil, evil, 1, evil});
  context.environment.set(evil, evil).set("list", Json().push_back(evil));
  const std::string html = html_report(point, context);
  expect_balanced(html);
  EXPECT_EQ(html.find("<script"), std::string::npos);
}

TEST(Html, each_chart_has_a_name_and_each_figure_a_title_and_a_table) {
  const std::string html = html_report(sample_point(), sample_context());
  std::size_t figures = 0;
  for (std::size_t at = html.find("<figure"); at != std::string::npos;
       at = html.find("<figure", at + 1)) {
    ++figures;
    const std::string figure = html.substr(at, html.find("</figure>", at) - at);
    EXPECT_NE(figure.find("<h3>"), std::string::npos);
    EXPECT_NE(figure.find("<table"), std::string::npos);
    EXPECT_EQ(figure.find("aria-label=\"\""), std::string::npos);
  }
  EXPECT_EQ(figures, 6U);
}

}  // namespace
}  // namespace assay::report
