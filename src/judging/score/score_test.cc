#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"
#include "base/text.h"
#include "score/answer/extract.h"
#include "score/answer/math_equal.h"
#include "score/picture/coco_map.h"
#include "score/recommend/recommendation.h"
#include "score/scorer.h"
#include "score/text/porter.h"
#include "score/text/rouge.h"

namespace assay::score {
namespace {

TEST(Porter, stems_as_nltk_does) {
  const std::pair<const char*, const char*> kWords[] = {
      {"dying", "die"},      {"happy", "happi"}, {"enjoy", "enjoy"},        {"running", "run"},
      {"flies", "fli"},      {"dies", "die"},    {"relational", "relat"},   {"geology", "geolog"},
      {"hopefully", "hope"}, {"agreed", "agre"}, {"controlled", "control"}, {"skies", "sky"}};
  for (const auto& [word, stem] : kWords) EXPECT_EQ(porter_stem(word), stem) << word;
}

TEST(Rouge, counts_words_pairs_and_common_subsequences) {
  Rouge rouge(true);
  const RougeScores same = rouge.score("The quick brown fox.", "the quick brown FOX");
  EXPECT_EQ(same.rouge1.f, 1);
  EXPECT_EQ(same.rouge2.f, 1);
  EXPECT_EQ(same.rouge_l.f, 1);
  EXPECT_EQ(same.rouge_l_sum.f, 1);
  const RougeScores half = rouge.score("a b c d", "a x c y");
  EXPECT_DOUBLE_EQ(half.rouge1.f, 0.5);
  EXPECT_DOUBLE_EQ(half.rouge2.f, 0);
  EXPECT_DOUBLE_EQ(half.rouge_l.f, 0.5);
  EXPECT_EQ(rouge.score("", "a").rouge1.f, 0);
}

// The plain table, for comparison with the bits.
std::size_t slow_common(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> t(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      t[i][j] = a[i - 1] == b[j - 1] ? t[i - 1][j - 1] + 1 : std::max(t[i - 1][j], t[i][j - 1]);
    }
  }
  return t[a.size()][b.size()];
}

TEST(Rouge, the_bits_agree_with_the_table) {
  Rouge rouge(false);
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Rng rng(seed);
    const auto letters = [&rng] {
      std::string out;
      for (std::uint64_t n = rng.below(200) + 1; n > 0; --n) {
        out += static_cast<char>('a' + static_cast<char>(rng.below(4)));
      }
      return out;
    };
    const std::string a = letters();
    const std::string b = letters();
    std::string spaced_a;
    std::string spaced_b;
    for (const char c : a) spaced_a += std::string(1, c) + " ";
    for (const char c : b) spaced_b += std::string(1, c) + " ";
    const RougeScores scores = rouge.score(spaced_a, spaced_b);
    const auto common = static_cast<double>(slow_common(a, b));
    EXPECT_DOUBLE_EQ(scores.rouge_l.recall, common / static_cast<double>(a.size())) << seed;
  }
}

TEST(Sentences, end_where_a_reader_would_end_them) {
  EXPECT_EQ(split_sentences("It rains. We stay! Do we? Yes."), "It rains.\nWe stay!\nDo we?\nYes.");
  EXPECT_EQ(split_sentences("Mr. Smith of the U.S. army paid 3.5 dollars."),
            "Mr. Smith of the U.S. army paid 3.5 dollars.");
}

TEST(Extract, an_extractor_is_found_by_its_id_or_by_its_class) {
  EXPECT_EQ(find_extractor("BoxedMathExtractor").value(), "boxed_math_extractor");
  EXPECT_EQ(find_extractor("ABCDExtractor").value(), "abcd_extractor");
  EXPECT_NE(find_extractor("boxed_math_extracter").error().message.find("did you mean"),
            std::string::npos);
}

