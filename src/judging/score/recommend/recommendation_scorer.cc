// dlrm: DLRMv3's normalised entropy, accuracy and GAUC. A reply is its payload, [timestamp, query,
// predictions(N), labels(N), weights(N), N], as JSON or as base64 of float32. Rows without a reply
// are in no figure; the note gives their number.
#include <algorithm>
#include <array>
#include <limits>

#include "base/format.h"
#include "score/payload.h"
#include "score/recommend/recommendation.h"
#include "score/scorer.h"

namespace assay::score {
namespace {

class RecommendationScorer final : public Scorer {
 public:
  Result<void> add(const Row& row) override {
    if (!row.answered) {
      ++missing_;
      return {};
    }
    auto floats = read_floats(row.content);
    if (!floats) return floats.error().within(format("sample {}", row.sample));
    const auto added = all_.add_payload(*floats);
    if (!added) return added.error().within(format("sample {}", row.sample));
    if (const auto grouped = groups_[rows_ % kGroups].add_payload(*floats); !grouped) {
      return grouped.error();
    }
    ++rows_;
    return {};
  }

  Result<Verdict> finish() override {
    Verdict verdict;
    if (rows_ > 0) {
      const RecommendationScores scores = all_.scores();
      verdict.score.set("normalised_entropy", scores.normalised_entropy)
          .set("accuracy", scores.accuracy)
          .set("gauc", scores.gauc);
      verdict.figures = figures(scores);
    }
    if (missing_ > 0) verdict.note = format("{} requests have no reply and are left out", missing_);
    return verdict;
  }

 private:
  static constexpr std::size_t kGroups = 20;  // of the jackknife

  std::vector<ScoreFigure> figures(const RecommendationScores& scores) const {
    std::vector<RecommendationScores> without;
    for (std::size_t g = 0; g < std::min(kGroups, rows_) && rows_ > 1; ++g) {
      without.push_back(all_.without(groups_[g]).scores());
    }
    std::vector<ScoreFigure> out;
    const auto add = [&](const char* name, double RecommendationScores::*figure, double most) {
      std::vector<double> values;
      for (const RecommendationScores& one : without) values.push_back(one.*figure);
      out.push_back({name, jackknifed(scores.*figure, rows_, values, most)});
    };
    add("normalised_entropy", &RecommendationScores::normalised_entropy,
        std::numeric_limits<double>::infinity());
    add("accuracy", &RecommendationScores::accuracy, 1);
    add("gauc", &RecommendationScores::gauc, 1);
    return out;
  }

  Recommendation all_{};
  std::array<Recommendation, kGroups> groups_{};
  std::size_t rows_ = 0;
  std::size_t missing_ = 0;
};

}  // namespace

Made make_recommendation(std::string_view, const ScorerOptions&) {
  return std::make_unique<RecommendationScorer>();
}

}  // namespace assay::score
