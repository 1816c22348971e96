#include "report/conformance_html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::report {
namespace {

using testing::HasSubstr;
using testing::Not;

Json spreads(double ttft, double itl) {
  const auto spread = [](double p50) { return Json().set("p50_ms", p50).set("p99_ms", p50 * 2); };
  return Json().set("ttft", spread(ttft)).set("itl", spread(itl)).set("completed", 7);
}

Json row(const std::string& peer, std::int64_t streams, double ttft) {
  return Json()
      .set("peer", peer)
      .set("version", "1.2")
      .set("streams", streams)
      .set("requests", 8)
      .set("itl_of", "each gap")
      .set("truth", spreads(50, 10))
      .set("said", spreads(ttft, 10))
      .set("wall_s", 2.5)
      .set("cpu_s", 0.25);
}

Json result_of(std::initializer_list<Json> rows) {
  Json list = Json::array();
  for (const Json& one : rows) list.push_back(one);
  return Json().set("ttft", "50ms").set("itl", "10ms").set("tokens", 64).set("rows", list);
}

TEST(ConformanceHtml, names_the_nearest_and_the_farthest_at_the_most_streams) {
  const auto page = conformance_html(
      result_of({row("near", 16, 50.1), row("far", 16, 47.5), row("one stream alone", 1, 90)}));
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_THAT(*page, HasSubstr("At 16 streams the median TTFT of near 1.2 is nearest to the truth, "
                               "by 100 µs, that of far 1.2 farthest, by 2.50 ms."));
  EXPECT_THAT(*page, HasSubstr("<td>-2.50 ms<br><small>47.5 ms of 50.0 ms</small>"));
  EXPECT_THAT(*page, HasSubstr("<rect class=\"early\""));
  EXPECT_THAT(*page, HasSubstr("<h2>1 stream at once</h2>"));
  EXPECT_THAT(*page, HasSubstr("<td>7 of 8</td>"));
}

TEST(ConformanceHtml, tells_a_failure_and_takes_no_markup_from_the_file) {
  Json failed = row("<b>", 4, 50);
  failed.erase("said");
  failed.set("failure", "<script>");
  const auto page = conformance_html(result_of({failed, row("good", 4, 50)}));
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_THAT(*page, HasSubstr("failed: &lt;script&gt;"));
  EXPECT_THAT(*page, HasSubstr("1 of 2 jobs failed"));
  EXPECT_THAT(*page, Not(HasSubstr("<b>1")));
  EXPECT_THAT(*page, Not(HasSubstr("<script>")));
}

TEST(ConformanceHtml, says_what_others_took_and_which_jobs_they_disturbed) {
  Json calm = row("calm", 4, 50);
  calm.set("others_cores", 0.02).set("disturbed", false);
  Json disturbed = row("disturbed", 4, 50);
  disturbed.set("others_cores", 1.25).set("disturbed", true);
  const auto page = conformance_html(result_of({calm, disturbed, row("older", 4, 50)}));
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_THAT(*page, HasSubstr("<small>others 0.02 cores</small>"));
  EXPECT_THAT(*page, HasSubstr("<small class=\"disturbed\">others 1.25 cores: disturbed</small>"));
  EXPECT_THAT(*page, HasSubstr("CPU 0.25 s</small></td>")) << "of a file without the figure";
}

TEST(ConformanceHtml, names_the_field_that_is_missing) {
  EXPECT_THAT(conformance_html(Json::object()).error().message, HasSubstr("rows"));
  Json nameless = row("", 1, 50);
  EXPECT_THAT(conformance_html(result_of({nameless})).error().message, HasSubstr("rows[0].peer"));
  Json loose = row("a", 1, 50);
  loose.set("streams", "many");
  EXPECT_THAT(conformance_html(result_of({row("b", 1, 50), loose})).error().message,
              HasSubstr("rows[1].streams"));
}

}  // namespace
}  // namespace assay::report