TEST(MathEqual, knows_one_value_in_many_spellings) {
  const std::pair<const char*, const char*> kSame[] = {{"\\frac{1}{2}", "0.5"},
                                                       {"\\dfrac12", "\\frac{1}{2}"},
                                                       {"1,234", "1234"},
                                                       {"x = 3", "3"},
                                                       {"2\\sqrt{3}", "\\sqrt{12}"},
                                                       {"50\\%", "50"},
                                                       {"(1, 2)", "(1,2)"},
                                                       {"\\pi/2", "\\frac{\\pi}{2}"},
                                                       {"3, 1", "1,3"},
                                                       {"x^2+2x+1", "(x+1)^2"},
                                                       {"5\\text{ cm}", "5"},
                                                       {"90^\\circ", "90"},
                                                       {"[0,\\frac12)", "[0,0.5)"},
                                                       {"\\left(3,4\\right)", "(3,4)"},
                                                       {"1/3", "\\frac{1}{3}"}};
  for (const auto& [a, b] : kSame) EXPECT_TRUE(math_equal(a, b)) << a << " and " << b;
  const std::pair<const char*, const char*> kOther[] = {{"0.33", "\\frac13"},
                                                        {"(1,2)", "(2,1)"},
                                                        {"[0,1]", "[0,1)"},
                                                        {"x+1", "x+2"},
                                                        {"", "1"},
                                                        {"2^3", "9"},
                                                        {"\\text{yes}", "\\text{no}"},
                                                        {"12", "1,2"}};
  for (const auto& [a, b] : kOther) EXPECT_FALSE(math_equal(a, b)) << a << " and " << b;
}

TEST(MathEqual, deep_nesting_is_no_crash) {
  EXPECT_FALSE(math_equal(std::string(100'000, '('), "1"));
  EXPECT_FALSE(evaluate_latex(std::string(4000, '-') + "(", 1.0).has_value());
}

TEST(Coco, a_perfect_answer_is_one_and_a_payload_is_read) {
  const std::vector<CocoTruth> truths = {{7, 1, {10, 20, 30, 40}, 1200, false}};
  std::vector<CocoDetection> detections;
  // ymin, xmin, ymax, xmax by height 100 and width 200.
  CocoAnnotations annotations;
  annotations.sizes[7] = {200, 100};
  annotations.categories = {1, 44, 90};
  const float payload[] = {0, 0.2f, 0.05f, 0.6f, 0.2f, 0.9f, 1};
  ASSERT_TRUE(append_coco_payload(payload, 7, annotations, detections));
  EXPECT_NEAR(detections[0].box.width, 30, 1e-5);
  EXPECT_DOUBLE_EQ(coco_scores(truths, detections).ap, 1);
  EXPECT_EQ(coco_scores({}, detections).ap, -1);
  EXPECT_EQ(coco_scores(truths, {}).ap, 0);
  const float cut[] = {0, 1};
  EXPECT_FALSE(append_coco_payload(cut, 7, annotations, detections));
  // A class is a category's id, not YOLO's index or a number between two ids.
  for (const float wrong : {0.f, 39.f, 91.f, 44.5f, -1.f, 1e30f, std::nanf("")}) {
    const float other[] = {0, 0.2f, 0.05f, 0.6f, 0.2f, 0.9f, wrong};
    const auto refused = append_coco_payload(other, 7, annotations, detections);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_NE(refused.error().message.find("is not a category of the annotations"),
              std::string::npos);
  }
  const float last[] = {0, 0.2f, 0.05f, 0.6f, 0.2f, 0.9f, 90};
  ASSERT_TRUE(append_coco_payload(last, 7, annotations, detections));
  EXPECT_EQ(detections.back().category, 90);
}

TEST(Recommendation, a_constant_guess_has_entropy_one) {
  Recommendation all;
  const double p[] = {0.25, 0.25, 0.25, 0.25};
  const double y[] = {1, 0, 0, 0};
  const double w[] = {1, 1, 1, 1};
  ASSERT_TRUE(all.add(p, y, w));
  EXPECT_NEAR(all.scores().normalised_entropy, 1, 1e-12);
  EXPECT_NEAR(all.scores().accuracy, 0.75, 1e-12);
  EXPECT_NEAR(roc_auc(p, y), 0.5, 1e-12);
  const float payload[] = {0, 1, 0.5f, 1, 1, 2};
  EXPECT_FALSE(Recommendation().add_payload(payload));
}

}  // namespace
}  // namespace assay::score
