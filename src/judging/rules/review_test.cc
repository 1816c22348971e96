#include "rules/review.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/format.h"
#include "base/rng.h"

namespace assay::rules {
namespace {

Day day(std::string_view text) { return *Day::parse(text); }

const Actor kChair{"chair", ""};
const Actor kWe{"submitter", "We"};
const Actor kThey{"reviewer", "They"};

// A submission that grows by acts; each must be allowed, unless the test asks otherwise.
class Board {
 public:
  explicit Board(const std::string& at, const char* mode = "confidential") {
    const auto entry = open_submission(
        Json().set("id", "s1").set("organisation", "We").set("mode", mode), kWe, at);
    EXPECT_TRUE(entry);
    entries_.push_back(*entry);
  }
  // The state on that day.
  Review on(std::string_view today) const {
    std::vector<rulebook::HistoryEntry> until;
    for (const rulebook::HistoryEntry& entry : entries_) {
      if (*Day::parse(entry.at) <= day(today)) until.push_back(entry);
    }
    return fold_review(until, day(today));
  }
  Result<rulebook::HistoryEntry> attempt(const std::string& at, const Actor& actor,
                                         const Json& act) const {
    return make_act(on(at), act, actor, at);
  }
  void act(const std::string& at, const Actor& actor, const Json& told) {
    const auto entry = attempt(at, actor, told);
    ASSERT_TRUE(entry) << entry.error().message;
    entries_.push_back(*entry);
  }
  void checked(const std::string& at) { act(at, kChair, Json().set("kind", "check_passed")); }
  void object(const std::string& at, const char* kind = "validity") {
    act(at, kThey,
        Json().set("kind", "objection").set("objection_kind", kind).set("text", "wrong"));
  }
  std::vector<rulebook::HistoryEntry>& entries() { return entries_; }

