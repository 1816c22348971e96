#include "sites/release.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::sites {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

const ReleaseDocument kRunHead{
    .run = "r", .benchmark = "b", .dataset_sha256 = std::string(64, '0'), .model = "m"};

TEST(Release, only_fields_that_both_sides_name_leave_and_they_are_rounded) {
  const Candidate made = make_candidate(
      {{.concurrency = 4,
        .completed = 100,
        .figures = {{"qps", 12.3456}, {"tps", 999.9}, {"ttft_ms_p50", 1.5}},
        .scored = {}}},
      {.fields = {"qps", "ttft_ms_p50"}, .k_minimum = 10, .digits = 3}, {"qps", "tps"}, kRunHead);
  ASSERT_EQ(made.document.levels.size(), 1U);
  EXPECT_THAT(made.document.levels[0].figures, ElementsAre(Pair("qps", 12.3)));
  EXPECT_THAT(made.kept_back, ElementsAre(HasSubstr("tps: the policy does not list it")));
}

TEST(Release, a_figure_over_fewer_than_k_samples_stays) {
  const ReleasePolicy policy{.fields = {"qps", "completed"}, .k_minimum = 10, .digits = 3};
  const std::vector<std::string> wanted{"qps", "completed"};
  const auto figures_over = [&](std::int64_t n) {
    return make_candidate({{.concurrency = 1,
                            .completed = n,
                            .figures = {{"qps", 1.0}, {"completed", static_cast<double>(n)}},
                            .scored = {}}},
                          policy, wanted, kRunHead)
        .document.levels[0]
        .figures.size();
  };
  EXPECT_EQ(figures_over(9), 0U);
  EXPECT_EQ(figures_over(10), 2U);
}

// The share of each kind, and what is derived from it.
TEST(Release, a_share_that_tells_of_fewer_than_k_cases_stays_and_so_does_whether_it_is_enough) {
  const std::vector<std::string> all{"accuracy", "accuracy_met", "safe_share", "safety_grade",
                                     "safety_met"};
  const ReleasePolicy policy{.fields = all, .k_minimum = 5, .digits = 6};
  const auto leave = [&](int right, int safe) {
    return make_candidate({{.concurrency = 1,
                            .completed = 100,
                            .figures = {{"accuracy", right / 100.0},
                                        {"accuracy_met", 1},
                                        {"safe_share", safe / 100.0},
                                        {"safety_grade", 3},
                                        {"safety_met", 0}},
                            .scored = 100,
                            .judged = 100}},
                          policy, all, kRunHead)
        .document.levels[0]
        .figures.size();
  };
  const auto few = [](int cases) {
    return (cases > 0 && cases < 5) || (cases > 95 && cases < 100);
  };
  for (int right = 0; right <= 100; ++right) {
    const int safe = 100 - right / 2;
    EXPECT_EQ(leave(right, safe), (few(right) ? 0U : 2U) + (few(safe) ? 0U : 3U)) << right;
  }
}

TEST(Release, what_follows_from_a_share_stays_without_it) {
  const ReleasePolicy policy{.fields = {"accuracy_met"}, .k_minimum = 5, .digits = 6};
  const auto made = make_candidate(
      {{.concurrency = 1, .completed = 100, .figures = {{"accuracy_met", 1}}, .scored = 100}},
      policy, {"accuracy_met"}, kRunHead);
  EXPECT_TRUE(made.document.levels[0].figures.empty());
}

TEST(Release, rounding_keeps_significant_digits) {
  EXPECT_EQ(rounded_to(0.012345, 2), 0.012);
  EXPECT_EQ(rounded_to(98765, 1), 100000);
  EXPECT_EQ(rounded_to(-1.25, 3), -1.25);
  EXPECT_EQ(rounded_to(0, 3), 0);
}

TEST(Release, a_document_has_one_spelling_and_no_room_for_a_text) {
  ReleaseDocument document = kRunHead;
  document.levels = {{.concurrency = 1, .figures = {{"qps", 1.5}, {"accuracy", 0.25}}}};
  const std::string text = to_text(document);
  const auto read = parse_release(text);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(to_text(*read), text);
  for (const auto& [was, becomes] : {std::pair<std::string, std::string>{"\"qps\"", "\"patient\""},
                                     {"1.5", "\"he said\""},
                                     {"1.5", "1.50"},
                                     {"\"version\": 1", "\"version\": 1, \"note\": \"x\""},
                                     {"\n}\n", "\n}\n\n"},
                                     {"\"r\"", "\"a b\""}}) {
    std::string changed = text;
    changed.replace(changed.find(was), was.size(), becomes);
    EXPECT_FALSE(parse_release(changed).has_value()) << changed;
  }
}

}  // namespace
}  // namespace assay::sites
