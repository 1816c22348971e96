// token_bounds: are the replies as long as the reference's? The mean tokens of a reply must be
// within `tolerance` (0.1) of `reference`, or between `low` and `high`; either may be left out. It
// protects the other scores: a model with shorter or padded replies is not the reference's model.
#include <optional>
#include <utility>

#include "base/text.h"
#include "score/scorer.h"

namespace assay::score {
namespace {

struct Bounds {
  std::optional<double> low{};
  std::optional<double> high{};
};

class TokenBounds final : public Scorer {
 public:
  explicit TokenBounds(const Bounds& bounds) : bounds_(bounds) {}

  Result<void> add(const Row& row) override {
    if (!row.answered) return {};
    if (row.tokens < 0) {
      ++uncounted_;
      return {};
    }
    tally_.add(row.sample, static_cast<double>(row.tokens));
    tokens_ += row.tokens;
    ++rows_;
    return {};
  }

  Result<Verdict> finish() override {
    Verdict verdict;
    if (uncounted_ > 0) {
      verdict.note = counted(uncounted_, "reply has", "replies have") +
                     " no token count (run with --tokenizer)";
    }
    if (rows_ == 0) return verdict;
    const double mean = static_cast<double>(tokens_) / static_cast<double>(rows_);
    const bool within =
        (!bounds_.low || mean >= *bounds_.low) && (!bounds_.high || mean <= *bounds_.high);
    verdict.score.set("tokens_per_sample", mean)
        .set("gen_tok_len", tokens_)
        .set("within", within)
        .set("low", bounds_.low ? Json(*bounds_.low) : Json())
        .set("high", bounds_.high ? Json(*bounds_.high) : Json());
    verdict.figures.push_back(figure_of("tokens_per_sample", std::move(tally_)));
    return verdict;
  }

  bool reads_text() const override { return false; }

 private:
  Bounds bounds_;
  Tally tally_{.kind = FigureKind::mean};
  std::int64_t tokens_ = 0;
  std::int64_t rows_ = 0;
  std::size_t uncounted_ = 0;
};

}  // namespace

Made make_token_bounds(std::string_view, const ScorerOptions& options) {
  Bounds bounds;
  const auto number = [&options](std::string_view key) -> std::optional<double> {
    const Json& value = options.extra[key];
    return value.is_number() ? std::optional(value.as_double()) : std::nullopt;
  };
  if (const auto reference = number("reference")) {
    const double tolerance = number("tolerance").value_or(0.1);
    bounds.low = *reference * (1 - tolerance);
    bounds.high = *reference * (1 + tolerance);
  }
  if (const auto low = number("low")) bounds.low = low;
  if (const auto high = number("high")) bounds.high = high;
  return std::make_unique<TokenBounds>(bounds);
}

}  // namespace assay::score
