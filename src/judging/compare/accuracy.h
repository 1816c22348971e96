// Accuracy in pairs: is B as good as A on the same samples? Both runs judged the same questions, so
// what makes a question hard does not show in the difference, and far fewer questions are enough
// than for two separate scores.
//
//   right or wrong, once  McNemar's exact test: of the n samples that only one run got right, the
//                         probability of a split this uneven if either were as likely (binomial,
//                         two-sided). The interval of the difference is Newcombe's (1998,
//                         Statistics in Medicine 17: 2635, method 10).
//   graded, or repeated   the paired t test of samples: with R = Σ a ÷ Σ o of each run, sample i
//                         contributes (a_i − R o_i) ÷ Σ o of B less that of A. Where each sample
//                         has one score, this is the paired t test of the scores.
//   ratio of sums         (F1, word error rate) a paired bootstrap: a draw takes both runs' share
//   of
//                         a sample. 4,000 draws from a fixed seed; p is twice the smaller share of
//                         draws on one side of 0.
//
// Verdicts, by the interval of the difference (positive: B is better) and the caller's margin:
//   better      the interval is above 0
//   as_good     it is above −margin: B is not worse by the margin (non-inferiority)
//   worse       it is below −margin, or below 0 where the caller gave no margin
//   unresolved  anything else; more samples are needed
// Intervals of several figures hold together (Bonferroni). A p is of its figure alone.
//
// Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "score/sample_scores.h"

namespace assay::compare {

struct AccuracyOptions {
  double alpha = 0.05;
  std::optional<double> margin_points{};  // above 0; percentage points
  std::uint64_t seed = 1;
};

enum class AccuracyTest : std::uint8_t { mcnemar_exact, paired_t, paired_bootstrap };
std::string_view to_string(AccuracyTest test);
enum class AccuracyVerdict : std::uint8_t { better, as_good, unresolved, worse };
std::string_view to_string(AccuracyVerdict verdict);

struct AccuracyComparison {
  std::string dataset{};
  std::string figure{};
  double a = 0;  // in the figure's own unit
  double b = 0;
  // B − A in percentage points of the figure, positive where B is better.
  double difference = 0;
  std::optional<double> low{};  // none: a single sample
  std::optional<double> high{};
  double p = 1;  // of no difference, two-sided
  std::size_t samples = 0;
  std::size_t only_a = 0;  // McNemar: samples that only A got right
  std::size_t only_b = 0;
  AccuracyTest test = AccuracyTest::paired_t;
  AccuracyVerdict verdict = AccuracyVerdict::unresolved;
};

struct AccuracyComparisons {
  std::vector<std::string> refusals{};  // why the runs are not comparable; else empty
  std::vector<AccuracyComparison> figures{};
  bool comparable() const { return refusals.empty(); }
  bool worse() const;
  bool unresolved() const;
};

// Refuses where a figure is of one run only, or the dataset, the way of judging or the samples are
// not the same.
AccuracyComparisons compare_accuracy(const std::vector<score::SampleScores>& a,
                                     const std::vector<score::SampleScores>& b,
                                     const AccuracyOptions& options);

Json accuracy_comparison_json(const AccuracyComparisons& comparison, std::string_view a,
                              std::string_view b, const AccuracyOptions& options);

}  // namespace assay::compare
