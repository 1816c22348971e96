#include <gtest/gtest.h>

#include <string>

#include "score/scorer.h"
#include "score/task/compare.h"
#include "score/task/instructions.h"
#include "score/task/language.h"
#include "score/task/patterns.h"
#include "score/task/steps.h"
#include "score/task/words.h"
#include "task/tasks.h"

namespace assay::score {
namespace {

Json task_json(std::string_view text) { return Json::parse(text).value(); }

struct TaskReply {
  std::string columns{};
  std::string reply{};
  bool answered = true;
};

// Scores by a task's name or its YAML.
Result<Verdict> by_task(const std::string& task, const std::vector<TaskReply>& all,
                        std::vector<Json>* judged = nullptr) {
  ScorerOptions options;
  if (task.find('\n') == std::string::npos) {
    options.extra.set("task", task);
  } else {
    const auto read = task::parse_task(task, "t.yaml");
    if (!read) return read.error();
    options.extra.set("task", read->data);
  }
  auto scorer = make_scorer("task", options);
  if (!scorer) return scorer.error();
  for (const TaskReply& one : all) {
    const Json columns = task_json(one.columns);
    Row row;
    row.columns = &columns;
    row.reply = row.content = one.reply;
    row.answered = one.answered;
    if (const auto added = (*scorer)->add(row); !added) return added.error();
    if (judged != nullptr) judged->push_back((*scorer)->last_judged());
  }
  return (*scorer)->finish();
}

TEST(Patterns, are_compiled_once_and_forgotten_together) {
  Patterns patterns(20);
  const text::Regex* const first = patterns.find("a+b");
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(patterns.find("a+b"), first);
  EXPECT_EQ(patterns.find("("), nullptr) << "no pattern";
  EXPECT_EQ(patterns.find("("), nullptr);
  EXPECT_EQ(patterns.size(), 2U);
  for (std::size_t i = patterns.size(); i < 20; ++i) {
    patterns.find("x" + std::to_string(i));
  }
  EXPECT_EQ(patterns.size(), 20U);
  EXPECT_NE(patterns.find("one more"), nullptr);
  EXPECT_EQ(patterns.size(), 1U);
}

// The expectations of the next two are lm-evaluation-harness's for these replies.
TEST(TaskScorer, judges_gsm8k_strictly_and_flexibly) {
  const std::string row = R"({"question":"q","answer":"5 + 5 = 10\n#### 1,010"})";
  std::vector<Json> judged;
  const auto verdict = by_task("gsm8k",
                               {{row, "so it is\n#### 1010"},
                                {row, "#### $1,010."},
                                {row, "the answer is 1,010."},
                                {row, "the answer is $1,010"},
                                {row, "I do not know"},
                                {row, "", false}},
                               &judged);
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_DOUBLE_EQ(verdict->score["strict_match"].as_double(), 1 / 6.0);
  EXPECT_DOUBLE_EQ(verdict->score["flexible_extract"].as_double(), 4 / 6.0);
  EXPECT_EQ(judged[0]["extracted"].as_string(), "1010");
  EXPECT_EQ(judged[1]["extracted"].as_string(), "[invalid]");
  EXPECT_TRUE(judged[5]["extracted"].is_null());
}

TEST(TaskScorer, judges_mmlu_by_the_first_line_and_by_subject) {
  const std::string row =
      R"({"question":"q","subject":"law","choices":["a","b","c","d"],"answer":1})";
  const std::string other =
      R"({"question":"q","subject":"art","choices":["a","b","c","d"],"answer":0})";
  const auto verdict = by_task("mmlu", {{row, " B\nbecause"},
                                        {row, "(b)."},
                                        {row, "The answer is B."},
                                        {other, "The answer is (A), not C."}});
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_DOUBLE_EQ(verdict->score["exact_match"].as_double(), 2 / 4.0);
  EXPECT_DOUBLE_EQ(verdict->score["choice"].as_double(), 3 / 4.0);
  EXPECT_DOUBLE_EQ(verdict->breakdown["subset_scores"]["art"]["choice"].as_double(), 100);
}

TEST(TaskScorer, judges_math500_by_the_last_box_in_the_row_that_was_asked) {
  const std::string row =
      R"({"doc":{"problem":"p","answer":"\\frac{1}{2}","subject":"Algebra","level":1}})";
  const auto verdict = by_task(
      "math500", {{row, "\\boxed{3} no, \\boxed{\\dfrac12}"}, {row, "\\boxed{0.5}"}, {row, "1/2"}});
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_DOUBLE_EQ(verdict->score.as_double(), 2 / 3.0);
  EXPECT_NEAR(verdict->breakdown["subset_scores"]["Algebra"].as_double(), 200 / 3.0, 1e-9);
}

std::string small_task(std::string_view score, std::string_view more = "") {
  return "task: t\ndataset: {file: t.jsonl, columns: [a]}\nprompt: '{{a}}'\n" + std::string(more) +
         "\nscores: [{truth: '{{a}}', " + std::string(score) + "}]\n";
}

double share(const std::string& task, const std::string& truth, const std::string& reply) {
  const auto verdict = by_task(task, {{Json().set("a", truth).dump(), reply}});
  EXPECT_TRUE(verdict) << verdict.error().message;
  return verdict ? verdict->score.as_double() : -1;
}

TEST(TaskScorer, each_metric_tells_right_from_wrong) {
  EXPECT_EQ(share(small_task("metric: contains, ignore_case: true"), "Paris", "in PARIS."), 1);
  EXPECT_EQ(share(small_task("metric: contains"), "Paris", "in PARIS."), 0);
  EXPECT_EQ(share(small_task("metric: number, extract: [number]"), "1,200", "it is 1200.0"), 1);
  EXPECT_EQ(share(small_task("metric: number, extract: [number]"), "-3", "it is 3"), 0);
  EXPECT_EQ(share(small_task("metric: number, tolerance: 0.1"), "2", "2.05"), 1);
  EXPECT_EQ(share(small_task("metric: number, tolerance: 0.01"), "2", "2.05"), 0);
  EXPECT_EQ(share(small_task("metric: choice, extract: [{letter: ABC}]"), "2", "(C)"), 1);
  EXPECT_EQ(share(small_task("metric: choice, extract: [{letter: ABC}]"), "B", "A or B: C"), 0);
  EXPECT_EQ(share(small_task("metric: exact_match, ignore_numbers: true"), "a1", "a2"), 1);
  EXPECT_EQ(share(small_task("metric: exact_match, extract: [last_line, strip, lower]"), "yes",
                  "no\n YES \n\n"),
            1);
  EXPECT_EQ(
      share(small_task("metric: exact_match, extract: [{remove: '<t>.*?</t>'}]"), "x", "<t>y</t>x"),
      1);
  EXPECT_EQ(share(small_task("metric: exact_match, extract: [{extractor: abcd_extractor}]"),
                  "choice2", "Answer: B"),
            1);
}

TEST(TaskScorer, weighs_categories_where_the_task_asks_for_it) {
  const std::vector<TaskReply> all = {{R"({"a":"x","k":"one"})", "x"},
                                      {R"({"a":"x","k":"one"})", "x"},
                                      {R"({"a":"x","k":"one"})", "x"},
                                      {R"({"a":"x","k":"two"})", "y"}};
  const auto rows = by_task(small_task("metric: exact_match", "by: k"), all);
  EXPECT_DOUBLE_EQ(rows->score.as_double(), 0.75);
  const auto mean = by_task(small_task("metric: exact_match", "by: k\nweigh: categories"), all);
  EXPECT_DOUBLE_EQ(mean->score.as_double(), 0.5);
}

TEST(TaskScorer, a_row_or_a_truth_that_cannot_be_judged_is_an_error) {
  const auto lacks = by_task("gsm8k", {{R"({"question":"q"})", "x"}});
  ASSERT_FALSE(lacks);
  EXPECT_NE(lacks.error().message.find("sample 0: task gsm8k: the row has no column 'answer'"),
            std::string::npos);
  const auto odd = by_task(small_task("metric: choice"), {{R"({"a":"Z"})", "A"}});
  ASSERT_FALSE(odd);
  EXPECT_NE(odd.error().message.find("neither one of the letters"), std::string::npos);
  EXPECT_FALSE(by_task(small_task("metric: number"), {{R"({"a":"Z"})", "A"}}));
  const auto none = make_scorer("task", {});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("extras.task"), std::string::npos);
}

// Verdicts of the authors' program.
bool follows_one(std::string_view name, std::string_view kwargs, const std::string& reply,
                 bool loosely = false) {
  auto judge = InstructionJudge::make(Json(), Json());
  const Json columns = Json()
                           .set("instruction_id_list", Json().push_back(Json(name)))
                           .set("kwargs", Json().push_back(task_json(kwargs)));
  const auto followed = judge->judge(columns, reply);
  EXPECT_TRUE(followed) << followed.error().message;
  if (!followed) return false;
  return loosely ? followed->loose_all() : followed->strict_all();
}

TEST(Instructions, count_and_find_as_the_authors_do) {
  EXPECT_TRUE(follows_one("keywords:existence", R"({"keywords":["Cat","dog"]})", "DOGs, cat"));
  EXPECT_FALSE(follows_one("keywords:existence", R"({"keywords":["cat"]})", "dog"));
  EXPECT_FALSE(follows_one("keywords:forbidden_words", R"({"forbidden_words":["cat"]})", "a Cat."));
  EXPECT_TRUE(follows_one("keywords:forbidden_words", R"({"forbidden_words":["cat"]})", "cats"));
  const auto frequency = R"({"keyword":"ha","frequency":3,"relation":"at least"})";
  EXPECT_TRUE(follows_one("keywords:frequency", frequency, "haHA ha"));
  EXPECT_FALSE(follows_one("keywords:frequency", frequency, "ha ha"));
  const auto letter = R"({"letter":"E","let_frequency":2,"let_relation":"less than"})";
  EXPECT_TRUE(follows_one("keywords:letter_frequency", letter, "Ex"));
  EXPECT_FALSE(follows_one("keywords:letter_frequency", letter, "eE"));
  const auto words = R"({"num_words":3,"relation":"at least"})";
  EXPECT_TRUE(follows_one("length_constraints:number_words", words, "it's so"));
  EXPECT_FALSE(follows_one("length_constraints:number_words", words, "one two"));
  const auto bullets = R"({"num_bullets":2})";
  EXPECT_TRUE(follows_one("detectable_format:number_bullet_lists", bullets, "* a\n- b\n** c"));
  EXPECT_FALSE(follows_one("detectable_format:number_bullet_lists", bullets, "* a"));
  const auto capitals = R"({"capital_frequency":3,"capital_relation":"at least"})";
  EXPECT_TRUE(follows_one("change_case:capital_word_frequency", capitals, "DON'T go NOW"));
  EXPECT_FALSE(follows_one("change_case:capital_word_frequency", capitals, "GO-NOW U.S. it"));
}

TEST(Instructions, read_the_form_as_the_authors_do) {
  EXPECT_TRUE(follows_one("length_constraints:number_paragraphs", R"({"num_paragraphs":2})",
                          "a\n***\nb\n***"));
  EXPECT_FALSE(follows_one("length_constraints:number_paragraphs", R"({"num_paragraphs":2})",
                           "a *** *** b"));
  const auto nth = R"({"num_paragraphs":2,"nth_paragraph":2,"first_word":"Well"})";
  EXPECT_TRUE(follows_one("length_constraints:nth_paragraph_first_word", nth, "a\n\n'well, b"));
  EXPECT_FALSE(follows_one("length_constraints:nth_paragraph_first_word", nth, "a\n\nwells b"));
  EXPECT_TRUE(follows_one("detectable_content:number_placeholders", R"({"num_placeholders":2})",
                          "[a] and []"));
  EXPECT_TRUE(follows_one("detectable_content:postscript", R"({"postscript_marker":"P.S."})",
                          "text\nP. S. more"));
  EXPECT_FALSE(follows_one("detectable_content:postscript", R"({"postscript_marker":"P.P.S"})",
                           "P.S. more"));
  EXPECT_TRUE(follows_one("detectable_format:number_highlighted_sections",
                          R"({"num_highlights":2})", "*a* and **b**"));
  EXPECT_TRUE(follows_one("detectable_format:multiple_sections",
                          R"({"section_spliter":"Section","num_sections":2})",
                          "Section 1\na\nSection 2\nb"));
  EXPECT_TRUE(follows_one("detectable_format:json_format", "{}", "```json\n{\"a\": 1}\n```"));
  EXPECT_FALSE(follows_one("detectable_format:json_format", "{}", "a: 1"));
  EXPECT_TRUE(follows_one("detectable_format:title", "{}", "x <<A>>"));
  EXPECT_FALSE(follows_one("detectable_format:title", "{}", "<< >>"));
  EXPECT_TRUE(follows_one("combination:two_responses", "{}", "a\n******\nb"));
  EXPECT_FALSE(follows_one("combination:two_responses", "{}", "a******a"));
  EXPECT_TRUE(
      follows_one("combination:repeat_prompt", R"({"prompt_to_repeat":"Do it."})", " do IT. Yes"));
  EXPECT_TRUE(follows_one("startend:end_checker", R"({"end_phrase":"The End"})", "\"x the end\""));
  EXPECT_TRUE(follows_one("startend:quotation", "{}", " \"x\" "));
  EXPECT_FALSE(follows_one("punctuation:no_comma", "{}", "a,b"));
  EXPECT_TRUE(follows_one("detectable_format:constrained_response", "{}", "My answer is no."));
}

TEST(Instructions, loose_forgives_a_first_line_a_last_line_and_asterisks) {
  EXPECT_FALSE(follows_one("startend:quotation", "{}", "Sure:\n\"x\""));
  EXPECT_TRUE(follows_one("startend:quotation", "{}", "Sure:\n\"x\"", true));
  EXPECT_TRUE(follows_one("startend:quotation", "{}", "Sure:\n*\"x\"*\nBye", true));
  EXPECT_FALSE(follows_one("punctuation:no_comma", "{}", "", true));
}

TEST(Instructions, an_unknown_one_or_a_missing_argument_is_an_error) {
  auto judge = InstructionJudge::make(Json(), Json());
  const auto wrong = judge->judge(
      task_json(R"({"instruction_id_list":["startend:quotatio"],"kwargs":[{}]})"), "x");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("did you mean 'startend:quotation'?"), std::string::npos);
  EXPECT_FALSE(judge->judge(
      task_json(R"({"instruction_id_list":["keywords:existence"],"kwargs":[{}]})"), "x"));
}

