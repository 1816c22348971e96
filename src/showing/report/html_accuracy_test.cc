#include "report/html_accuracy.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/format.h"
#include "report/html.h"
#include "report/markdown.h"
#include "report/sample_point.h"
#include "report/testing_markup.h"

namespace assay::report {
namespace {

constexpr std::string_view kResults = R"({"accuracy_scores": [
  {"dataset_name": "sums", "score": {"strict": 0.5, "loose": 0.75}, "complete": true,
   "uncertainty": {"strict": {"interval": [0.15, 0.85], "confidence": 0.95, "method": "wilson",
                              "standard_error": 0.25, "samples": 4}},
   "breakdown": {"subset_scores": {"easy": {"strict": 100}}},
   "response_counts": {"issued": 4, "scored": 3, "empty": 0, "missing": 1},
   "note": "words <are> ours"},
  {"dataset_name": "code", "score": null, "complete": false, "error": "no jail"}],
  "quality": {"workload": "mine", "edition": "v1", "notes": [], "items": [
    {"metric": "exact_match", "value": 50, "at_least": 60.5, "verdict": "failed"}]}})";

// Replies of each kind, of which one is left out.
Json judged_sets() {
  return Json::parse(R"([{"dataset": "sums", "scorer": "task",
    "counts": {"right": 2, "partly": 0, "wrong": 1, "nothing": 0, "unanswered": 1},
    "replies": [
      {"sample": 0, "kind": "right", "extracted": "4", "rule": "regex", "truth": "4", "score": 1,
       "reply": "2+2\nis 4", "reply_bytes": 8},
      {"sample": 1, "kind": "wrong", "extracted": "5", "rule": "regex", "truth": "4", "score": 0,
       "reply": "is 5", "reply_bytes": 4},
      {"sample": 2, "kind": "unanswered", "extracted": null, "rule": null, "truth": "4",
       "score": 0, "reply": "", "reply_bytes": 0}]}])")
      .value();
}

RunContext scored_context() {
  RunContext out = sample_context();
  out.accuracy = Json::parse(kResults).value();
  out.judged = judged_sets();
  return out;
}

bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(HtmlAccuracy, each_figure_stands_with_its_interval) {
  const std::string html = html_report(sample_point(), scored_context());
  expect_balanced(html);
  EXPECT_TRUE(holds(html, "How good were the replies?"));
  EXPECT_TRUE(holds(html,
                    "<tr><th scope=\"row\">sums</th><td>strict</td><td>0.5</td><td>0.15 to "
                    "0.85 (95 %, wilson)</td><td>4</td><td>3 of 4 scored, 1 missing</td>"));
  EXPECT_TRUE(holds(html, "<td>… easy, strict</td><td>100</td>"));
  EXPECT_TRUE(holds(html, "sums: words &lt;are&gt; ours"));
  EXPECT_TRUE(holds(html, "<td>–</td>"));
  EXPECT_TRUE(holds(html, "code: no jail"));
  EXPECT_TRUE(holds(html, "code: incomplete"));
  EXPECT_TRUE(holds(html,
                    "<th scope=\"row\">exact_match</th><td>50</td><td>at least 60.5</td>"
                    "<td>failed</td>"));
  const std::string markdown = markdown_report(sample_point(), scored_context());
  EXPECT_TRUE(holds(markdown, "| sums | strict | 0.5 | 0.15 to 0.85 \\(95 %, wilson\\) | 4 |"));
  EXPECT_TRUE(holds(markdown, "| exact\\_match | 50 | at least 60.5 | failed |"));
}

// The filter is a group of buttons with one name, each with its words, and a style for each kind.
TEST(HtmlAccuracy, judged_replies_are_filtered_without_a_script) {
  const std::string html = html_report(sample_point(), scored_context());
  EXPECT_TRUE(
      holds(html, "<fieldset class=\"judged\"><legend>sums: which replies to show</legend>"));
  for (const std::string_view kind : {"all", "right", "wrong", "unanswered"}) {
    EXPECT_TRUE(holds(html, format("name=\"judged-0\" id=\"judged-0-{}\"", kind))) << kind;
    EXPECT_TRUE(holds(html, format("<label for=\"judged-0-{}\">", kind))) << kind;
  }
  EXPECT_FALSE(holds(html, "judged-0-partly")) << "there is none";
  EXPECT_TRUE(holds(html, "right (1 of 2)"));
  EXPECT_TRUE(holds(html, ">wrong (1)<"));
  EXPECT_TRUE(holds(html, "3 of 4 replies; 1 is left out"));
  EXPECT_TRUE(holds(html, ".show-wrong:checked~.scroll tbody tr:not(.wrong){display:none}"));
  EXPECT_TRUE(
      holds(html, "<tr class=\"wrong\"><th scope=\"row\">1</th><td class=\"is\">wrong</td>"));
  EXPECT_TRUE(holds(html, "<summary>reply, 8 bytes</summary><pre dir=\"auto\">2+2\nis 4</pre>"));
  EXPECT_FALSE(holds(html, "<script"));
  // The style's buttons stand beside the table's frame, as its selectors need.
  const std::size_t buttons = html.find("<input type=\"radio\"");
  const std::size_t frame = html.find("<div class=\"scroll\">", buttons);
  EXPECT_FALSE(holds(html.substr(buttons, frame - buttons), "<div"));
}

TEST(HtmlAccuracy, categories_stand_below_their_score) {
  RunContext context;
  context.accuracy = Json::parse(R"({"accuracy_scores": [{"dataset_name": "bfcl", "score": 0.5,
    "complete": true, "breakdown": {"normalized_single_turn_score": 40,
    "category_scores": {"live": 60}, "subset_scores": {"live_simple": 61}},
    "uncertainty": {"category_scores.live": {"interval": [50, 70], "confidence": 0.95,
                                             "method": "wilson", "samples": 9}}}]})")
                         .value();
  const std::string html = html_accuracy(context);
  EXPECT_TRUE(holds(html, "<td>… normalized_single_turn_score</td><td>40</td>"));
  EXPECT_TRUE(holds(html, "<td>… live</td><td>60</td><td>50 to 70 (95 %, wilson)</td><td>9</td>"));
  EXPECT_TRUE(holds(html, "<td>… live_simple</td><td>61</td>"));
}

TEST(HtmlAccuracy, a_run_without_scores_has_no_such_section) {
  const std::string html = html_report(sample_point(), sample_context());
  EXPECT_FALSE(holds(html, "id=\"quality\""));
  EXPECT_FALSE(holds(html, "<fieldset"));
  EXPECT_FALSE(holds(html, ".judged"));
  EXPECT_TRUE(html_accuracy({}).empty());
}

TEST(HtmlAccuracy, what_a_model_said_is_text) {
  const std::string evil = "</pre><script>x</script>\"'&";
  RunContext context = scored_context();
  Json& set = context.judged.make_array()[0];
  set.set("dataset", evil);
  Json& one = set.find("replies")->make_array()[0];
  for (const char* key : {"kind", "extracted", "rule", "truth", "reply"}) one.set(key, evil);
  Json& entry = context.accuracy.find("accuracy_scores")->make_array()[0];
  entry.set("dataset_name", evil).set("note", evil).set("score", Json().set(evil, evil));
  context.accuracy.find("quality")->set("workload", evil);
  const std::string html = html_report(sample_point(), context);
  expect_balanced(html);
  EXPECT_FALSE(holds(html, "<script"));
  EXPECT_TRUE(holds(html, "<tr class=\"other\">"));
}

}  // namespace
}  // namespace assay::report
