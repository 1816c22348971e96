// A curve in words, in dots and as a page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/display.h"
#include "base/text.h"
#include "metrics/curve.h"
#include "report/curve_html.h"
#include "report/curve_plot.h"
#include "report/curve_text.h"
#include "report/safety_page.h"

namespace assay::report {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

metrics::CurvePoint point_of(std::int64_t level, double tps, double per_user, double ttft_ms) {
  metrics::CurvePoint point{.name = "r" + std::to_string(level), .concurrency = level};
  point.measured = true;
  point.run.system_tps = tps;
  point.run.tps_per_user = per_user;
  point.run.ttft_p90_ms = ttft_ms;
  point.run.tpot_p90_ms = 1000 / per_user;
  point.run.duration_s = 1230;
  point.run.completed = 100;
  return point;
}

metrics::Curve curve_of_four() {
  metrics::Curve curve{.id = "c", .model = "m<b>", .endpoint = "http://h&x"};
  curve.version = "0.1";
  curve.edition = "v1.0";
  curve.seed_set = "A";
  curve.cohort = "2026-12-C0";
  curve.c_max = 64;
  curve.c_min = 1;
  curve.points = {point_of(1, 50, 50, 100), point_of(8, 320, 40, 300), point_of(64, 1280, 20, 1500),
                  point_of(500, 1400, 5, 90'000)};
  curve.points[0].region = "low_latency";
  curve.points[1].region = "low_concurrency";
  curve.points[1].declared = "submitters_choice";
  curve.points[2].region = "high_concurrency";
  curve.points[2].window = curve.points[2].run;
  curve.points[2].window_official = true;
  curve.points[3].offline = "dedicated";
  return curve;
}

CurveOptions terms_of(std::string_view slo) {
  CurveOptions out{.price_per_hour = 36};
  out.limits = *decide::parse_limits(slo);
  return out;
}

TEST(CurveReport, CostAndEnergyStandInEachRow) {
  metrics::Curve curve = curve_of_four();
  for (metrics::CurvePoint& point : curve.points) point.power_kw = 6.4;
  const std::vector<CurveRow> rows = curve_rows(curve, terms_of("ttft_p90<=2s"));
  EXPECT_EQ(rows[0].cost, "$200");    // 36 $/h over 50 tok/s
  EXPECT_EQ(rows[2].energy, "5.00");  // 6400 W over 1280 tok/s
  EXPECT_EQ(rows[2].slo, "kept");
  EXPECT_EQ(rows[3].slo, "");
  EXPECT_EQ(rows[1].region, "Low (choice)");
  EXPECT_EQ(rows[2].basis, "window 20:30");
  EXPECT_THAT(decide::users_sentence(curve, terms_of("ttft_p90<=2s")),
              AllOf(HasSubstr("at least 64 users at once"), HasSubstr("$7.81 a million"),
                    HasSubstr("5.00 J a token")));
  EXPECT_THAT(decide::users_sentence(curve, terms_of("ttft_p90<=1ms")),
              HasSubstr("no measured point"));
  EXPECT_EQ(decide::users_sentence(curve, {}), "");
  const Json json = decide::curve_json(curve, terms_of("ttft_p90<=2s"));
  EXPECT_EQ(json["slo"]["users"].as_int(), 64);
  EXPECT_EQ(json["points"][2]["joules_per_token"].as_double(), 5.0);
  EXPECT_EQ(json["points"][0]["dollars_per_million_tokens"].as_double(), 200.0);
}

TEST(CurveReport, ACurveWithoutTokensNamesItsUnitEverywhere) {
  metrics::Curve curve = curve_of_four();
  for (metrics::CurvePoint& point : curve.points) {
    point.unit = "image";
    metrics::PointFigures figures = point.official();
    figures.units_per_s = figures.system_tps;
    figures.latency_p90_ms = 40.0 + static_cast<double>(point.concurrency);
    figures.system_tps = figures.tps_per_user = std::nullopt;
    figures.ttft_p90_ms = figures.tpot_p90_ms = 0;
    point.run = figures;
    point.window.reset();
    point.window_official = false;
  }
  curve.points[2].power_kw = 6.4;
  const CurveOptions options = terms_of("latency_p90<=60ms");
  const std::vector<CurveRow> rows = curve_rows(curve, options);
  EXPECT_EQ(rows[0].cost, "$0.200");  // 36 $/h over 50 images/s
  EXPECT_EQ(rows[0].latency, "41.0 ms");
  EXPECT_THAT(curve_verdict(curve),
              AllOf(HasSubstr("images/s at concurrency"), HasSubstr("latency P90 from 41.0 ms")));
  for (const std::string& said : {curve_terminal(curve, options, {}),
                                  curve_markdown(curve, options), curve_html(curve, options)}) {
    EXPECT_THAT(said, AllOf(HasSubstr("images/s"), HasSubstr("latency P90")));
    EXPECT_THAT(said, Not(AnyOf(HasSubstr("tok/s"), HasSubstr("TTFT"), HasSubstr("per user"))));
  }
  EXPECT_THAT(decide::users_sentence(curve, options), HasSubstr("a thousand images"));
  const Json json = decide::curve_json(curve, options);
  EXPECT_EQ(json["unit"].as_string(), "image");
  EXPECT_EQ(json["points"][0]["dollars_per_thousand_units"].as_double(), 0.2);
  EXPECT_EQ(json["points"][2]["joules_per_unit"].as_double(), 5.0);
  EXPECT_EQ(json["points"][0].find("joules_per_token"), nullptr);
  EXPECT_FALSE(curve_plot(curve, 80, 6).empty());
}

TEST(CurveReport, AFailedAuditIsTheFirstThingThatIsSaid) {
  metrics::Curve curve = curve_of_four();
  curve.notes = {"quick"};
  metrics::CachingAudit audit{.reason = "twice as fast"};
  curve.audit = audit;
  EXPECT_THAT(curve_doubts(curve).front(), HasSubstr("FAILED: twice as fast"));
  EXPECT_THAT(curve_markdown(curve, {}), HasSubstr("FAILED"));
  EXPECT_FALSE(metrics::curve_json(curve)["output_caching_audit"]["passed"].as_bool(true));
  curve.audit->passed = true;
  EXPECT_EQ(curve_doubts(curve).front(), "quick");
  EXPECT_THAT(curve_terminal(curve, {}, {}), HasSubstr("audit passed"));
}

TEST(CurveReport, AnOfflineIsNoLevelOfConcurrency) {
  metrics::Curve curve = curve_of_four();
  EXPECT_EQ(curve_verdict(curve),
            "peak 1,280 tok/s at concurrency 64; up to 50.0 tok/s per user at concurrency 1; "
            "Offline 1,400 tok/s; 3 of 3 points measured, 1 in steady state");
  for (metrics::CurvePoint& point : curve.points) point.measured = point.all_at_once();
  EXPECT_EQ(curve_verdict(curve), "Offline 1,400 tok/s; 0 of 3 points measured, 0 in steady state");
}

TEST(CurveReport, TheTableFitsATerminalOf60To200Columns) {
  metrics::Curve curve = curve_of_four();
  for (metrics::CurvePoint& point : curve.points) point.client = "suspected";
  const std::string wide = curve_terminal(curve, {}, {.columns = 200});
  EXPECT_THAT(wide, HasSubstr("  doubt\n")) << "a column";
  for (const std::size_t columns : {60U, 80U, 100U, 200U}) {
    const std::string text = curve_terminal(curve, {}, {.columns = columns});
    for (const std::string_view line : split(text, '\n')) {
      EXPECT_LE(display_width(line), columns) << line;
    }
    std::size_t doubts = 0;
    for (std::size_t at = text.find("client perhaps limited"); at != std::string::npos;
         at = text.find("client perhaps limited", at + 1)) {
      ++doubts;
    }
    EXPECT_EQ(doubts, curve.points.size()) << "nothing is lost at " << columns << "\n" << text;
  }
}

TEST(CurvePlot, FitsItsColumnsWhateverTheyAre) {
  const metrics::Curve curve = curve_of_four();
  for (std::size_t columns = 0; columns <= 200; ++columns) {
    for (const std::string& line : curve_plot(curve, columns, 8)) {
      EXPECT_LE(display_width(line), columns) << line;
    }
  }
  const std::vector<std::string> plot = curve_plot(curve, 80, 8);
  ASSERT_EQ(plot.size(), 11U);
  EXPECT_THAT(plot[1], HasSubstr("1,400 ┤"));
  EXPECT_THAT(plot.back(), AllOf(HasSubstr("5"), HasSubstr("50.0 tok/s per user")));
}

TEST(CurvePlot, NothingIsDrawnOfLessThanTwoPoints) {
  metrics::Curve curve = curve_of_four();
  curve.points.resize(1);
  EXPECT_TRUE(curve_plot(curve, 80, 8).empty());
  EXPECT_TRUE(curve_plot({}, 80, 8).empty());
  curve.points.push_back(point_of(2, 0, 0.001, 1));
  curve.points.back().run.system_tps.reset();
  EXPECT_TRUE(curve_plot(curve, 80, 8).empty());
  EXPECT_TRUE(curve_plot(curve_of_four(), 80, 2).empty());
}

TEST(BrailleCanvas, DotsLieWhereTheyAreSetAndNowhereElse) {
  BrailleCanvas canvas(2, 1);
  canvas.dot(0, 0);
  canvas.dot(3, 3);
  canvas.dot(4, 0);
  canvas.dot(0, 4);
  EXPECT_EQ(canvas.lines(), std::vector<std::string>{"⠁⢀"});
  BrailleCanvas line(2, 1);
  line.line_x(3, 0, 1);
  EXPECT_EQ(line.lines(), std::vector<std::string>{"⠒⠒"});
}

TEST(CurveHtml, FetchesNothingAndTakesNoMarkupFromOutside) {
  const metrics::Curve curve = curve_of_four();
  const std::string page = curve_html(curve, terms_of("ttft_p90<=2s"));
  EXPECT_THAT(page, AllOf(HasSubstr("Content-Security-Policy"), HasSubstr("m&lt;b&gt;"),
                          HasSubstr("http://h&amp;x"), Not(HasSubstr("m<b>"))));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("src=")),
                          Not(HasSubstr("href=\"http"))));
  // One chart of the curve and three over concurrency, each drawn wide and narrow.
  std::size_t figures = 0;
  for (std::size_t at = 0; (at = page.find("<figure", at)) != std::string::npos; ++at) ++figures;
  EXPECT_EQ(figures, 4U);
  EXPECT_THAT(page, HasSubstr("64 users at once are served within ttft_p90"));
  EXPECT_THAT(page, HasSubstr("at $36.0 an hour"));
  for (const metrics::CurvePoint& point : curve.points) EXPECT_THAT(page, HasSubstr(point.name));
}

