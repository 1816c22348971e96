#include "score/uncertainty.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "base/format.h"
#include "base/rng.h"
#include "score/scorer.h"

namespace assay::score {
namespace {

constexpr double kNear = 1e-9;

Tally right_of(std::uint32_t right, std::uint32_t n) {
  Tally out;
  for (std::uint32_t i = 0; i < n; ++i) out.add(i, i < right ? 1 : 0);
  return out;
}

// The slow twin of wilson(): the interval is the p for which |right/n − p| is at most z standard
// errors of p itself.
double score_bound(double right, double n, double inside, double outside) {
  for (int i = 0; i < 200; ++i) {
    const double p = (inside + outside) / 2;
    const double z = std::abs(right / n - p) / std::sqrt(p * (1 - p) / n);
    (z <= 1.959963984540054 ? inside : outside) = p;
  }
  return inside;
}

TEST(Uncertainty, wilson_is_the_inverse_of_the_score_test) {
  for (const double n : {1.0, 2.0, 7.0, 30.0, 198.0, 12032.0}) {
    for (double right = 0; right <= n; right += std::max(1.0, std::floor(n / 9))) {
      const WilsonInterval bounds = wilson(right, n);
      const double p = right / n;
      EXPECT_NEAR(bounds.low, right <= 0 ? 0 : score_bound(right, n, p, 0), 1e-9) << right << n;
      EXPECT_NEAR(bounds.high, right >= n ? 1 : score_bound(right, n, p, 1), 1e-9) << right << n;
    }
  }
}

TEST(Uncertainty, a_share_of_samples_asked_once_has_wilsons_interval) {
  // Newcombe 1998, table I: 81 of 263, 15 of 148, 0 of 20.
  const Uncertainty u = uncertainty_of(right_of(81, 263));
  EXPECT_NEAR(*u.low, 0.2553, 5e-5);
  EXPECT_NEAR(*u.high, 0.3662, 5e-5);
  EXPECT_NEAR(*uncertainty_of(right_of(15, 148)).low, 0.0624, 5e-5);
  EXPECT_NEAR(*uncertainty_of(right_of(15, 148)).high, 0.1605, 5e-5);
  EXPECT_EQ(*uncertainty_of(right_of(0, 20)).low, 0);
  EXPECT_NEAR(*uncertainty_of(right_of(0, 20)).high, 0.1611, 5e-5);
  const double p = 81.0 / 263;
  EXPECT_NEAR(*u.standard_error, std::sqrt(p * (1 - p) / 262), kNear);
  EXPECT_EQ(u.samples, 263U);
  EXPECT_EQ(u.method, IntervalMethod::wilson);
}

TEST(Uncertainty, repeats_that_agree_make_no_interval_narrower) {
  const Uncertainty once = uncertainty_of(right_of(20, 30));
  Tally five = right_of(20, 30);
  for (int repeat = 1; repeat < 5; ++repeat) {
    for (std::uint32_t i = 0; i < 30; ++i) five.add(i, i < 20 ? 1 : 0);
  }
  const Uncertainty repeated = uncertainty_of(five);
  EXPECT_NEAR(*repeated.low, *once.low, kNear);
  EXPECT_NEAR(*repeated.high, *once.high, kNear);
  EXPECT_NEAR(*repeated.standard_error, *once.standard_error, kNear);
  EXPECT_EQ(repeated.samples, 30U);
}

TEST(Uncertainty, repeats_that_differ_at_random_make_it_narrower) {
  Tally five;
  for (std::uint32_t i = 0; i < 30; ++i) {
    for (std::uint32_t r = 0; r < 5; ++r) five.add(i, (i + r) % 5 < 3 ? 1 : 0);
  }
  const Uncertainty u = uncertainty_of(five);
  // Each sample is right three times of five: nothing varies between samples.
  EXPECT_NEAR(*u.standard_error, 0, kNear);
  const Uncertainty once = uncertainty_of(right_of(18, 30));
  EXPECT_LE(*u.high - *u.low, *once.high - *once.low + kNear);
}

TEST(Uncertainty, a_mean_has_students_interval_in_its_own_unit) {
  Tally tally{.kind = FigureKind::mean, .scale = 100};
  const std::vector<double> values = {0.2, 0.4, 0.5, 0.9, 0.1};
  for (std::uint32_t i = 0; i < values.size(); ++i) tally.add(i, values[i]);
  const Uncertainty u = uncertainty_of(tally);
  // By hand: mean 0.42, s² = 0.388 / 4, t(4) = 2.776445.
  const double error = std::sqrt(0.388 / 4 / 5);
  EXPECT_NEAR(u.value, 42, kNear);
  EXPECT_NEAR(*u.standard_error, 100 * error, kNear);
  EXPECT_NEAR(*u.low, 42 - 100 * 2.776445105 * error, 1e-6);
  EXPECT_NEAR(*u.high, 42 + 100 * 2.776445105 * error, 1e-6);
}

TEST(Uncertainty, one_sample_has_no_standard_error) {
  for (const FigureKind kind : {FigureKind::mean, FigureKind::ratio}) {
    Tally tally{.kind = kind};
    tally.add(7, 1, 2);
    const Uncertainty u = uncertainty_of(tally);
    EXPECT_FALSE(u.standard_error);
    EXPECT_FALSE(u.low);
    EXPECT_NEAR(u.value, 0.5, kNear);
  }
  EXPECT_TRUE(std::isnan(uncertainty_of(Tally{}).value));
}

TEST(Uncertainty, a_ratios_bootstrap_is_fixed_and_near_its_linear_part) {
  Rng rng(5);
  Tally ratio{.kind = FigureKind::ratio};
  for (std::uint32_t i = 0; i < 400; ++i) {
    const auto words = static_cast<double>(1 + rng.below(40));
    ratio.add(i, std::floor(words * rng.uniform() * 0.4), words);
  }
  const Uncertainty u = uncertainty_of(ratio);
  EXPECT_EQ(*u.low, *uncertainty_of(ratio).low) << "the seed is fixed";
  Tally linear = ratio;
  linear.kind = FigureKind::mean;
  const Uncertainty twin = uncertainty_of(linear);
  EXPECT_NEAR(*u.standard_error / *twin.standard_error, 1, 0.1);
  EXPECT_NEAR(*u.low, *twin.low, 0.25 * *twin.standard_error);
  EXPECT_NEAR(*u.high, *twin.high, 0.25 * *twin.standard_error);
}

// The share of repeated draws whose interval holds the true value.
double coverage(FigureKind kind, int trials, std::uint32_t repeats) {
  Rng rng(11);
  int held = 0;
  for (int trial = 0; trial < trials; ++trial) {
    Tally tally{.kind = kind};
    for (std::uint32_t i = 0; i < 50; ++i) {
      // A sample's own difficulty; 0.7 on average.
      const double easy = rng.uniform() < 0.5 ? 0.95 : 0.45;
      for (std::uint32_t r = 0; r < repeats; ++r) tally.add(i, rng.uniform() < easy ? 1 : 0);
    }
    const Uncertainty u = uncertainty_of(tally);
    held += u.low && *u.low <= 0.7 && 0.7 <= *u.high ? 1 : 0;
  }
  return held / static_cast<double>(trials);
}

TEST(Uncertainty, an_interval_holds_the_truth_in_about_95_of_100_draws) {
  // Three standard errors of 400 trials are 0.033, of 80 trials 0.073.
  for (const std::uint32_t repeats : {1U, 8U}) {
    EXPECT_NEAR(coverage(FigureKind::proportion, 400, repeats), 0.95, 0.035) << repeats;
    EXPECT_NEAR(coverage(FigureKind::mean, 400, repeats), 0.95, 0.035) << repeats;
    EXPECT_NEAR(coverage(FigureKind::ratio, 80, repeats), 0.95, 0.08) << repeats;
  }
}

TEST(Uncertainty, the_jackknife_of_a_mean_is_its_standard_error) {
  const std::vector<double> values = {3, 1, 4, 1, 5, 9, 2, 6};
  double sum = 0;
  for (const double value : values) sum += value;
  std::vector<double> without;
  Tally tally{.kind = FigureKind::mean};
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    without.push_back((sum - values[i]) / 7);
    tally.add(i, values[i]);
  }
  const Uncertainty u = jackknifed(sum / 8, 8, without);
  const Uncertainty twin = uncertainty_of(tally);
  EXPECT_NEAR(*u.standard_error, *twin.standard_error, kNear);
  EXPECT_NEAR(*u.low, *twin.low, kNear);
  // A mean precision is never above 100, nor below 0.
  const Uncertainty bounded = jackknifed(sum / 8, 8, without, sum / 8);
  EXPECT_EQ(*bounded.high, sum / 8);
  EXPECT_EQ(*bounded.low, *u.low);
  EXPECT_EQ(*jackknifed(0, 8, without).low, 0);
  EXPECT_FALSE(jackknifed(1, 1, {}).low);
  EXPECT_FALSE(jackknifed(std::nan(""), 8, without).low);
}

// Rows of any scorer: {columns, reply}.
Verdict verdict_of(const char* name, const ScorerOptions& options,
                   const std::vector<std::pair<Json, std::string>>& rows) {
  auto scorer = make_scorer(name, options);
  EXPECT_TRUE(scorer) << name;
  std::uint32_t sample = 0;
  for (const auto& [columns, reply] : rows) {
    const auto added = (*scorer)->add(
        {.columns = &columns, .reply = reply, .content = reply, .tokens = 1, .sample = sample++});
    EXPECT_TRUE(added) << added.error().message;
  }
  auto verdict = (*scorer)->finish();
  EXPECT_TRUE(verdict) << verdict.error().message;
  return *verdict;
}

// The number in a score, whether or not it is written as text.
double number_of(const Json& score, const std::string& name) {
  const Json& value = score.is_object() ? score[name] : score;
  return value.is_string() ? std::stod(std::string(value.as_string())) : value.as_double();
}

TEST(Uncertainty, every_scorers_figures_are_the_figures_of_its_score) {
  struct Case {
    const char* scorer;
    std::vector<std::pair<Json, std::string>> rows;
  };
  const auto row = [](const char* json) { return *Json::parse(json); };
  const std::vector<Case> cases = {
      {"gpqa",
       {{row(R"({"ground_truth": "A"})"), "Answer: A"},
        {row(R"({"ground_truth": "B"})"), "Answer: A"},
        {row(R"({"ground_truth": "C"})"), "Answer: C"}}},
      {"gpt_oss",
       {{row(R"({"dataset": "gpqa", "ground_truth": "A"})"), "Answer: A"},
        {row(R"({"dataset": "gpqa", "ground_truth": "B"})"), "Answer: A"},
        {row(R"({"dataset": "aime25", "ground_truth": "7"})"), "\\boxed{7}"}}},
      {"squad_f1",
       {{row(R"({"answers": "red house"})"), "red"}, {row(R"({"answers": "cat"})"), "cat"}}},
      {"wer", {{row(R"({"text": "a b c"})"), "a b"}, {row(R"({"text": "d e"})"), "d e"}}},
      {"whisper",
       {{row(R"({"transcript": "one two three"})"), "one two"},
        {row(R"({"transcript": "four five"})"), "four five"}}},
      {"rouge",
       {{row(R"({"highlights": "the cat sat"})"), "the cat"},
        {row(R"({"highlights": "a dog ran"})"), "a dog ran"}}},
      {"top_1", {{row(R"({"label": 3})"), "3"}, {row(R"({"label": 4})"), "5"}}},
      {"shopify_category_f1",
       {{row(R"({"ground_truth_category": "A > B > C"})"),
         R"({"category": "A > B", "brand": "x", "is_secondhand": false})"},
        {row(R"({"ground_truth_category": "D"})"), "no JSON"}}},
      {"llama3_1_405b",
       {{row(R"({"metric": "rouge", "gt_output": "the cat sat"})"), "the cat"},
        {row(R"({"metric": "rouge", "gt_output": "a dog ran"})"), "a dog ran"}}},
      {"dlrm",
       {{row("{}"), "[0, 0, 0.9, 0.2, 0.6, 1, 0, 1, 1, 1, 1, 3]"},
        {row("{}"), "[0, 1, 0.4, 0.7, 0.1, 1, 1, 0, 1, 1, 1, 3]"},
        {row("{}"), "[0, 2, 0.8, 0.3, 0.6, 1, 0, 0, 1, 1, 1, 3]"}}},
  };
  for (const Case& one : cases) {
    const Verdict verdict = verdict_of(one.scorer, {}, one.rows);
    ASSERT_FALSE(verdict.figures.empty()) << one.scorer;
    const Json spread = uncertainty_json(verdict.figures);
    for (const ScoreFigure& figure : verdict.figures) {
      const bool subset = figure.name.starts_with("subset_scores.");
      const double said =
          subset ? verdict.breakdown["subset_scores"][figure.name.substr(14)].as_double()
                 : number_of(verdict.score, figure.name);
      EXPECT_NEAR(figure.uncertainty.value, said, 1e-4) << one.scorer << ' ' << figure.name;
      const Json& written = spread[figure.name];
      ASSERT_EQ(
          written["interval"].is_null(),
          figure.uncertainty.samples < 2 && figure.uncertainty.method != IntervalMethod::wilson)
          << one.scorer << ' ' << figure.name;
      EXPECT_LE(written["interval"].items()[0].as_double(), said + 1e-4) << figure.name;
      EXPECT_GE(written["interval"].items()[1].as_double(), said - 1e-4) << figure.name;
    }
  }
}

TEST(Uncertainty, a_subset_counts_in_gpt_oss_by_its_samples) {
  auto scorer = make_scorer("gpt_oss", {});
  ASSERT_TRUE(scorer);
  // AIME four times a sample, GPQA once: a sample of either weighs the same.
  const Json aime = *Json::parse(R"({"dataset": "aime25", "ground_truth": "7"})");
  const Json gpqa = *Json::parse(R"({"dataset": "gpqa", "ground_truth": "A"})");
  for (std::uint32_t i = 0; i < 10; ++i) {
    for (int r = 0; r < 4; ++r) {
      const char* const reply = i < 6 ? "\\boxed{7}" : "\\boxed{8}";
      ASSERT_TRUE((*scorer)->add({.columns = &aime, .reply = reply, .sample = i}));
    }
    const char* const reply = i < 3 ? "Answer: A" : "Answer: B";
    ASSERT_TRUE((*scorer)->add({.columns = &gpqa, .reply = reply, .sample = 100 + i}));
  }
  const auto verdict = (*scorer)->finish();
  ASSERT_TRUE(verdict);
  const Uncertainty& all = verdict->figures.front().uncertainty;
  const WilsonInterval wanted = wilson(9, 20);
  EXPECT_NEAR(verdict->score.as_double(), 45, kNear);
  EXPECT_NEAR(*all.low, 100 * wanted.low, 1e-6);
  EXPECT_NEAR(*all.high, 100 * wanted.high, 1e-6);
}

}  // namespace
}  // namespace assay::score
