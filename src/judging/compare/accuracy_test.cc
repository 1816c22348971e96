#include "compare/accuracy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/rng.h"
#include "score/paired_shares.h"

namespace assay::compare {
namespace {

using score::FigureKind;
using score::SampleScores;

SampleScores scored_by(std::vector<double> values, FigureKind kind = FigureKind::proportion) {
  SampleScores out{.dataset = "gpqa",
                   .dataset_sha256 = "ab",
                   .scorer = "gpqa",
                   .ground_truth = "answer",
                   .figure = "score"};
  out.tally.kind = kind;
  for (std::uint32_t i = 0; i < values.size(); ++i) out.tally.add(i, values[i]);
  return out;
}

// A table of right and wrong: both, only A, only B, neither.
AccuracyComparison of_table(int both, int only_a, int only_b, int neither,
                            std::optional<double> margin = {}) {
  std::vector<double> a;
  std::vector<double> b;
  const auto add = [&](int n, double left, double right) {
    for (int i = 0; i < n; ++i) {
      a.push_back(left);
      b.push_back(right);
    }
  };
  add(both, 1, 1);
  add(only_a, 1, 0);
  add(only_b, 0, 1);
  add(neither, 0, 0);
  const auto out = compare_accuracy({scored_by(a)}, {scored_by(b)}, {.margin_points = margin});
  EXPECT_TRUE(out.comparable());
  return out.figures.at(0);
}

// The slow twin: every split that is as improbable as this one or more, added up.
double binomial_by_summation(std::size_t only_a, std::size_t only_b) {
  const std::size_t n = only_a + only_b;
  std::vector<double> row = {1};  // of Pascal's triangle, each entry over 2^k
  for (std::size_t k = 0; k < n; ++k) {
    std::vector<double> next(k + 2, 0);
    for (std::size_t i = 0; i <= k; ++i) {
      next[i] += row[i] / 2;
      next[i + 1] += row[i] / 2;
    }
    row = next;
  }
  double sum = 0;
  for (const double one : row) sum += one <= row[only_a] * (1 + 1e-9) ? one : 0;
  return std::min(1.0, sum);
}

TEST(Accuracy, mcnemar_is_the_binomial_by_summation) {
  for (std::size_t a = 0; a <= 24; ++a) {
    for (std::size_t b = 0; b <= 24; ++b) {
      EXPECT_NEAR(score::mcnemar_exact(a, b), binomial_by_summation(a, b), 1e-10) << a << ' ' << b;
    }
  }
  for (const auto& [a, b] : {std::pair{100, 140}, {3, 200}, {333, 300}}) {
    const auto left = static_cast<std::size_t>(a);
    const auto right = static_cast<std::size_t>(b);
    EXPECT_NEAR(score::mcnemar_exact(left, right) / binomial_by_summation(left, right), 1, 1e-8)
        << a;
  }
}

TEST(Accuracy, samples_that_both_answer_alike_do_not_change_p) {
  const AccuracyComparison few = of_table(1, 12, 3, 0);
  const AccuracyComparison many = of_table(500, 12, 3, 400);
  EXPECT_EQ(few.p, many.p);
  EXPECT_NEAR(many.p, 0.03515625, 1e-12);
  EXPECT_EQ(many.only_a, 12U);
  EXPECT_EQ(many.only_b, 3U);
  EXPECT_NEAR(many.difference, -900.0 / 915, 1e-9);
}

TEST(Accuracy, sides_that_are_exchanged_change_the_sign_alone) {
  const AccuracyComparison one = of_table(40, 9, 4, 20);
  const AccuracyComparison other = of_table(40, 4, 9, 20);
  EXPECT_NEAR(one.difference, -other.difference, 1e-12);
  EXPECT_NEAR(*one.low, -*other.high, 1e-9);
  EXPECT_NEAR(*one.high, -*other.low, 1e-9);
  EXPECT_EQ(one.p, other.p);
}

TEST(Accuracy, equal_runs_have_an_interval_that_shrinks_with_the_samples) {
  const AccuracyComparison small = of_table(10, 0, 0, 10);
  const AccuracyComparison large = of_table(1000, 0, 0, 1000);
  EXPECT_EQ(small.p, 1);
  EXPECT_LT(*small.low, 0);
  EXPECT_GT(*small.high, 0);
  EXPECT_LT(*large.high - *large.low, (*small.high - *small.low) / 5);
  EXPECT_EQ(small.verdict, AccuracyVerdict::unresolved) << "no margin, no sentence";
}

TEST(Accuracy, newcombes_interval_holds_the_truth_in_about_95_of_100_draws) {
  Rng rng(3);
  int held = 0;
  for (int trial = 0; trial < 400; ++trial) {
    int cells[4] = {};  // neither, only A, only B, both
    for (int i = 0; i < 120; ++i) {
      const double at = rng.uniform();
      ++cells[at < 0.6 ? 3 : at < 0.75 ? 1 : at < 0.8 ? 2 : 0];
    }
    const AccuracyComparison c = of_table(cells[3], cells[1], cells[2], cells[0]);
    held += *c.low <= -10 && -10 <= *c.high ? 1 : 0;  // only A 15 %, only B 5 %
  }
  EXPECT_NEAR(held / 400.0, 0.95, 0.033) << "three standard errors";
}

TEST(Accuracy, the_margin_decides_what_is_as_good) {
  EXPECT_EQ(of_table(800, 10, 8, 182, 3.0).verdict, AccuracyVerdict::as_good);
  EXPECT_EQ(of_table(800, 10, 8, 182, 0.5).verdict, AccuracyVerdict::unresolved);
  EXPECT_EQ(of_table(800, 10, 8, 182).verdict, AccuracyVerdict::unresolved);
  EXPECT_EQ(of_table(800, 60, 8, 132).verdict, AccuracyVerdict::worse);
  EXPECT_EQ(of_table(800, 60, 8, 132, 10.0).verdict, AccuracyVerdict::as_good)
      << "worse, and by less than the margin";
  EXPECT_EQ(of_table(600, 260, 8, 132, 10.0).verdict, AccuracyVerdict::worse);
  EXPECT_EQ(of_table(800, 8, 60, 132, 1.0).verdict, AccuracyVerdict::better);
}

TEST(Accuracy, a_difference_needs_the_exact_test_as_well_as_the_interval) {
  // Five of five for one side: p = 2 / 2^5.
  const AccuracyComparison five = of_table(3, 5, 0, 0, 2.0);
  EXPECT_DOUBLE_EQ(five.p, 0.0625);
  EXPECT_LT(*five.high, -2);
  EXPECT_EQ(five.verdict, AccuracyVerdict::unresolved);
  EXPECT_EQ(of_table(3, 0, 5, 0).verdict, AccuracyVerdict::unresolved);
  EXPECT_EQ(of_table(3, 0, 5, 0, 2.0).verdict, AccuracyVerdict::as_good);
  EXPECT_EQ(of_table(3, 6, 0, 0, 2.0).verdict, AccuracyVerdict::worse) << "p = 0.03125";
  EXPECT_EQ(of_table(3, 0, 6, 0).verdict, AccuracyVerdict::better);
}

TEST(Accuracy, graded_scores_have_the_paired_t_test) {
  // By hand: differences 1, 2, 3, 2, 2 (in tenths): mean 0.2, s = 0.0707107, t(4) = 6.324555.
  const SampleScores a = scored_by({0.1, 0.2, 0.3, 0.4, 0.5}, FigureKind::mean);
  const SampleScores b = scored_by({0.2, 0.4, 0.6, 0.6, 0.7}, FigureKind::mean);
  const auto all = compare_accuracy({a}, {b}, {});
  const AccuracyComparison& c = all.figures.at(0);
  EXPECT_EQ(c.test, AccuracyTest::paired_t);
  EXPECT_NEAR(c.difference, 20, 1e-9);
  EXPECT_NEAR(c.p, 0.003198, 1e-6);
  EXPECT_NEAR(*c.low, 100 * (0.2 - 2.7764451 * 0.0707107 / std::sqrt(5.0)), 1e-4);
  EXPECT_EQ(c.verdict, AccuracyVerdict::better);
}

TEST(Accuracy, repeats_that_agree_do_not_make_a_difference_surer) {
  std::vector<double> a;
  std::vector<double> b;
  for (int i = 0; i < 60; ++i) {
    a.push_back(i < 40 ? 1 : 0);
    b.push_back(i % 9 == 0 ? 0 : a.back());
  }
  SampleScores left = scored_by(a);
  SampleScores right = scored_by(b);
  for (int repeat = 1; repeat < 6; ++repeat) {
    for (std::uint32_t i = 0; i < 60; ++i) {
      left.tally.add(i, a[i]);
      right.tally.add(i, b[i]);
    }
  }
  const auto repeated = compare_accuracy({left}, {right}, {});
  const auto once =
      compare_accuracy({scored_by(a, FigureKind::mean)}, {scored_by(b, FigureKind::mean)}, {});
  EXPECT_EQ(repeated.figures[0].test, AccuracyTest::paired_t);
  EXPECT_NEAR(*repeated.figures[0].low, *once.figures[0].low, 1e-9);
  EXPECT_NEAR(repeated.figures[0].p, once.figures[0].p, 1e-12);
}

TEST(Accuracy, a_ratio_is_drawn_in_pairs_and_lower_may_be_better) {
  Rng rng(9);
  SampleScores a = scored_by({}, FigureKind::ratio);
  SampleScores b = a;
  for (std::uint32_t i = 0; i < 200; ++i) {
    const auto words = static_cast<double>(5 + rng.below(30));
    const double wrong = std::floor(words * rng.uniform() * 0.3);
    a.tally.add(i, wrong, words);
    // Almost the same errors: alone, either rate is known ten times worse than the difference.
    b.tally.add(i, wrong + (i % 10 == 0 ? 1 : 0), words);
  }
  for (SampleScores* one : {&a, &b}) one->tally.lower_is_better = true;
  const auto all = compare_accuracy({a}, {b}, {});
  const AccuracyComparison& c = all.figures.at(0);
  EXPECT_EQ(c.test, AccuracyTest::paired_bootstrap);
  EXPECT_LT(c.difference, 0) << "more errors are worse";
  EXPECT_EQ(c.verdict, AccuracyVerdict::worse);
  EXPECT_LT(c.p, 0.01);
  const score::Uncertainty alone = score::uncertainty_of(a.tally);
  EXPECT_LT(*c.high - *c.low, 100 * (*alone.high - *alone.low) / 2);
  EXPECT_EQ(*c.low, *compare_accuracy({a}, {b}, {}).figures[0].low) << "the seed is fixed";
}

TEST(Accuracy, several_figures_have_wider_intervals_that_hold_together) {
  SampleScores first = scored_by({1, 0, 1, 1, 0, 1, 1, 0});
  SampleScores second = first;
  second.dataset = "aime";
  const auto one = compare_accuracy({first}, {first}, {});
  const auto two = compare_accuracy({first, second}, {first, second}, {});
  EXPECT_LT(*two.figures[0].low, *one.figures[0].low);
  EXPECT_EQ(two.figures[0].p, one.figures[0].p);
}

TEST(Accuracy, what_is_not_the_same_work_is_refused) {
  const SampleScores a = scored_by({1, 0, 1});
  const auto refusal = [&a](const SampleScores& b) {
    const auto out = compare_accuracy({a}, {b}, {});
    EXPECT_TRUE(out.figures.empty());
    return out.refusals.empty() ? std::string() : out.refusals.front();
  };
  SampleScores other = a;
  other.dataset_sha256 = "cd";
  EXPECT_NE(refusal(other).find("A has ab, B cd"), std::string::npos);
  other = a;
  other.extractor = "letter_aj";
  EXPECT_NE(refusal(other).find("extractor: A has none, B letter_aj"), std::string::npos);
  other = scored_by({1, 0});
  EXPECT_NE(refusal(other).find("1 are only in A, 0 only in B"), std::string::npos);
  other = scored_by({1, 0, 1, 1, 1});
  EXPECT_NE(refusal(other).find("0 are only in A, 2 only in B"), std::string::npos);
  other = a;
  other.tally.scale = 100;
  EXPECT_NE(refusal(other).find("defined otherwise"), std::string::npos);
  other = a;
  other.dataset = "aime";
  EXPECT_NE(refusal(other).find("only A has this score"), std::string::npos);
  EXPECT_EQ(compare_accuracy({a}, {other}, {}).refusals.size(), 2U);
  EXPECT_FALSE(compare_accuracy({}, {}, {}).comparable());
}

TEST(Accuracy, a_single_sample_resolves_nothing) {
  const auto all = compare_accuracy({scored_by({0.5}, FigureKind::mean)},
                                    {scored_by({0.1}, FigureKind::mean)}, {});
  EXPECT_FALSE(all.figures[0].low);
  EXPECT_EQ(all.figures[0].verdict, AccuracyVerdict::unresolved);
  EXPECT_TRUE(accuracy_comparison_json(all, "a", "b", {})["accuracy"]
                  .items()[0]["interval_points"]
                  .is_null());
}

}  // namespace
}  // namespace assay::compare
