#include "score/text/squad_spans.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/format.h"

namespace assay::score {
namespace {

std::unique_ptr<const text::Tokenizer> bert_pieces() {
  auto made = text::parse_word_pieces(
      "[PAD]\n[UNK]\n[CLS]\n[SEP]\nwhere\n?\npari\n##s\nis\nnice\n.\nw\n", "vocab.txt");
  EXPECT_TRUE(made) << made.error().message;
  return *std::move(made);
}

Json squad_file(const std::string& passage) {
  Json answers = Json::array().push_back(Json().set("text", "Paris"));
  Json question =
      Json().set("id", "q1").set("question", "Where?").set("answers", std::move(answers));
  Json paragraph =
      Json().set("context", passage).set("qas", Json::array().push_back(std::move(question)));
  Json article = Json().set("paragraphs", Json::array().push_back(std::move(paragraph)));
  return Json().set("data", Json::array().push_back(std::move(article)));
}

SquadSpans spans_of(const std::string& passage) {
  auto out = SquadSpans::read(squad_file(passage), *bert_pieces());
  EXPECT_TRUE(out) << out.error().message;
  return *std::move(out);
}

// Logits of `tokens` tokens: the starts and the ends of the peaks, all others far below.
struct Peaks {
  std::vector<std::pair<std::size_t, float>> starts{};
  std::vector<std::pair<std::size_t, float>> ends{};
};
std::string logit_bytes(const Peaks& peaks, std::size_t tokens = 10, bool transposed = false) {
  std::vector<float> values(2 * tokens, -9);
  for (const auto& [at, value] : peaks.starts) values[transposed ? at : 2 * at] = value;
  for (const auto& [at, value] : peaks.ends) {
    values[transposed ? tokens + at : 2 * at + 1] = value;
  }
  std::string out(values.size() * sizeof(float), '\0');
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

std::string best_answer(const Peaks& peaks) {
  SquadSpans spans = spans_of("Paris is \t nice.");
  EXPECT_TRUE(spans.add(0, logit_bytes(peaks)));
  return spans.answers().front();
}

TEST(SquadSpans, a_feature_is_the_question_and_the_pieces_of_the_passage) {
  const SquadSpans spans = spans_of("Paris is \t nice.");
  ASSERT_EQ(spans.features().size(), 1U);
  const SquadFeature& one = spans.features()[0];
  EXPECT_EQ(one.tokens, (std::vector<std::string>{"[CLS]", "where", "?", "[SEP]", "pari", "##s",
                                                  "is", "nice", ".", "[SEP]"}));
  EXPECT_EQ(one.passage_at, 4U);
  EXPECT_EQ(one.word_of, (std::vector<std::uint32_t>{0, 0, 1, 2, 2}));
}

TEST(SquadSpans, an_answer_is_the_best_valid_span_in_the_passages_spelling) {
  EXPECT_EQ(best_answer({{{4, 5}}, {{5, 5}}}), "Paris");
  EXPECT_EQ(best_answer({{{4, 5}}, {{7, 5}}}), "Paris is nice");
  EXPECT_EQ(best_answer({{{7, 5}}, {{8, 5}}}), "nice.");
  // What begins in the question, or ends before it begins, is no span: the next best is taken.
  EXPECT_EQ(best_answer({{{1, 9}, {6, 5}}, {{6, 5}}}), "is");
  EXPECT_EQ(best_answer({{{7, 9}, {4, 1}}, {{5, 9}}}), "Paris");
  // The first start of equals counts.
  EXPECT_EQ(best_answer({{{6, 5}, {7, 5}}, {{6, 5}, {7, 5}}}), "is");
}

TEST(SquadSpans, the_last_reply_to_a_feature_counts_and_none_is_empty) {
  SquadSpans spans = spans_of("Paris is nice.");
  EXPECT_EQ(spans.answers().front(), "empty");
  EXPECT_TRUE(spans.add(0, logit_bytes({{{4, 5}}, {{5, 5}}})));
  EXPECT_TRUE(spans.add(0, logit_bytes({{{6, 5}}, {{6, 5}}}, 10, true), true));
  EXPECT_EQ(spans.answers().front(), "is");
  EXPECT_FALSE(spans.add(1, ""));
  EXPECT_FALSE(spans.add(0, "1234567"));
  EXPECT_FALSE(spans.add(0, std::string(385 * 8, '\0')));
  EXPECT_TRUE(spans.add(0, ""));
}

TEST(SquadSpans, an_answer_has_at_most_thirty_tokens) {
  std::string passage;
  for (int i = 0; i < 40; ++i) passage += "w ";
  SquadSpans spans = spans_of(passage);
  EXPECT_TRUE(spans.add(0, logit_bytes({{{4, 5}}, {{33, 5}, {34, 9}}}, 45)));
  EXPECT_EQ(std::ranges::count(spans.answers().front(), 'w'), 30);
}

TEST(SquadSpans, each_token_of_a_long_passage_has_most_context_in_one_window) {
  std::string passage;
  for (int i = 0; i < 800; ++i) passage += "w ";
  const SquadSpans spans = spans_of(passage);
  std::size_t most = 0;
  for (const SquadFeature& one : spans.features()) {
    EXPECT_LE(one.tokens.size(), 384U);
    most += static_cast<std::size_t>(std::ranges::count(one.has_most_context, true));
  }
  // 379 tokens of the passage each, 128 apart: from 0, 128, 256, 384 and 512.
  EXPECT_EQ(spans.features().size(), 5U);
  EXPECT_EQ(most, 800U);
}

TEST(SquadSpans, a_spelling_is_found_character_by_character_or_the_whole_is_kept) {
  EXPECT_EQ(original_spelling("smith", "Smith's"), "Smith");
  EXPECT_EQ(original_spelling("cafe", "Caf\u00e9s,"), "Caf\u00e9");
  EXPECT_EQ(original_spelling("cafe", "Cafe\u0301s,"), "Cafe\u0301s,");  // one accent more
  EXPECT_EQ(original_spelling("1895 - 1943", "(1895-1943)."), "1895-1943");
  EXPECT_EQ(original_spelling("other", "Smith's"), "Smith's");
}

TEST(SquadSpans, what_is_no_squad_is_refused) {
  EXPECT_FALSE(SquadSpans::read(Json::object(), *bert_pieces()));
  EXPECT_FALSE(text::parse_word_pieces("a\nb\n", "vocab.txt"));
}

}  // namespace
}  // namespace assay::score