TEST(CurveHtml, AnOfflineHasItsOwnMarkerAndIsNoCeilingOfOneUsersSpeed) {
  metrics::Curve curve = curve_of_four();
  const std::string page = curve_html(curve, {});
  EXPECT_THAT(page, AllOf(HasSubstr("▼ Offline"), HasSubstr("all at once, Offline: 1,400 tok/s"),
                          Not(HasSubstr("concurrency 500, Offline"))));
  const std::string each = page.substr(page.find("How fast is it for one user?"));
  EXPECT_THAT(page, HasSubstr("class=\"drop\""));
  EXPECT_THAT(each, Not(HasSubstr("class=\"drop\"")));
  curve.points.pop_back();
  EXPECT_THAT(curve_html(curve, {}), Not(HasSubstr("▼")));
}

TEST(CurveHtml, ACurveWithoutAPointIsAPageAllTheSame) {
  metrics::Curve curve;
  curve.points.push_back({.name = "r1", .concurrency = 1});
  const std::string page = curve_html(curve, {});
  EXPECT_THAT(page, AllOf(HasSubstr("nothing was measured yet"), HasSubstr("not measured"),
                          Not(HasSubstr("<figure"))));
  EXPECT_THAT(curve_terminal(curve, {}, {}), HasSubstr("nothing was measured yet"));
}

