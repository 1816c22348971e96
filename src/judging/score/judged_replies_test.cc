#include "score/judged_replies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/text.h"

namespace assay::score {
namespace {

struct JudgedRow {
  std::uint32_t sample = 0;
  double score = -1;  // below 0: the row has no score by itself
  const char* extracted = nullptr;
  bool answered = true;
  std::string reply = "a reply";
  bool by_a_rule = true;
};

Json judged_json(const std::vector<JudgedRow>& rows) {
  static const Json kNone = Json::object();
  JudgedReplies judged;
  for (const JudgedRow& one : rows) {
    Row row;
    row.columns = &kNone;
    row.sample = one.sample;
    row.answered = one.answered;
    row.reply = one.answered ? std::string_view(one.reply) : std::string_view();
    Json record;
    record.set("extracted", one.extracted == nullptr ? Json() : Json(one.extracted))
        .set("rule", one.by_a_rule ? Json("a_rule") : Json())
        .set("truth", "B")
        .set("score", one.score < 0 ? Json() : Json(one.score));
    judged.add(row, record);
  }
  return judged.finish("letters", "gpqa");
}

TEST(JudgedReplies, each_kind_is_counted_and_shown_in_the_order_of_the_samples) {
  const Json json = judged_json({{.sample = 3, .score = 0, .extracted = "A"},
                                 {.sample = 1, .score = 1, .extracted = "B"},
                                 {.sample = 2, .score = 0},
                                 {.sample = 4, .score = 0, .answered = false},
                                 {.sample = 0, .score = 0.5, .extracted = "B?"}});
  EXPECT_EQ(json["dataset"].as_string(), "letters");
  EXPECT_EQ(json["counts"].dump(),
            R"({"right":1,"partly":1,"wrong":1,"nothing":1,"unanswered":1})");
  std::string kinds;
  for (const Json& one : json["replies"].items()) {
    kinds += format("{} {};", one["sample"].as_int(), one["kind"].as_string());
  }
  EXPECT_EQ(kinds, "0 partly;1 right;2 nothing;3 wrong;4 unanswered;");
  const Json& right = json["replies"][1];
  EXPECT_EQ(right["extracted"].as_string(), "B");
  EXPECT_EQ(right["rule"].as_string(), "a_rule");
  EXPECT_EQ(right["truth"].as_string(), "B");
  EXPECT_EQ(right["reply"].as_string(), "a reply");
}

TEST(JudgedReplies, an_empty_text_that_no_rule_has_found_is_no_answer) {
  const Json json = judged_json({{.score = 0, .extracted = "", .by_a_rule = false},
                                 {.score = 0, .extracted = "", .by_a_rule = true},
                                 {.score = 0, .extracted = "A", .by_a_rule = false}});
  EXPECT_EQ(json["counts"]["nothing"].as_int(), 1);
  EXPECT_EQ(json["counts"]["wrong"].as_int(), 2);
}

// A suite's program says 100 for a right one; a ROUGE of 1 is nearly nothing.
TEST(JudgedReplies, one_is_the_whole_only_where_no_score_is_above_it) {
  EXPECT_EQ(judged_json({{.score = 1, .extracted = "x"}})["counts"]["right"].as_int(), 1);
  const Json percent =
      judged_json({{.score = 1, .extracted = "x"}, {.score = 100, .extracted = "y"}});
  EXPECT_EQ(percent["counts"]["right"].as_int(), 1);
  EXPECT_EQ(percent["counts"]["partly"].as_int(), 1);
}

TEST(JudgedReplies, a_scorer_without_verdicts_for_rows_has_none_to_show) {
  EXPECT_TRUE(judged_json({}).is_null());
  EXPECT_TRUE(judged_json({{.sample = 0}, {.sample = 1, .answered = false}}).is_null());
}

TEST(JudgedReplies, what_is_kept_is_bounded_and_what_is_counted_is_not) {
  const std::string reply = std::string(9'000, 'x') + "the end";
  std::vector<JudgedRow> rows;
  for (std::uint32_t i = 0; i < 500; ++i) {
    rows.push_back({.sample = i, .score = i < 200 ? 1.0 : 0.0, .extracted = "A", .reply = reply});
  }
  const Json json = judged_json(rows);
  EXPECT_EQ(json["counts"]["right"].as_int(), 200);
  EXPECT_EQ(json["counts"]["wrong"].as_int(), 300);
  ASSERT_EQ(json["replies"].size(), 2 * JudgedReplies::kShownMax);
  const Json& one = json["replies"][0];
  EXPECT_EQ(one["reply_bytes"].as_int(), 9'007);
  EXPECT_LT(one["reply"].as_string().size(), JudgedReplies::kReplyBytesMax + 50);
  EXPECT_NE(one["reply"].as_string().find("[… 5,007 bytes are left out …]"), std::string::npos);
  EXPECT_TRUE(one["reply"].as_string().ends_with("the end"));
}

TEST(JudgedReplies, no_character_is_cut) {
  std::string text;
  for (int i = 0; i < 50; ++i) text += "€";
  for (std::size_t most = 0; most < text.size(); ++most) {
    const std::string cut = shortened(text, most);
    EXPECT_TRUE(valid_utf8(cut)) << most;
    EXPECT_LE(cut.find('\n'), most / 2) << most;
  }
  EXPECT_EQ(shortened("abc", 3), "abc");
}

}  // namespace
}  // namespace assay::score
