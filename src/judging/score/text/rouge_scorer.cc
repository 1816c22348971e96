#include <array>
#include <cmath>

#include "base/format.h"
#include "base/text.h"
#include "score/scorer.h"
#include "score/text/rouge.h"

namespace assay::score {
namespace {

constexpr std::array kKeys = {"rouge1", "rouge2", "rougeL", "rougeLsum"};

// The result has the form of the suite's evaluation.
class RougeScorer final : public Scorer {
 public:
  RougeScorer(const ScorerOptions& options, Sentences sentences)
      : options_(options), means_(std::move(sentences)) {
    if (options_.ground_truth.empty()) options_.ground_truth = "highlights";
  }

  Result<void> add(const Row& row) override {
    if (!row.answered) return {};
    ASSIGN_OR_RETURN(const std::string truth, column_text(row, options_.ground_truth));
    means_.add(row.sample, truth, row.reply, row.tokens);
    return {};
  }

  Result<Verdict> finish() override {
    Verdict verdict;
    verdict.score = means_.json(true);
    verdict.figures = means_.figures();
    verdict.note = means_.note();
    return verdict;
  }

 private:
  ScorerOptions options_;
  RougeMeans means_;
};

}  // namespace

void RougeMeans::add(std::uint32_t sample, std::string_view truth, std::string_view reply,
                     std::int64_t tokens) {
  const std::string_view plain = trim(reply);
  const RougeScores one = rouge_.score(sentences_.lines(trim(truth)), sentences_.lines(plain));
  const std::array fs = {one.rouge1.f, one.rouge2.f, one.rouge_l.f, one.rouge_l_sum.f};
  for (std::size_t i = 0; i < fs.size(); ++i) {
    sums_[i] += fs[i];
    tallies_[i].add(sample, fs[i]);
  }
  for (const char c : plain) characters_ += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  ++rows_;
  if (tokens >= 0) {
    tokens_ += tokens;
    ++counted_;
  }
}

Json RougeMeans::json(bool as_texts) const {
  Json out;
  if (rows_ == 0) return out;
  for (std::size_t i = 0; i < kKeys.size(); ++i) {
    const double mean = std::nearbyint(sums_[i] / static_cast<double>(rows_) * 100 * 1e4) / 1e4;
    out.set(kKeys[i], as_texts ? Json(format("{}", mean)) : Json(mean));
  }
  out.set("gen_len", characters_).set("gen_num", rows_);
  if (counted_ > 0) {
    const double mean = static_cast<double>(tokens_) / static_cast<double>(counted_);
    out.set("gen_tok_len", tokens_).set("tokens_per_sample", std::nearbyint(mean * 10) / 10);
  }
  return out;
}

std::vector<ScoreFigure> RougeMeans::figures() const {
  std::vector<ScoreFigure> out;
  for (std::size_t i = 0; i < kKeys.size() && rows_ > 0; ++i) {
    Tally tally = tallies_[i];
    tally.kind = FigureKind::mean;
    tally.scale = 100;
    out.push_back(figure_of(kKeys[i], std::move(tally)));
  }
  return out;
}

Made make_rouge(std::string_view, const ScorerOptions& options) {
  ASSIGN_OR_RETURN(Sentences sentences, Sentences::make(options.extra));
  return std::make_unique<RougeScorer>(options, std::move(sentences));
}

}  // namespace assay::score
