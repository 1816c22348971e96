// The suites of the reasoning models: several subsets in one run, each judged its own way.
//   gpt_oss      Σ (right ÷ repeats) ÷ Σ (rows ÷ repeats) × 100 over AIME, GPQA and LiveCodeBench:
//   a
//                subset counts by its samples, not by how often they were asked. The answer is in
//                the final channel.
//   deepseek_r1  right ÷ rows × 100 over AIME, MATH500, GPQA, MMLU-Pro and LiveCodeBench; and the
//                mean tokens of a reply, where they were counted.
#include <map>
#include <memory>
#include <set>

#include "base/format.h"
#include "score/answer/answers.h"
#include "score/answer/extract.h"
#include "score/code/code_judge.h"
#include "score/scorer.h"

namespace assay::score {
namespace {

class Suite final : public Scorer {
 public:
  Suite(bool weighted, const ScorerOptions& options, std::unique_ptr<CodeJudge> code)
      : weighted_(weighted), options_(options), code_(std::move(code)) {
    if (options_.subset_column.empty()) options_.subset_column = "dataset";
  }

  Result<void> add(const Row& row) override {
    ASSIGN_OR_RETURN(const std::string subset, column_text(row, options_.subset_column));
    const AnswerKind kind = answer_kind_of_subset(subset);
    Part& part = subsets_[subset];
    ++part.rows;
    part.samples.insert(row.sample);
    if (row.tokens >= 0) {
      tokens_ += row.tokens;
      ++counted_;
    }
    const std::string_view reply = weighted_ ? final_channel(row.reply) : row.reply;
    bool right = false;
    if (kind == AnswerKind::code) {
      if (code_ == nullptr) {
        return invalid(
            format("subset '{}' is code, and its tests run what the model wrote\n"
                   "  allow it: --allow-code, or extras.allow_code: true",
                   subset));
      }
      if (row.answered) {
        ASSIGN_OR_RETURN(right, code_->passes(extract("python_code_extractor", reply), row));
      }
    } else {
      ASSIGN_OR_RETURN(const std::string truth, truth_of(row));
      right = row.answered && answer_is_right(kind, options_.extractor, reply, truth);
    }
    part.right += right ? 1 : 0;
    return {};
  }

  Result<Verdict> finish() override {
    Verdict verdict;
    double right = 0;
    double asked = 0;
    std::size_t rows = 0;
    Json scores = Json::object();
    for (const auto& [name, part] : subsets_) {
      const double weight = weighted_ ? part.repeats() : 1;
      right += static_cast<double>(part.right) / weight;
      asked += static_cast<double>(part.rows) / weight;
      rows += part.rows;
      scores.set(name, 100 * static_cast<double>(part.right) / static_cast<double>(part.rows));
    }
    if (rows == 0) return verdict;
    verdict.score = 100 * right / asked;
    verdict.breakdown.set("subset_scores", std::move(scores)).set("total_samples", rows);
    if (counted_ > 0) {
      verdict.breakdown.set("tokens_per_sample",
                            static_cast<double>(tokens_) / static_cast<double>(counted_));
    }
    if (code_ != nullptr) verdict.note = code_->note();
    return verdict;
  }

 private:
  struct Part {
    std::size_t rows = 0;
    std::size_t right = 0;
    std::set<std::uint32_t> samples{};
    double repeats() const {
      return static_cast<double>(rows) / static_cast<double>(samples.size());
    }
  };

  Result<std::string> truth_of(const Row& row) const {
    if (!options_.ground_truth.empty()) return column_text(row, options_.ground_truth);
    if (row.columns->find("ground_truth") != nullptr) return column_text(row, "ground_truth");
    if (row.columns->find("gt_output") != nullptr) return column_text(row, "gt_output");
    return column_text(row, "ground_truth");
  }

  bool weighted_;
  ScorerOptions options_;
  std::unique_ptr<CodeJudge> code_;
  std::map<std::string, Part> subsets_{};
  std::int64_t tokens_ = 0;
  std::int64_t counted_ = 0;
};

}  // namespace

Made make_suite(std::string_view name, const ScorerOptions& options) {
  std::unique_ptr<CodeJudge> code;
  if (options.allow_code) {
    ASSIGN_OR_RETURN(code, CodeJudge::make(options.extra));
  }
  return std::make_unique<Suite>(name == "gpt_oss", options, std::move(code));
}

}  // namespace assay::score
