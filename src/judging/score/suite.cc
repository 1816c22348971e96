// The suites of the reasoning models: several subsets in one run, each judged in its own way, as in
// the suite's own program (answer/answers.h).
//   gpt_oss      Σ (right ÷ repeats) ÷ Σ (rows ÷ repeats) × 100 over AIME, GPQA and LiveCodeBench:
//                a subset counts by its samples, not by how often they were asked. The answer is in
//                the final channel.
//   deepseek_r1  right ÷ rows × 100 over AIME, MATH500, GPQA, MMLU-Pro and LiveCodeBench; and the
//                mean tokens of a reply, if they were counted.
// The subset's column decides how a row is judged. An unknown name is an error: a row that is
// judged in another way gives a wrong score.
#include <cmath>
#include <map>
#include <memory>

#include "base/format.h"
#include "score/answer/answers.h"
#include "score/code/code_judge.h"
#include "score/scorer.h"

namespace assay::score {
namespace {

// The reply as the model wrote it, if the server separated its channels.
std::string harmony(std::string_view reasoning, std::string_view content) {
  return format(
      "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final"
      "<|message|>{}<|return|>",
      reasoning, content);
}

class Suite final : public Scorer {
 public:
  Suite(SuiteProgram program, const ScorerOptions& options, std::unique_ptr<CodeJudge> code)
      : program_(program), options_(options), code_(std::move(code)) {
    if (options_.subset_column.empty()) options_.subset_column = "dataset";
  }

  Result<void> add(const Row& row) override {
    ASSIGN_OR_RETURN(const std::string subset, column_text(row, options_.subset_column));
    const auto kind = suite_kind(program_, subset);
    if (!kind) {
      return invalid(
          format("sample {}: column '{}' is '{}', and must name how the row is judged: {}\n"
                 "  --subset COLUMN (extras.subset_column) is the column that does; without it "
                 "'dataset'",
                 row.sample, options_.subset_column, subset, suite_subsets(program_)));
    }
    Part& part = subsets_[subset];
    ++part.rows;
    if (row.tokens >= 0) {
      tokens_ += row.tokens;
      ++counted_;
    }
    const bool weighted = program_ == SuiteProgram::gpt_oss;
    const bool parted = weighted && !row.reasoning.empty() && !row.content.empty() &&
                        row.reply.find("<|channel|>") == std::string_view::npos;
    const std::string whole = parted ? harmony(row.reasoning, row.content) : std::string();
    Extraction found;
    if (row.answered) found = suite_extract(program_, *kind, parted ? whole : row.reply);
    ASSIGN_OR_RETURN(const bool right, *kind == AnswerKind::code ? passes(found, subset, row)
                                                                 : is_right(*kind, found, row));
    part.right += right ? 1 : 0;
    part.tally.add(row.sample, right ? 1 : 0);
    return {};
  }

  Json last_judged() const override { return judged_; }

  Result<Verdict> finish() override {
    Verdict verdict;
    double right = 0;
    double asked = 0;
    std::size_t rows = 0;
    Json scores = Json::object();
    Tally all{.scale = 100};
    std::vector<ScoreFigure> of_subsets;
    for (auto& [name, part] : subsets_) {
      const double weight = program_ == SuiteProgram::gpt_oss ? part.repeats() : 1;
      right += static_cast<double>(part.right) / weight;
      asked += static_cast<double>(part.rows) / weight;
      rows += part.rows;
      for (const auto& [sample, share] : part.tally.samples) {
        all.add(sample, share.amount / weight, share.of / weight);
      }
      part.tally.scale = 100;
      of_subsets.push_back(figure_of("subset_scores." + name, part.tally));
      scores.set(name, 100 * static_cast<double>(part.right) / static_cast<double>(part.rows));
    }
    if (rows == 0) return verdict;
    verdict.score = 100 * right / asked;
    verdict.figures.push_back(figure_of("score", std::move(all)));
    for (ScoreFigure& one : of_subsets) verdict.figures.push_back(std::move(one));
    verdict.breakdown.set("subset_scores", std::move(scores)).set("total_samples", rows);
    if (counted_ > 0) {
      verdict.breakdown.set("tokens_per_sample",
                            static_cast<double>(tokens_) / static_cast<double>(counted_));
    }
    if (code_ != nullptr) verdict.note = code_->note();
    if (!options_.extractor.empty()) {
      verdict.note += format("{}the extractor '{}' was not used: the suite's own read each subset",
                             verdict.note.empty() ? "" : "; ", options_.extractor);
    }
    return verdict;
  }

 private:
  struct Part {
    std::size_t rows = 0;
    std::size_t right = 0;
    Tally tally{};
    double repeats() const {
      return static_cast<double>(rows) / static_cast<double>(tally.samples.size());
    }
  };

  Result<bool> passes(const Extraction& found, const std::string& subset, const Row& row) {
    if (code_ == nullptr) {
      return invalid(
          format("subset '{}' is code, and its tests run what the model wrote\n"
                 "  allow it: --allow-code, or extras.allow_code: true",
                 subset));
    }
    bool right = false;
    // Without code, or with an empty block, the reply is wrong without a test.
    if (found.answer && !found.answer->empty()) {
      ASSIGN_OR_RETURN(right, code_->passes(*found.answer, row));
    }
    judged_ = judged(found, "tests", right ? 100 : 0);
    return right;
  }

  Result<bool> is_right(AnswerKind kind, const Extraction& found, const Row& row) {
    const std::string column = truth_column(row);
    ASSIGN_OR_RETURN(std::string truth, column_text(row, column));
    const Json& value = (*row.columns)[column];
    const bool fraction = value.is_number() && !value.is_integer();
    // int() of a number truncates what int() of its text refuses.
    if (kind == AnswerKind::aime && fraction && std::abs(value.as_double()) < 1e15) {
      truth = format("{}", static_cast<std::int64_t>(value.as_double()));
    }
    const bool right = suite_is_right(kind, found, truth);
    judged_ = judged(found, truth, right ? 100 : 0);
    return right;
  }

  std::string truth_column(const Row& row) const {
    if (!options_.ground_truth.empty()) return options_.ground_truth;
    const bool other =
        row.columns->find("ground_truth") == nullptr && row.columns->find("gt_output") != nullptr;
    return other ? "gt_output" : "ground_truth";
  }

  SuiteProgram program_;
  ScorerOptions options_;
  std::unique_ptr<CodeJudge> code_;
  std::map<std::string, Part> subsets_{};
  Json judged_{};
  std::int64_t tokens_ = 0;
  std::int64_t counted_ = 0;
};

// In the reference client a service judges code, unless its port is null; then it judges as the
// evaluator does.
SuiteProgram program_of(std::string_view name, const Json& extras) {
  if (name == "gpt_oss") return SuiteProgram::gpt_oss;
  const Json* const port = extras.find("lcb_websocket_port");
  const bool service = port == nullptr || !port->is_null();
  return name == "legacy_mlperf_deepseek_r1" && service ? SuiteProgram::client_deepseek_r1
                                                        : SuiteProgram::deepseek_r1;
}

}  // namespace

Made make_suite(std::string_view name, const ScorerOptions& options) {
  std::unique_ptr<CodeJudge> code;
  if (options.allow_code) {
    ASSIGN_OR_RETURN(code, CodeJudge::make(options.extra));
  }
  return std::make_unique<Suite>(program_of(name, options.extra), options, std::move(code));
}

}  // namespace assay::score