TEST(SafetyPage, two_precisions_stand_on_one_curve_with_their_grades) {
  metrics::Curve a = curve_of_four();
  metrics::Curve b = curve_of_four();
  a.precision = "bf16";
  b.points[2].safety = {.grade = "Fair", .safe_share = 0.7, .queries = 50, .failed = 5};
  a.points[2].safety = {.grade = "Good", .safe_share = 0.9, .queries = 50};
  const std::string page = safety_page({{"curves/<a>", "bf16", &a}, {"curves/b", "", &b}},
                                       "not official", {"concurrency 64: B is worse & more"});
  EXPECT_THAT(page, AllOf(HasSubstr("curves/&lt;a&gt;"), HasSubstr("m&lt;b&gt;"),
                          HasSubstr("B is worse &amp; more"), HasSubstr("A bf16 r64 Good"),
                          HasSubstr("B r64 Fair"), HasSubstr("line s1"), HasSubstr("line s2"),
                          HasSubstr("<td>10.0 %</td>")));
  EXPECT_THAT(page, Not(HasSubstr("<a>")));
  EXPECT_THAT(curve_html(a, {}), AllOf(HasSubstr("bf16"), HasSubstr("r64 Good")));
  EXPECT_THAT(curve_markdown(a, {}), HasSubstr("bf16 @"));
}

}  // namespace
}  // namespace assay::report
