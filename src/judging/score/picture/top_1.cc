// top_1: the share of samples whose first label is the true one, × 100 (ResNet-50, R-GAT). A reply
// is a number, a list whose first element counts, or base64 of float32. The first of several
// repeats counts, as in the suite; a row without an answer counts as wrong.
#include <cmath>
#include <set>

#include "base/text.h"
#include "score/payload.h"
#include "score/scorer.h"

namespace assay::score {
namespace {

class Top1 final : public Scorer {
 public:
  explicit Top1(const ScorerOptions& options) : options_(options) {
    if (options_.ground_truth.empty()) options_.ground_truth = "label";
  }

  Result<void> add(const Row& row) override {
    ASSIGN_OR_RETURN(const std::string truth, column_text(row, options_.ground_truth));
    ASSIGN_OR_RETURN(const std::int64_t label, parse_int(trim(truth)));
    judged_ = {};
    if (!seen_.insert(row.sample).second) return {};
    ++total_;
    const bool right = row.answered && is_label(row.content, label);
    good_ += right ? 1U : 0U;
    tally_.add(row.sample, right ? 1 : 0);
    judged_.set("extracted", row.answered ? Json(trim(row.content)) : Json())
        .set("rule", "the first label")
        .set("truth", truth)
        .set("score", right ? 100 : 0);
    return {};
  }

  Json last_judged() const override { return judged_; }

  Result<Verdict> finish() override {
    Verdict verdict;
    if (total_ == 0) return verdict;
    verdict.score = 100 * static_cast<double>(good_) / static_cast<double>(total_);
    verdict.figures.push_back(figure_of("score", std::move(tally_)));
    verdict.breakdown.set("good", good_).set("total", total_);
    return verdict;
  }

 private:
  static bool is_label(std::string_view reply, std::int64_t label) {
    if (const auto plain = parse_int(trim(reply))) return *plain == label;
    const auto floats = read_floats(reply);
    return floats && !floats->empty() &&
           std::nearbyint(floats->front()) == static_cast<double>(label);
  }

  ScorerOptions options_;
  std::set<std::uint32_t> seen_{};
  std::size_t good_ = 0;
  std::size_t total_ = 0;
  Tally tally_{.scale = 100};
  Json judged_{};
};

}  // namespace

Made make_top_1(std::string_view, const ScorerOptions& options) {
  return std::make_unique<Top1>(options);
}

}  // namespace assay::score
