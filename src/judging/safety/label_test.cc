#include "safety/label.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/format.h"

namespace assay::safety {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

GradeReport report() {
  std::vector<Item> items;
  for (const char* const hazard : {"clr", "cnr", "cnt"}) {
    for (int i = 0; i < 40; ++i) {
      items.push_back({.uid = format("{}{}", hazard, i),
                       .hazard = hazard,
                       .locale = "en_us",
                       .votes = {{.judge = "j", .valid = true, .safe = i > 2}},
                       .verdict = {.valid = true, .safe = i > 2}});
    }
  }
  return grade_items(find_standard("standin").value(), items).value();
}

LabelFacts facts() {
  return {.subject = "a<b>&\"model\"", .measured = "2026-11-24T10:00:00Z", .made_by = "assay t"};
}

std::vector<std::string> clauses_of(const LabelFacts& given) {
  const Json label =
      make_label(report(), find_standard("standin").value(), given, find_clauses("iso").value());
  std::vector<std::string> out;
  for (const Json& one : label["clauses"].items()) {
    out.push_back(format("{} {}", one["standard"].as_string(), one["clause"].as_string()));
  }
  return out;
}

TEST(Label, names_a_clause_only_if_the_run_has_its_evidence) {
  LabelFacts given = facts();
  EXPECT_THAT(clauses_of(given), Not(::testing::Contains("ISO/IEC 42001:2023 A.7.5")));
  EXPECT_THAT(clauses_of(given), Not(::testing::Contains("ISO/IEC 42001:2023 A.8.2")));
  EXPECT_THAT(clauses_of(given), Not(::testing::Contains("ISO/IEC 42001:2023 A.6.2.8")));
  EXPECT_THAT(clauses_of(given), ::testing::Contains("ISO/IEC 42001:2023 9.1"));
  given.sealed = "c0";
  given.signer = "f1";
  given.records = Json::array().push_back(Json().set("path", "p").set("sha256", "s"));
  const auto red_teaming = [](const std::string& one) {
    return one.starts_with("ISO/IEC 42119-7");
  };
  EXPECT_TRUE(std::ranges::none_of(clauses_of(given), red_teaming));
  given.attacks = Json()
                      .set("name", "a")
                      .set("pairs", 4)
                      .set("gap", 0.25)
                      .set("interval", Json::array().push_back(-0.1).push_back(0.5));
  EXPECT_TRUE(std::ranges::any_of(clauses_of(given), red_teaming));
  const Json label =
      make_label(report(), find_standard("standin").value(), given, find_clauses("iso").value());
  EXPECT_THAT(label_html(label),
              HasSubstr("changes by +25.0 points (95 % -10.0 to +50.0; 4 pairs)"));
  EXPECT_EQ(clauses_of(given).size(), find_clauses("iso")->size());
}

TEST(Label, says_the_kind_of_prompts_the_interval_and_that_it_is_not_official) {
  const Standard standard = find_standard("standin").value();
  const Json label = make_label(report(), standard, facts(), {});
  EXPECT_EQ(label["kind"].as_string(), "demo");
  EXPECT_THAT(label["note"].as_string(), HasSubstr("not an official result"));
  EXPECT_EQ(label["overall"]["safe"].as_uint(), 111U);
  const double share = 111.0 / 120;
  EXPECT_LT(label["overall"]["interval"][0].as_double(), share);
  EXPECT_GT(label["overall"]["interval"][1].as_double(), share);
  EXPECT_TRUE(label["expires"].is_null());
  Standard practice = standard;
  practice.prompt_set = "practice";
  EXPECT_EQ(kind_of(practice, false), "practice");
  EXPECT_EQ(kind_of(practice, true), "sealed");
  EXPECT_EQ(kind_of(standard, true), "demo");
}

TEST(Label, a_practice_label_looks_different_and_foreign_words_are_escaped) {
  const Standard standard = find_standard("standin").value();
  const std::string svg = label_svg(make_label(report(), standard, facts(), {}));
  EXPECT_THAT(svg, HasSubstr("DEMO"));
  EXPECT_THAT(svg, HasSubstr("stroke-dasharray=\"9 5\""));
  EXPECT_THAT(svg, HasSubstr("NOT SIGNED"));
  EXPECT_THAT(svg, HasSubstr("a&lt;b&gt;&amp;&#34;model&#34;"));
  EXPECT_THAT(svg, Not(HasSubstr("a<b>")));
  LabelFacts given = facts();
  given.sealed = "c0";
  given.signer = "f1f1";
  Standard official = standard;
  official.prompt_set = "official";
  const Json label = make_label(report(), official, given, find_clauses("iso").value());
  EXPECT_THAT(label_svg(label), Not(HasSubstr("stroke-dasharray=\"9 5\"")));
  EXPECT_THAT(label_svg(label), HasSubstr("signed by f1f1"));
  const std::string html = label_html(label);
  EXPECT_THAT(html, HasSubstr("A.7.5 Data provenance"));
  EXPECT_THAT(html, HasSubstr("no claim"));
  EXPECT_THAT(html, Not(HasSubstr("a<b>")));
}

TEST(Label, a_file_of_clauses_is_checked) {
  EXPECT_THAT(find_clauses("nothing").error().message, HasSubstr("iso"));
  const auto clauses = find_clauses("iso");
  ASSERT_TRUE(clauses);
  // A title that no catalogue confirms is left out: the entry is named by its number.
  for (const Clause& one : *clauses) {
    const bool by_number = one.standard == "ISO/IEC 42119-7" || one.standard == "ISO/IEC 42119-8";
    EXPECT_EQ(one.title.empty(), by_number) << one.standard << " " << one.clause;
  }
}

}  // namespace
}  // namespace assay::safety
