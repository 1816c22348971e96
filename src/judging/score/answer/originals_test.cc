// The suites' own programs gave these verdicts (tools/against_originals.py --keep). A line is
// [judge, reply, truth, the extracted answer or null, score or null].
#include <gtest/gtest.h>

#include <map>

#include "base/files.h"
#include "base/text.h"
#include "score/answer/answers.h"
#include "score/scorer.h"

namespace assay::score {
namespace {

struct OriginalJudge {
  std::string_view scorer{};
  std::string_view extractor{};
  std::string_view column{};  // names how a row is judged
  std::string_view value{};
};

const std::map<std::string_view, OriginalJudge>& original_judges() {
  static const std::map<std::string_view, OriginalJudge> kJudges = {
      {"client_abcd", {"pass_at_1", "abcd_extractor", "", ""}},
      {"client_boxed", {"pass_at_1", "boxed_math_extractor", "", ""}},
      {"client_code", {"pass_at_1", "python_code_extractor", "", ""}},
      {"deepseek_r1_gpqa", {"deepseek_r1", "", "dataset", "gpqa"}},
      {"deepseek_r1_mmlu_pro", {"deepseek_r1", "", "dataset", "mmlu_pro"}},
      {"deepseek_r1_aime", {"deepseek_r1", "", "dataset", "aime"}},
      {"deepseek_r1_math500", {"deepseek_r1", "", "dataset", "math500"}},
      {"deepseek_r1_code", {"pass_at_1", "first_python_code", "", ""}},
      {"gpt_oss_gpqa", {"gpt_oss", "", "dataset", "gpqa"}},
      {"gpt_oss_mmlu_pro", {"gpt_oss", "", "dataset", "mmlu_pro"}},
      {"gpt_oss_aime", {"gpt_oss", "", "dataset", "aime"}},
      {"gpt_oss_math500", {"gpt_oss", "", "dataset", "math500"}},
      {"gpt_oss_code", {"pass_at_1", "final_channel_code", "", ""}},
      {"llama_qa_em", {"llama3_1_405b", "", "metric", "qa_em"}},
      {"llama_niah_em", {"llama3_1_405b", "", "metric", "niah_em"}},
      {"mixtral_gsm8k", {"mixtral_8x7b", "", "dataset", "GSM8K"}},
  };
  return kJudges;
}

// The record of one reply that `assay score --verdicts` writes.
Json record_of(const OriginalJudge& judge, std::string_view reply, std::string_view truth) {
  const ScorerOptions options{.extractor = std::string(judge.extractor), .ground_truth = "truth"};
  const auto scorer = make_scorer(judge.scorer, options).value();
  Json columns = Json().set("truth", truth);
  if (!judge.column.empty()) columns.set(judge.column, judge.value);
  Row row;
  row.columns = &columns;
  row.reply = row.content = reply;
  const auto added = scorer->add(row);
  EXPECT_TRUE(added) << added.error().message;
  return verdict_record(*scorer, row);
}

TEST(Originals, each_verdict_is_that_of_the_suites_own_program) {
  const std::string path = std::string(ASSAY_SOURCE_DIR) + "/tests/data/judges/verdicts.jsonl";
  const std::string file = read_file(path).value();
  std::map<std::string_view, std::size_t> seen;
  for (const std::string_view line : split(file, '\n')) {
    if (line.empty()) continue;
    const Json vector = Json::parse(line).value();
    const auto judge = original_judges().find(vector[std::size_t{0}].as_string());
    ASSERT_NE(judge, original_judges().end()) << line;
    ++seen[judge->first];
    const bool llama = judge->second.scorer == "llama3_1_405b";  // its program extracts nothing
    const Json ours = record_of(judge->second, vector[1].as_string(), vector[2].as_string());
    if (!llama) {
      EXPECT_EQ(ours["extracted"], vector[3]) << line;
    }
    if (!vector[4].is_null()) {
      EXPECT_EQ(ours["score"].as_double(), vector[4].as_double()) << line;
    }
  }
  for (const auto& [name, judge] : original_judges()) EXPECT_GE(seen[name], 100u) << name;
}

TEST(Originals, characters_that_are_no_utf8_are_replaced_and_judged) {
  EXPECT_EQ(extract_abcd("\xFF\xFE Answer: (C)").answer, "choice3");
  EXPECT_EQ(extract_letter("ANSWER: B\xC3", 'D').answer, "B");
  EXPECT_EQ(extract_python("```python\n\xFFx\n```").answer, "\xEF\xBF\xBDx");
}

// Rules begin with these pieces: each occurrence is a start that finds nothing.
TEST(Originals, what_stands_before_an_answer_does_not_hide_it_however_long_it_is) {
  for (const std::string_view piece :
       {"\n", " ", "(", "**", "\\boxed{", "Answer", "[", "<|channel|>final", "* ", "- ", "f ",
        "\\boxed{ 1", "answer: x\n", "_"}) {
    std::string reply;
    for (int i = 0; i < 20'000; ++i) reply += piece;
    EXPECT_EQ(extract_abcd(reply + "\n**Answer:** C").answer, "choice3") << piece;
    EXPECT_EQ(extract_letter(reply + "\nANSWER: C", 'D').answer, "C") << piece;
    EXPECT_EQ(extract_aime(reply + "\nAnswer: 7").answer, "7") << piece;
    EXPECT_EQ(extract_boxed(reply + "}\n\\boxed{7}").answer, "7") << piece;
    EXPECT_EQ(extract_final_letter(reply + "<|channel|>final<|message|>C", 'D').answer, "C")
        << piece;
    EXPECT_EQ(extract_final_python(reply + "```python\nx```").answer, "x") << piece;
    EXPECT_EQ(extract_gsm8k(reply + " The answer is 7").answer, "7") << piece;
  }
}

TEST(Originals, the_reference_client_judges_code_by_its_own_extractor) {
  const std::string reply = "```python\nfirst\n```\n```python\nlast\n```";
  const auto code = [&reply](SuiteProgram program) {
    return *suite_extract(program, AnswerKind::code, reply).answer;
  };
  EXPECT_EQ(code(SuiteProgram::deepseek_r1), "first");
  EXPECT_EQ(code(SuiteProgram::client_deepseek_r1), "last");
  EXPECT_EQ(code(SuiteProgram::gpt_oss), "last");
}

TEST(Originals, the_final_channel_may_come_as_a_field_of_its_own) {
  const Json columns = Json().set("dataset", "gpqa").set("ground_truth", "C");
  Row row;
  row.columns = &columns;
  row.reasoning = "Answer: A";
  row.content = "**C**";
  row.reply = "Answer: A**C**";
  const auto scorer = make_scorer("gpt_oss", {}).value();
  ASSERT_TRUE(scorer->add(row));
  EXPECT_EQ(scorer->last_judged()["extracted"].as_string(), "C");
  EXPECT_EQ(scorer->finish()->score.as_double(), 100);
}

TEST(Originals, a_subset_that_says_nothing_of_its_judging_is_refused) {
  const Json columns = Json().set("dataset", "gpqa").set("id", "row-17").set("ground_truth", "A");
  Row row;
  row.columns = &columns;
  row.reply = row.content = "ANSWER: A";
  for (const char* name : {"deepseek_r1", "gpt_oss", "legacy_mlperf_deepseek_r1"}) {
    EXPECT_TRUE(make_scorer(name, {}).value()->add(row)) << name;
    const auto refused = make_scorer(name, {.subset_column = "id"}).value()->add(row);
    ASSERT_FALSE(refused) << name;
    EXPECT_NE(refused.error().message.find("'id' is 'row-17'"), std::string::npos);
    EXPECT_NE(refused.error().message.find("--subset"), std::string::npos);
  }
  EXPECT_FALSE(suite_kind(SuiteProgram::deepseek_r1, "mmlu"));
  EXPECT_EQ(suite_kind(SuiteProgram::gpt_oss, "MMLU"), AnswerKind::choice_aj);
}

}  // namespace
}  // namespace assay::score
