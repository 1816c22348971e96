// dlrm: DLRMv3's normalised entropy, accuracy and GAUC. A reply is its payload, [timestamp, query,
// predictions(N), labels(N), weights(N), N], as JSON or as base64 of float32. Rows without a reply
// are in no figure; the note gives their number.
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
    }
    if (missing_ > 0) verdict.note = format("{} requests have no reply and are left out", missing_);
    return verdict;
  }

 private:
  Recommendation all_{};
  std::size_t rows_ = 0;
  std::size_t missing_ = 0;
};

}  // namespace

Made make_recommendation(std::string_view, const ScorerOptions&) {
  return std::make_unique<RecommendationScorer>();
}

}  // namespace assay::score
