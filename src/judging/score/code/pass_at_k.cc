// pass@k over repeats (Chen et al. 2021): with c of a sample's n replies right, one of k drawn from
// them is right with probability 1 − C(n−c, k) / C(n, k). The score is the mean over samples.
#include <map>

#include "base/format.h"
#include "score/answer/answers.h"
#include "score/answer/extract.h"
#include "score/code/code_judge.h"
#include "score/scorer.h"

namespace assay::score {
namespace {

double chance(std::size_t n, std::size_t c, std::size_t k) {
  if (n - c < k) return 1;
  double none = 1;
  for (std::size_t i = n - c + 1; i <= n; ++i) {
    none *= 1 - static_cast<double>(k) / static_cast<double>(i);
  }
  return 1 - none;
}

class PassAtK final : public Scorer {
 public:
  PassAtK(AnswerKind kind, std::size_t k, const ScorerOptions& options,
          std::unique_ptr<CodeJudge> code)
      : kind_(kind), k_(k), options_(options), code_(std::move(code)) {
    if (options_.ground_truth.empty()) options_.ground_truth = "ground_truth";
  }

  Result<void> add(const Row& row) override {
    bool right = false;
    judged_ = Json();
    if (kind_ == AnswerKind::code) {
      if (row.answered) {
        const Extraction found = extract_python(row.reply);
        ASSIGN_OR_RETURN(right, code_->passes(found.answer.value_or(""), row));
        judged_ = judged(found, "tests", right ? 1 : 0);
      }
    } else {
      ASSIGN_OR_RETURN(const std::string truth, column_text(row, options_.ground_truth));
      Judgement judgement;
      if (row.answered) judgement = judge_answer(kind_, options_.extractor, row.reply, truth);
      right = judgement.right;
      judged_ = judged(judgement.found, truth, right ? 1 : 0);
    }
    Part& part = samples_[row.sample];
    ++part.rows;
    part.right += right ? 1 : 0;
    return {};
  }

  Json last_judged() const override { return judged_; }

  Result<Verdict> finish() override {
    Verdict verdict;
    double sum = 0;
    Tally tally{.kind = k_ == 1 ? FigureKind::proportion : FigureKind::mean};
    std::size_t samples = 0;
    std::size_t short_of = 0;
    for (const auto& [sample, part] : samples_) {
      if (part.rows < k_) {
        ++short_of;
        continue;
      }
      const double one = chance(part.rows, part.right, k_);
      sum += one;
      tally.add(sample, one);
      ++samples;
    }
    if (samples > 0) {
      verdict.score = sum / static_cast<double>(samples);
      verdict.figures.push_back(figure_of("score", std::move(tally)));
    }
    if (short_of > 0) {
      verdict.note =
          format("{} samples were asked less than k = {} times and are left out", short_of, k_);
    }
    return verdict;
  }

 private:
  struct Part {
    std::size_t rows = 0;
    std::size_t right = 0;
  };

  AnswerKind kind_;
  std::size_t k_;
  ScorerOptions options_;
  std::unique_ptr<CodeJudge> code_;
  Json judged_{};
  std::map<std::uint32_t, Part> samples_{};
};

}  // namespace

Made make_pass_at_k(std::string_view, const ScorerOptions& options) {
  const std::int64_t k = options.extra["k"].as_int(1);
  if (k < 1) return invalid("extras.k: must be at least 1");
  const std::string_view of = options.extra["of"].as_string("pass_at_1");
  if (of == "code_bench_scorer") {
    if (!options.allow_code) return code_refused();
    ASSIGN_OR_RETURN(auto code, CodeJudge::make(options.extra));
    return std::make_unique<PassAtK>(AnswerKind::code, static_cast<std::size_t>(k), options,
                                     std::move(code));
  }
  const auto kind = answer_kind(of);
  if (!kind)
    return invalid(format("extras.of: '{}' is not an exact match (aime, gpqa, math500 …)", of));
  return std::make_unique<PassAtK>(*kind, static_cast<std::size_t>(k), options, nullptr);
}

}  // namespace assay::score
