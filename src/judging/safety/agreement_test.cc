#include "safety/agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::safety {
namespace {

using ::testing::ElementsAre;

std::vector<PairOfVerdicts> table(int both_safe, int only_a, int only_b, int neither) {
  std::vector<PairOfVerdicts> out(static_cast<std::size_t>(both_safe), {true, true});
  out.insert(out.end(), static_cast<std::size_t>(only_a), {true, false});
  out.insert(out.end(), static_cast<std::size_t>(only_b), {false, true});
  out.insert(out.end(), static_cast<std::size_t>(neither), {false, false});
  return out;
}

TEST(Agreement, cohens_kappa_is_that_of_a_table_worked_by_hand) {
  // p_o = 0.7; p_e = 0.5 · 0.6 + 0.5 · 0.4 = 0.5.
  const Agreement found = cohen(table(20, 5, 10, 15)).value();
  EXPECT_DOUBLE_EQ(found.observed, 0.7);
  EXPECT_NEAR(*found.kappa, 0.4, 1e-12);
  // The asymptotic deviation of this table is 0.129 (Fleiss, Cohen and Everitt 1969).
  EXPECT_NEAR(found.interval.low, 0.4 - 1.96 * 0.129, 0.04);
  EXPECT_NEAR(found.interval.high, 0.4 + 1.96 * 0.129, 0.04);
}

TEST(Agreement, where_one_word_alone_was_used_there_is_no_kappa) {
  const Agreement found = cohen(table(9, 0, 0, 0)).value();
  EXPECT_EQ(found.observed, 1);
  EXPECT_FALSE(found.kappa);
  EXPECT_FALSE(cohen({}));
  EXPECT_DOUBLE_EQ(*cohen(table(4, 0, 0, 4))->kappa, 1);
  EXPECT_DOUBLE_EQ(*cohen(table(0, 4, 4, 0))->kappa, -1);
}

TEST(Agreement, fleiss_kappa_is_that_of_a_panel_worked_by_hand) {
  // Three raters: agreement of replies 1, 1/3, 1/3, 1; mean 2/3; p = 7/12, p_e = 37/72.
  const Agreement found = fleiss({{3, 0}, {2, 1}, {1, 2}, {0, 3}}).value();
  EXPECT_NEAR(found.observed, 2.0 / 3, 1e-12);
  EXPECT_NEAR(*found.kappa, (2.0 / 3 - 0.5) / 0.5, 1e-12);
  const Agreement uneven = fleiss({{3, 0}, {2, 1}, {2, 1}, {0, 3}}).value();
  EXPECT_NEAR(*uneven.kappa, (2.0 / 3 - 37.0 / 72) / (1 - 37.0 / 72), 1e-12);
}

TEST(Agreement, krippendorffs_alpha_is_that_of_his_own_example) {
  // Two observers, ten units, binary: alpha 0.095 (Krippendorff 2011, section A).
  const std::vector<Ratings> units = {{1, 1}, {0, 2}, {1, 1}, {2, 0}, {2, 0},
                                      {1, 1}, {2, 0}, {2, 0}, {1, 1}, {2, 0}};
  EXPECT_NEAR(*krippendorff(units)->kappa, 0.095, 0.0005);
  // A reply that one person rated says nothing of agreement.
  std::vector<Ratings> more = units;
  more.push_back({1, 0});
  EXPECT_EQ(*krippendorff(more)->kappa, *krippendorff(units)->kappa);
  EXPECT_EQ(krippendorff(more)->replies, 10U);
}

TEST(Agreement, a_label_is_a_word_or_a_count_and_one_rater_rates_once) {
  const auto labels = labels_from(
      "{\"uid\":\"a\",\"rater\":\"r\",\"safe\":true}\n\n"
      "{\"uid\":\"b\",\"safe\":3,\"unsafe\":2,\"group\":\"jp\"}\n");
  ASSERT_TRUE(labels);
  EXPECT_EQ((*labels)[0].ratings.safe, 1U);
  EXPECT_EQ((*labels)[1].ratings.unsafe, 2U);
  EXPECT_EQ((*labels)[1].group, "jp");
  const auto said = [](std::string_view text) { return labels_from(text).error().message; };
  const std::string one = "{\"uid\":\"a\",\"rater\":\"r\",\"safe\":true}\n";
  EXPECT_EQ(said(one + one), "line 2: rater 'r' has rated 'a' already");
  EXPECT_THAT(said("{\"uid\":\"a\",\"safe\":0,\"unsafe\":0}"), ::testing::HasSubstr("line 1"));
  EXPECT_THAT(said("{\"uid\":\"a\",\"safe\":-1,\"unsafe\":2}"), ::testing::HasSubstr("line 1"));
  EXPECT_EQ(said("{\"safe\":true}"), "line 1: no \"uid\"");
}

Item voted_item(std::string uid, std::string_view votes) {
  Item out{.uid = std::move(uid), .hazard = "clr", .locale = "en_us", .reply_sha256 = "x"};
  char name = 'a';
  for (const char c : votes) {
    out.votes.push_back({.judge = std::string(1, name++), .valid = c != '-', .safe = c == 's'});
  }
  out.verdict = joint_verdict({}, out.votes);
  return out;
}

TEST(Agreement, disagreement_of_people_is_kept_and_shown) {
  const std::vector<Item> items = {voted_item("p", "ss"), voted_item("q", "su"),
                                   voted_item("r", "uu"), voted_item("s", "-u")};
  const std::vector<Label> labels = {{.uid = "p", .group = "jp", .ratings = {3, 0}},
                                     {.uid = "q", .group = "jp", .ratings = {2, 0}},
                                     {.uid = "q", .group = "fr", .ratings = {0, 2}},
                                     {.uid = "r", .ratings = {1, 3}},
                                     {.uid = "s", .reply_sha256 = "other", .ratings = {1, 0}},
                                     {.uid = "z", .ratings = {1, 0}}};
  const AgreementReport found = agree(items, labels).value();
  const Json& rows = found.json["distributions"];
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[1]["entropy"].as_double(), 1);  // half and half
  EXPECT_EQ(rows[1]["groups"]["fr"]["share"].as_double(-1), 0);
  EXPECT_EQ(rows[1]["groups"]["jp"]["share"].as_double(-1), 1);
  const Json& joint = found.json["with_people"][2];
  EXPECT_EQ(joint["split_evenly"].as_int(), 1);
  EXPECT_EQ(joint["cohen"]["replies"].as_int(), 2);
  EXPECT_DOUBLE_EQ(joint["cohen"]["kappa"].as_double(), 1);
  EXPECT_DOUBLE_EQ(joint["soft"].as_double(), (1 + 0.5 + 0.75) / 3);
  EXPECT_EQ(found.json["judges"][0]["cohen"]["replies"].as_int(), 3);
  EXPECT_THAT(found.findings,
              ElementsAre("1 labels belong to no item", "1 labels belong to another reply"));
}

}  // namespace
}  // namespace assay::safety
