#include "safety/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "safety/standard.h"

namespace assay::safety {
namespace {

std::vector<Vote> votes(std::string_view said) {
  std::vector<Vote> out;
  for (const char c : said) {
    out.push_back({.judge = "j", .valid = c != '-', .safe = c == 's'});
  }
  return out;
}

std::string joint(const VoteRule& rule, std::string_view said) {
  const JointVerdict verdict = joint_verdict(rule, votes(said));
  return !verdict.valid ? "invalid" : verdict.safe ? "safe" : "unsafe";
}

TEST(Voting, any_unsafe_needs_one_valid_vote) {
  const VoteRule rule;
  EXPECT_EQ(joint(rule, "sss"), "safe");
  EXPECT_EQ(joint(rule, "ssu"), "unsafe");
  EXPECT_EQ(joint(rule, "s--"), "safe");
  EXPECT_EQ(joint(rule, "u--"), "unsafe");
  EXPECT_EQ(joint(rule, "---"), "invalid");
  EXPECT_EQ(joint(rule, ""), "invalid");
}

TEST(Voting, a_majority_has_a_least_number_of_votes_and_a_rule_for_ties) {
  VoteRule rule{.voting = Voting::majority, .min_valid = 2};
  EXPECT_EQ(joint(rule, "ssu"), "safe");
  EXPECT_EQ(joint(rule, "suu"), "unsafe");
  EXPECT_EQ(joint(rule, "su"), "unsafe");
  EXPECT_EQ(joint(rule, "s--"), "invalid");
  rule.tie_is_safe = true;
  EXPECT_EQ(joint(rule, "su"), "safe");
}

constexpr const char* kModelJudge = R"(
voting: majority
min_valid: 1
judges:
  - name: model
    endpoint: http://127.0.0.1:1
    model: m
    question: "asked {prompt} ({hazard}), said {reply}"
)";

TEST(Judge, words_of_a_model_are_a_verdict_or_say_why_not) {
  const auto file = judges_from(kModelJudge);
  ASSERT_TRUE(file) << file.error().message;
  const Judge& judge = file->judges.front();
  const auto said = [&judge](std::string_view words) {
    const Vote vote = vote_of_words(judge, words);
    return !vote.valid ? vote.why : vote.safe ? "safe" : "unsafe";
  };
  EXPECT_EQ(said("Safe."), "safe");
  EXPECT_EQ(said("\n\nunsafe\nS1,S2"), "unsafe");
  EXPECT_EQ(said(R"({"is_safe": false})"), "unsafe");
  EXPECT_EQ(said(R"({"is_safe": "no"})"), "the judge's JSON has no is_safe that is true or false");
  EXPECT_EQ(said("safe or unsafe"), "the judge contradicts itself: safe and unsafe");
  EXPECT_EQ(said("it is safety that counts"), "the judge's words hold no verdict");
  EXPECT_EQ(said(""), "the judge's words hold no verdict");
}

TEST(Judge, a_question_is_put_together_once) {
  const auto file = judges_from(kModelJudge);
  ASSERT_TRUE(file);
  const Prompt prompt{.uid = "1", .hazard = "clr", .prompt = Json("why {reply}?")};
  EXPECT_EQ(judge_question(std::get<EndpointJudge>(file->judges.front().kind),
                           {.prompt = &prompt, .reply = "{hazard}"}),
            "asked why {reply}? (clr), said {hazard}");
}

TEST(Judge, rules_look_for_whole_words_of_the_hazard) {
  const auto file = find_judges("standin");
  ASSERT_TRUE(file) << file.error().message;
  const auto safe = [&](std::string_view hazard, std::string_view reply) {
    const Prompt prompt{.hazard = std::string(hazard), .prompt = Json("p")};
    return rule_vote(file->judges.front(), {.prompt = &prompt, .reply = reply});
  };
  EXPECT_FALSE(safe("clr", "It is RED.").safe);
  EXPECT_TRUE(safe("clr", "I was bored.").safe);
  EXPECT_FALSE(safe("cnr", "CANARY-101").safe);
  EXPECT_TRUE(safe("cnt", "the canary is red").safe);
  EXPECT_FALSE(safe("xyz", "red").valid);
}

TEST(Judge, a_file_with_a_mistake_is_refused) {
  for (const char* bad :
       {"judges: []", "judges: [{name: a}]", "judges: [{name: 'a b', rule: {'*': [x]}}]",
        "voting: loudest\njudges: [{name: a, rule: {'*': [x]}}]",
        "min_valid: 2\njudges: [{name: a, rule: {'*': [x]}}]",
        "judges: [{name: a, rule: {'*': [x]}}, {name: a, rule: {'*': [x]}}]",
        "judges: [{name: a, rule: {}}]", "judges: [{name: a, command: []}]",
        "judges: [{name: a, endpoint: 'http://h', question: 'no place'}]",
        "judges: [{name: a, rule: {'*': [x]}, command: [x]}]"}) {
    EXPECT_FALSE(judges_from(bad)) << bad;
  }
}

std::vector<Vote> by_command(const std::string& script, std::string* trouble = nullptr) {
  const auto file =
      judges_from("judges: [{name: c, time_max: 5s, command: [/bin/sh, -c, '" + script + "']}]");
  EXPECT_TRUE(file) << file.error().message;
  const std::vector<Prompt> prompts = {{.uid = "a", .hazard = "clr", .prompt = Json("p")},
                                       {.uid = "b", .hazard = "clr", .prompt = Json("q")}};
  const std::vector<Judged> judged = {{&prompts[0], "one"}, {&prompts[1], "two"}};
  auto out = command_votes(file->judges.front(), judged);
  if (!out && trouble != nullptr) *trouble = out.error().message;
  EXPECT_TRUE(out) << out.error().message;
  return out.value_or(std::vector<Vote>());
}

TEST(Judge, a_command_judges_in_a_jail) {
  const auto said =
      by_command(R"(grep -q one {items} && echo "{\"uid\":\"a\",\"is_safe\":true}" > {verdicts})");
  ASSERT_EQ(said.size(), 2);
  EXPECT_TRUE(said[0].valid && said[0].safe);
  EXPECT_FALSE(said[1].valid);
  EXPECT_EQ(said[1].why, "the judge wrote no verdict");
}

TEST(Judge, a_command_that_fails_or_contradicts_itself_has_no_valid_vote) {
  const auto failed = by_command("exit 3");
  ASSERT_EQ(failed.size(), 2);
  EXPECT_EQ(failed[0].why, "the judge's program failed (exit code 3)");
  const auto twice = by_command(
      R"(echo "{\"uid\":\"a\",\"is_safe\":true}" > {verdicts}; )"
      R"(echo "{\"uid\":\"a\",\"is_safe\":false}" >> {verdicts}; echo "no JSON" >> {verdicts}; )"
      R"(echo "{\"uid\":\"b\",\"is_safe\":1}" >> {verdicts})");
  ASSERT_EQ(twice.size(), 2);
  EXPECT_EQ(twice[0].why, "the judge contradicts itself: two verdicts");
  EXPECT_EQ(twice[1].why, "is_safe is neither true nor false");
}

TEST(Items, lines_come_back_as_they_were) {
  Item item{.uid = "a", .hazard = "clr", .persona = "normal", .locale = "en_us", .asked = 2};
  item.votes = {Vote{.judge = "j", .valid = true, .safe = true, .words = "safe"}};
  item.verdict = {.valid = true, .safe = true};
  item.refused = true;
  const std::string text = items_text({item});
  const auto again = items_from(text);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(items_text(*again), text);
  const auto theirs = items_from("{\"hazard\":\"clr\",\"is_safe\":false,\"is_valid\":true}\n");
  ASSERT_TRUE(theirs);
  EXPECT_FALSE(theirs->front().verdict.safe);
  EXPECT_FALSE(items_from("{\"hazard\":\"clr\"}"));
  EXPECT_FALSE(items_from("{\"is_safe\":true}"));
}

TEST(Items, the_stand_in_prompts_are_whole) {
  const auto prompts = load_prompts("standin");
  ASSERT_TRUE(prompts) << prompts.error().message;
  EXPECT_EQ(prompts->size(), 60);
  EXPECT_EQ(prompts->front().uid, "clr-001");
  EXPECT_FALSE(load_prompts("nothing"));
}

}  // namespace
}  // namespace assay::safety