TEST(Language, is_recognised_by_script_letters_and_words) {
  EXPECT_EQ(language_of("this is the end of it"), "en");
  EXPECT_EQ(language_of("esto es lo que no se puede hacer con el gato"), "es");
  EXPECT_EQ(language_of("das ist nicht der Hund, und ich bin es auch nicht"), "de");
  EXPECT_EQ(language_of("ce n'est pas dans la maison avec les chats"), "fr");
  EXPECT_EQ(language_of("это не то, что мы хотели, но он был"), "ru");
  EXPECT_EQ(language_of("це не те, що ми хотіли"), "uk");
  EXPECT_EQ(language_of("これはペンです"), "ja");
  EXPECT_EQ(language_of("이것은 펜입니다"), "ko");
  EXPECT_EQ(language_of("یہ ایک کتاب ہے، اور میں نے اسے پڑھا"), "ur");
  EXPECT_EQ(language_of("123 !?"), "");
}

TEST(Words, are_divided_as_nltk_divides_them) {
  using Tokens = std::vector<std::string>;
  EXPECT_EQ(treebank_tokens("I can't do \"it\", Mr. Smith."),
            (Tokens{"I", "ca", "n't", "do", "``", "it", "''", ",", "Mr.", "Smith", "."}));
  EXPECT_EQ(treebank_tokens("a--b (c) it's 1,000: $5"),
            (Tokens{"a", "--", "b", "(", "c", ")", "it", "'s", "1,000", ":", "$", "5"}));
  EXPECT_EQ(treebank_tokens("cannot wait"), (Tokens{"can", "not", "wait"}));
}

}  // namespace
}  // namespace assay::score
