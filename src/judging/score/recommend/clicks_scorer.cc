// dlrm_v2: the area under the ROC curve over all pairs of a user and an item, and the share of
// predictions that round to their label, both × 100. A reply has [prediction, label] for each pair
// as float32; with a column of labels (a list for each sample) it has predictions alone. Rows
// without a reply are in no figure; the note gives their number.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "base/format.h"
#include "score/payload.h"
#include "score/scorer.h"
#include "score/uncertainty.h"

namespace assay::score {
namespace {

constexpr std::size_t kGroups = 20;  // of the jackknife

struct Pair {
  float prediction = 0;
  bool clicked = false;
  std::uint8_t group = 0;
};

// The area with all pairs, and without each group. NaN where one class is missing.
struct Areas {
  double all = 0;
  std::array<double, kGroups> without{};
};

// One walk up the sorted predictions: a click outranks what is below it, and half of its equals.
Areas areas_of(std::vector<Pair>& pairs) {
  std::ranges::sort(pairs, {}, &Pair::prediction);
  struct Counts {
    double clicks = 0;
    double others = 0;
    double area = 0;
  };
  std::array<Counts, kGroups + 1> sums{};  // the last is of all
  for (std::size_t i = 0; i < pairs.size();) {
    std::array<Counts, kGroups + 1> here{};
    const float value = pairs[i].prediction;
    for (; i < pairs.size() && pairs[i].prediction == value; ++i) {
      for (const std::size_t g : {std::size_t{pairs[i].group}, kGroups}) {
        (pairs[i].clicked ? here[g].clicks : here[g].others) += 1;
      }
    }
    for (std::size_t g = 0; g <= kGroups; ++g) {
      // Group g left out; the last leaves out none.
      const auto rest = [&](const std::array<Counts, kGroups + 1>& of, double Counts::*what) {
        return of[kGroups].*what - (g < kGroups ? of[g].*what : 0);
      };
      const double below = rest(sums, &Counts::others);
      sums[g].area += rest(here, &Counts::clicks) * (below + rest(here, &Counts::others) / 2);
    }
    for (std::size_t g = 0; g <= kGroups; ++g) {
      sums[g].clicks += here[g].clicks;
      sums[g].others += here[g].others;
    }
  }
  const Counts& all = sums[kGroups];
  Areas out{.all = all.area / (all.clicks * all.others)};
  for (std::size_t g = 0; g < kGroups; ++g) {
    out.without[g] = sums[g].area / ((all.clicks - sums[g].clicks) * (all.others - sums[g].others));
  }
  return out;
}

class Clicks final : public Scorer {
 public:
  explicit Clicks(const ScorerOptions& options) : options_(options) {
    if (options_.ground_truth.empty()) options_.ground_truth = "label";
  }

  Result<void> add(const Row& row) override {
    if (!row.answered) {
      ++missing_;
      return {};
    }
    const Json& labels = (*row.columns)[options_.ground_truth];
    ASSIGN_OR_RETURN(const std::vector<float> floats, read_floats(row.content));
    if (labels.is_array() ? labels.size() != floats.size() : floats.size() % 2 != 0) {
      return invalid(labels.is_array() ? format("{} predictions, and {} labels in column '{}'",
                                                floats.size(), labels.size(), options_.ground_truth)
                                       : format("{} floats are not pairs of a prediction and a "
                                                "label; without labels a dataset has them "
                                                "(column '{}')",
                                                floats.size(), options_.ground_truth));
    }
    double right = 0;
    const std::size_t step = labels.is_array() ? 1 : 2;
    for (std::size_t i = 0; i < floats.size(); i += step) {
      const double label = step == 1 ? labels[i].as_double(-1) : double{floats[i + 1]};
      if (std::isnan(floats[i]) || (label != 0 && label != 1)) {
        return invalid(format("pair {}: expected a prediction and a label of 0 or 1", i / step));
      }
      right += std::nearbyint(floats[i]) == label ? 1 : 0;
      pairs_.push_back({floats[i], label == 1, static_cast<std::uint8_t>(rows_ % kGroups)});
    }
    accuracy_.add(row.sample, right, static_cast<double>(floats.size() / step));
    ++rows_;
    return {};
  }

  Result<Verdict> finish() override {
    Verdict verdict;
    if (missing_ > 0) verdict.note = format("{} requests have no reply and are left out", missing_);
    if (pairs_.empty()) return verdict;
    const Areas areas = areas_of(pairs_);
    if (std::isnan(areas.all)) return invalid("all pairs have one label: there is no ROC curve");
    verdict.score.set("auc_percent", 100 * areas.all).set("accuracy", accuracy_.value());
    verdict.breakdown.set("pairs", pairs_.size()).set("requests", rows_);
    std::vector<double> without;
    for (std::size_t g = 0; g < std::min(kGroups, rows_) && rows_ > 1; ++g) {
      if (!std::isnan(areas.without[g])) without.push_back(100 * areas.without[g]);
    }
    if (without.size() < std::min(kGroups, rows_)) without.clear();
    verdict.figures.push_back(
        {"auc_percent", jackknifed(100 * areas.all, rows_, without, 100), std::nullopt});
    verdict.figures.push_back(figure_of("accuracy", std::move(accuracy_)));
    return verdict;
  }

 private:
  ScorerOptions options_;
  std::vector<Pair> pairs_{};
  std::size_t rows_ = 0;
  std::size_t missing_ = 0;
  Tally accuracy_{.kind = FigureKind::ratio, .scale = 100};
};

}  // namespace

Made make_clicks(std::string_view, const ScorerOptions& options) {
  return std::make_unique<Clicks>(options);
}

}  // namespace assay::score