 private:
  std::vector<rulebook::HistoryEntry> entries_{};
};

Json about(const char* kind, const char* objection) {
  return Json().set("kind", kind).set("objection", objection).set("text", "because");
}

TEST(Calendar, business_days_step_over_weekends_and_holidays) {
  EXPECT_EQ(day("2026-11-20").weekday(), 5);
  EXPECT_EQ(plus_business_days(day("2026-11-20"), 3, {}).text(), "2026-11-25");
  EXPECT_EQ(plus_business_days(day("2026-11-20"), 3, {day("2026-11-24")}).text(), "2026-11-26");
  EXPECT_EQ(business_days_between(day("2026-11-20"), day("2026-11-25"), {}), 3);
  EXPECT_EQ(business_days_between(day("2026-11-25"), day("2026-11-20"), {}), -3);
  EXPECT_FALSE(Day::parse("2026-02-30"));
  EXPECT_FALSE(Day::parse("20261120"));
  EXPECT_EQ(Day::parse("2026-11-20T10:00:00Z")->text(), "2026-11-20");
}

TEST(Calendar, holidays_are_dates_one_a_line) {
  const auto some = parse_holidays(
      "# of the board\n\n2026-12-25 Christmas\n  2027-01-01\tNew Year # a Friday\r\n2026-12-25\n");
  ASSERT_TRUE(some) << some.error().message;
  EXPECT_EQ(*some, (Holidays{day("2026-12-25"), day("2027-01-01")}));
  EXPECT_TRUE(parse_holidays("")->empty());
  for (const char* wrong : {"25.12.2026", "2026-12-25T00:00:00Z", "2026-13-01", "2026-12-255"}) {
    const auto bad = parse_holidays(format("2026-12-25\n{} x\n", wrong));
    ASSERT_FALSE(bad) << wrong;
    EXPECT_THAT(bad.error().message, testing::HasSubstr("line 2")) << wrong;
  }
}

TEST(Calendar, adding_and_counting_are_inverse_over_fifty_years) {
  Rng rng(11);
  for (int i = 0; i < 2000; ++i) {
    const Day from{static_cast<int>(20'000 + rng.below(18'262))};
    Holidays holidays;
    for (int k = 0; k < 10; ++k) holidays.insert(from.plus(static_cast<int>(rng.below(40))));
    const int n = static_cast<int>(rng.below(25));
    const Day to = plus_business_days(from, n, holidays);
    ASSERT_EQ(business_days_between(from, to, holidays), n) << from.text() << " " << n;
    ASSERT_TRUE(n == 0 || is_business_day(to, holidays)) << from.text();
  }
}

TEST(Calendar, a_cohort_wants_one_business_day) {
  EXPECT_EQ(cohort_after(day("2026-09-01")).text(), "2026-09-C0");  // 2 September
  EXPECT_EQ(cohort_after(day("2026-09-02")).text(), "2026-09-C1");
  EXPECT_EQ(cohort_after(day("2026-12-16")).text(), "2027-01-C0");
}

// The rules' own example: submitted on Monday, 10 August 2026, checks green on the 12th.
TEST(Review, the_worked_example_of_the_rules) {
  Board board("2026-08-10T09:00:00Z");
  EXPECT_EQ(board.on("2026-08-10").state, ReviewState::compliance_checking);
  board.checked("2026-08-12T09:00:00Z");
  const Json json = to_json(board.on("2026-08-13"), day("2026-08-13"), true);
  EXPECT_EQ(json["review_to"].as_string(), "2026-09-02");
  board.object("2026-08-21T09:00:00Z");
  board.act("2026-08-25T09:00:00Z", kWe, about("answer", "3"));
  board.act("2026-08-26T09:00:00Z", kThey, about("retract", "3"));
  board.act("2026-08-28T09:00:00Z", kChair, Json().set("kind", "finalize"));
  EXPECT_EQ(board.on("2026-08-28").cohort()->text(), "2026-09-C0");

  Board provisional("2026-08-10T09:00:00Z", "provisional");
  provisional.checked("2026-08-12T09:00:00Z");
  EXPECT_EQ(provisional.on("2026-08-12").cohort()->text(), "2026-08-C1");
}

TEST(Review, a_failed_check_is_the_end) {
  Board board("2026-08-10T09:00:00Z");
  board.act("2026-08-11T09:00:00Z", kChair, Json().set("kind", "check_failed"));
  EXPECT_EQ(board.on("2026-08-12").state, ReviewState::rejected);
  EXPECT_FALSE(board.attempt("2026-08-12T09:00:00Z", kChair, Json().set("kind", "check_passed")));
}

TEST(Review, answers_that_are_late_cost_cohorts_and_then_the_submission) {
  Board board("2026-08-03T09:00:00Z");
  board.checked("2026-08-03T10:00:00Z");
  board.object("2026-08-07T09:00:00Z");  // Friday; due Wednesday the 12th
  EXPECT_EQ(board.on("2026-08-14").delay_cohorts, 0);
  EXPECT_EQ(board.on("2026-08-17").delay_cohorts, 1);
  EXPECT_EQ(board.on("2026-08-20").delay_cohorts, 2);
  EXPECT_EQ(board.on("2026-08-25").state, ReviewState::resolution);
  EXPECT_EQ(board.on("2026-08-26").state, ReviewState::withdrawn);
  // A late answer keeps its cost: penalties are not taken back.
  board.act("2026-08-17T09:00:00Z", kWe, about("answer", "3"));
  EXPECT_EQ(board.on("2026-08-18").delay_cohorts, 1);
}

TEST(Review, an_objector_who_keeps_silent_has_retracted) {
  Board board("2026-08-03T09:00:00Z");
  board.checked("2026-08-03T10:00:00Z");
  board.object("2026-08-04T09:00:00Z");
  board.act("2026-08-05T09:00:00Z", kWe, about("answer", "3"));
  EXPECT_EQ(board.on("2026-08-10").objections[0].state, ObjectionState::answered);
  EXPECT_EQ(board.on("2026-08-11").objections[0].state, ObjectionState::retracted);
}

TEST(Review, open_objections_lead_to_resolution_and_to_dispute) {
  Board board("2026-08-03T09:00:00Z");
  board.checked("2026-08-03T10:00:00Z");
  board.object("2026-08-20T09:00:00Z");
  for (const char* at : {"2026-08-21", "2026-08-25", "2026-08-27", "2026-08-31", "2026-09-02",
                         "2026-09-04", "2026-09-08", "2026-09-10", "2026-09-14"}) {
    board.act(std::string(at) + "T09:00:00Z", kWe, about("answer", "3"));
    board.act(std::string(at) + "T10:00:00Z", kThey, about("reply", "3"));
  }
  EXPECT_EQ(board.on("2026-08-24").state, ReviewState::review_pending);
  EXPECT_EQ(board.on("2026-09-14").state, ReviewState::resolution);
  EXPECT_EQ(board.on("2026-09-15").state, ReviewState::disputed);
  EXPECT_FALSE(board.attempt("2026-09-15T09:00:00Z", kChair, Json().set("kind", "finalize")));
  board.act("2026-09-15T09:00:00Z", kChair, about("rule", "3").set("upheld", false));
  board.act("2026-09-15T10:00:00Z", kChair, Json().set("kind", "finalize"));
  EXPECT_EQ(board.on("2026-09-16").state, ReviewState::finalized);
}

TEST(Review, late_objections_are_of_three_kinds) {
  Board board("2026-08-03T09:00:00Z");
  board.checked("2026-08-03T10:00:00Z");
  const auto with = [](const char* kind) {
    return Json().set("kind", "objection").set("objection_kind", kind).set("text", "x");
  };
  EXPECT_TRUE(board.attempt("2026-08-24T09:00:00Z", kThey, with("reproducibility")));
  EXPECT_FALSE(board.attempt("2026-08-25T09:00:00Z", kThey, with("reproducibility")));
  EXPECT_TRUE(board.attempt("2026-08-25T09:00:00Z", kThey, with("availability")));
}

TEST(Review, a_cosmetic_objection_never_blocks) {
  Board board("2026-08-03T09:00:00Z");
  board.checked("2026-08-03T10:00:00Z");
  board.object("2026-08-04T09:00:00Z", "cosmetic");
  EXPECT_EQ(board.on("2026-08-04").objections[0].weight(), "low");
  EXPECT_TRUE(board.attempt("2026-08-05T09:00:00Z", kChair, Json().set("kind", "finalize")));
}

// Tries every act by every role, in every state that can be reached here.
TEST(Review, only_the_role_that_owns_an_act_may_do_it) {
  Board board("2026-08-03T09:00:00Z");
  board.checked("2026-08-03T10:00:00Z");
  board.object("2026-08-04T09:00:00Z");
  const Actor others[] = {{"reader", ""}, {"submitter", "Else"}, {"", ""}};
  for (const char* kind : {"check_passed", "answer", "accept", "withdraw", "rule", "finalize",
                           "publish", "reject", "invalidate", "embargo", "withdraw_point",
                           "retract", "reply", "finding", "objection", "submitted", "delete"}) {
    for (const Actor& actor : others) {
      EXPECT_FALSE(board.attempt("2026-08-05T09:00:00Z", actor, about(kind, "3"))) << kind;
    }
  }
  const Actor own{"reviewer", "We"};
  EXPECT_FALSE(board.attempt("2026-08-05T09:00:00Z", own,
                             about("objection", "").set("objection_kind", "validity")));
  const Actor third{"reviewer", "Third"};
  EXPECT_FALSE(board.attempt("2026-08-05T09:00:00Z", third, about("retract", "3")));
  EXPECT_THAT(allowed_acts(board.on("2026-08-05"), kWe, day("2026-08-05")),
              testing::UnorderedElementsAre("answer", "accept", "comment", "withdraw",
                                            "withdraw_point", "embargo"));
  EXPECT_THAT(allowed_acts(board.on("2026-08-05"), {"reader", ""}, day("2026-08-05")),
              testing::IsEmpty());
}

TEST(Review, only_the_submitter_and_the_chair_may_submit) {
  const Json told = Json().set("id", "x").set("organisation", "We");
  EXPECT_TRUE(open_submission(told, kWe, "2026-08-03T09:00:00Z"));
  EXPECT_TRUE(open_submission(told, kChair, "2026-08-03T09:00:00Z"));
  EXPECT_FALSE(open_submission(told, kThey, "2026-08-03T09:00:00Z"));
  EXPECT_FALSE(open_submission(told, {"submitter", "Else"}, "2026-08-03T09:00:00Z"));
  EXPECT_FALSE(open_submission(Json().set("id", "x"), kChair, "2026-08-03T09:00:00Z"));
}

TEST(Review, one_changed_byte_of_the_history_is_seen) {
  Board board("2026-08-03T09:00:00Z");
  board.checked("2026-08-03T10:00:00Z");
  board.object("2026-08-04T09:00:00Z");
  EXPECT_TRUE(board.on("2026-08-05").intact);
  Rng rng(3);
  for (int i = 0; i < 200; ++i) {
    std::vector<rulebook::HistoryEntry> entries = board.entries();
    rulebook::HistoryEntry& entry = entries[rng.below(entries.size())];
    std::string* const fields[] = {&entry.submission, &entry.at,   &entry.actor,    &entry.role,
                                   &entry.kind,       &entry.body, &entry.previous, &entry.hash};
    std::string& field = *fields[rng.below(std::size(fields))];
    field[rng.below(field.size())] ^= static_cast<char>(1 << rng.below(7));
    EXPECT_FALSE(fold_review(entries, day("2026-08-05")).intact) << i;
  }
  std::vector<rulebook::HistoryEntry> shorter = board.entries();
  shorter.erase(shorter.begin() + 1);
  EXPECT_FALSE(fold_review(shorter, day("2026-08-05")).intact);
}

TEST(Review, an_id_that_could_be_a_path_or_a_page_is_refused) {
  const auto opened = [](const std::string& id) {
    return open_submission(Json().set("id", id).set("organisation", "We"), kChair,
                           "2026-08-03T09:00:00Z");
  };
  for (const char* bad : {"../../../../pwned", "x<script>", "..", ".hidden", "-rf", "a/b", "a b",
                          "a..b", "a\\b", "\xc3\xa4", "a%2fb", "a\n"}) {
    const auto entry = opened(bad);
    ASSERT_FALSE(entry) << bad;
    EXPECT_EQ(entry.error().code, Code::invalid) << bad;
  }
  EXPECT_FALSE(opened(std::string("a\0b", 3)));
  EXPECT_FALSE(opened(std::string(129, 'x')));
  EXPECT_TRUE(opened(std::string(128, 'x')));
  for (const char* good : {"s1", "Org-2026.08_b", "7"}) EXPECT_TRUE(opened(good)) << good;
}

TEST(Review, an_embargo_has_a_limit_from_the_first_day_on) {
  const auto opened = [](const char* date) {
    return open_submission(Json()
                               .set("id", "s")
                               .set("organisation", "We")
                               .set("mode", "embargo")
                               .set("embargo_date", date),
                           kChair, "2026-08-03T09:00:00Z");
  };
  EXPECT_TRUE(opened("2026-10-30"));
  for (const char* bad : {"2026-10-31", "2027-01-01", "9999-12-31"}) EXPECT_FALSE(opened(bad));
}

// Such a day once caused an endless search for a cohort in every list of the submissions.
TEST(Review, an_old_history_s_embargo_beyond_all_cohorts_comes_to_an_end) {
  for (const char* date : {"9999-12-31", "9999-01-01"}) {
    Review review{.id = "s", .embargo_date = date, .checked = day("2026-08-03")};
    const auto cohort = review.cohort();
    ASSERT_TRUE(cohort);
    EXPECT_GE(cohort->number, 9998 * 24) << date;
  }
}

TEST(Review, long_texts_are_refused) {
  Board board("2026-08-03T09:00:00Z");
  EXPECT_FALSE(board.attempt("2026-08-03T10:00:00Z", kWe,
                             Json().set("kind", "comment").set("text", std::string(20'001, 'x'))));
}

}  // namespace
}  // namespace assay::rules
