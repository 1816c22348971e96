// Uncertainty of a score: a standard error and an interval of 95 %. It is about another draw of as
// many samples from the same population, with another reply of the model to each.
//
// A figure is scale × Σ amount ÷ Σ of, over samples. Replies to one sample depend on each other, so
// the unit is the sample and never the reply (clusters: Liang and Zeger 1986; for evaluations:
// Miller 2024, "Adding Error Bars to Evals"). With R = Σ a ÷ Σ o over n samples:
//
//   linearised variance   v = Σ (a_i − R o_i)² ÷ (Σ o)²; standard error √(v n ÷ (n − 1))
//                         (Cochran 1977, section 6.3)
//   proportion            Wilson's score interval (1927) with the effective number of samples
//                         R (1 − R) ÷ v (Korn and Graubard 1998), which is n where each sample was
//                         asked once; where R is 0 or 1 (Σ o)² ÷ Σ o² (Kish 1965), which is n
//                         where samples weigh the same. It is right near 0 and 1, and for few
//                         samples, where R ± 1.96 standard errors is not.
//   mean                  R ± Student's t, n − 1 degrees
//   ratio                 where samples weigh differently (F1, word error rate): the 2.5 and 97.5
//                         percentiles of 1,000 bootstrap draws of samples, from a fixed seed, and
//                         their standard deviation (Efron 1979)
//   other statistics      (mAP, normalised entropy, GAUC) the delete-a-group jackknife with G
//   groups
//                         of samples: variance (G − 1) ÷ G Σ (θ_g − θ̄)², Student's t with G − 1
//                         degrees (Kott 2001)
//
// A single sample has no standard error. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace assay::score {

inline constexpr double kConfidence = 0.95;

enum class FigureKind : std::uint8_t { proportion, mean, ratio };
std::string_view to_string(FigureKind kind);
std::optional<FigureKind> figure_kind_from(std::string_view name);

enum class IntervalMethod : std::uint8_t { wilson, student_t, bootstrap, jackknife };
std::string_view to_string(IntervalMethod method);

// What one sample adds to a figure's numerator and denominator. For a proportion: right replies and
// replies.
struct Share {
  double amount = 0;
  double of = 0;
  bool operator==(const Share&) const = default;
};

// A figure, sample by sample.
struct Tally {
  FigureKind kind = FigureKind::proportion;
  double scale = 1;
  bool lower_is_better = false;
  std::map<std::uint32_t, Share> samples{};

  void add(std::uint32_t sample, double amount, double of = 1) {
    Share& share = samples[sample];
    share.amount += amount;
    share.of += of;
  }
  // NaN without samples.
  double value() const;
};

// In the figure's own unit, as in its score.
struct Uncertainty {
  double value = 0;
  std::optional<double> standard_error{};
  std::optional<double> low{};
  std::optional<double> high{};
  std::size_t samples = 0;
  IntervalMethod method = IntervalMethod::wilson;
};
Uncertainty uncertainty_of(const Tally& tally);

// For any statistic from 0 to `most`: `value` over all samples, and its values without each group
// of them. The interval ends where the statistic does.
Uncertainty jackknifed(double value, std::size_t samples, std::span<const double> without_group,
                       double most = std::numeric_limits<double>::infinity());

// A figure of a verdict. `name` is its key in the score, or "score" if the score is a number;
// "subset_scores.NAME" for a subset.
struct ScoreFigure {
  std::string name{};
  Uncertainty uncertainty{};
  std::optional<Tally> tally{};  // none: the figure is not a sum over samples
};
ScoreFigure figure_of(std::string name, Tally tally);

// {name: {"standard_error", "interval": [low, high], "confidence", "method", "samples"}}; null
// without figures.
Json uncertainty_json(const std::vector<ScoreFigure>& figures);

// Wilson's interval of `right` of `n`, as fractions; both may be fractional. `z`: the value that a
// standard normal exceeds with the probability of one tail; that of 95 %. REQUIRES: n > 0.
inline constexpr double kNormal95 = 1.959963984540054;
struct WilsonInterval {
  double low = 0;
  double high = 1;
};
WilsonInterval wilson(double right, double n, double z = kNormal95);

// Student's t: the probability of a value above t, and the value that is exceeded with the
// probability `tail`. REQUIRES: degrees >= 1; 0 < tail < 0.5.
double student_tail(double t, double degrees);
double student_quantile(double tail, double degrees);

}  // namespace assay::score
