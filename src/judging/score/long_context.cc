// llama3_1_405b: long contexts; a row's column `metric` decides how it is judged, as in the suite:
//   rouge    ROUGE-L of the whole text, × 100
//   niah_em  needles: the identifiers (8-4-4-4-12 word characters) of the reply and of the truth
//            are paired in order; a pair counts the share of the true one's characters that are
//            anywhere in the reply's, and the sum is divided by the reply's identifiers, × 100
//   qa_em    100 when the text after the last "Answer: " is in the truth, or has one of its parts
//            ('|' between them), without spaces and case
// rougeL and exact_match are the means of the rows that have them. In the suite a wrong identifier
// gets a share and an empty answer 100; we keep this to be comparable. A row without a reply has 0
// for exact_match and is left out of ROUGE.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/format.h"
#include "base/text.h"
#include "score/answer/answers.h"
#include "score/answer/python_text.h"
#include "score/scorer.h"
#include "score/text/rouge.h"
#include "text/unicode.h"

namespace assay::score {
namespace {

// Finds the identifiers: 8, 4, 4, 4 and 12 word characters with '-' between, unchanged.
std::vector<Characters> identifiers(CharactersView text) {
  constexpr std::array<std::size_t, 5> kLengths = {8, 4, 4, 4, 12};
  std::vector<Characters> out;
  for (std::size_t at = 0; at < text.size();) {
    Scan scan(text, at);
    bool matches = true;
    for (const std::size_t length : kLengths) {
      if (scan.at() > at) matches = scan.one_of(U"-");
      for (std::size_t i = 0; matches && i < length; ++i) {
        matches = python_word(scan.peek()) && scan.one_of(CharactersView(&text[scan.at()], 1));
      }
      if (!matches) break;
    }
    if (matches) out.emplace_back(text.substr(at, scan.at() - at));
    at = matches ? scan.at() : at + 1;
  }
  return out;
}

double character_share(CharactersView wanted, CharactersView got) {
  const std::string there = text::lower_case(utf8(got));
  std::size_t found = 0;
  for (const char32_t c : wanted) {
    found += there.find(text::lower_case(utf8({&c, 1}))) != std::string::npos ? 1U : 0U;
  }
  return static_cast<double>(found) / static_cast<double>(wanted.size());
}

double needles(std::string_view truth, std::string_view reply) {
  const std::vector<Characters> got = identifiers(characters(reply));
  const std::vector<Characters> wanted = identifiers(characters(truth));
  if (got.empty()) return 0;
  double sum = 0;
  for (std::size_t i = 0; i < std::min(got.size(), wanted.size()); ++i) {
    sum += character_share(wanted[i], got[i]);
  }
  // Python rounds the decimal digits of the binary number, not a multiple of it.
  const std::string rounded = format("{:.2f}", sum / static_cast<double>(got.size()) * 100);
  return parse_double(rounded).value_or(0);
}

std::string squeezed(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const text::CodePoint c = text::decode_at(text, at);
    if (!python_space(c.value)) out.append(text, at, c.bytes);
    at += c.bytes;
  }
  return text::lower_case(out);
}

// Returns the text after the last "Answer: ", else the whole reply.
std::string_view said(std::string_view reply) {
  constexpr std::string_view kWord = "Answer: ";
  const std::size_t at = reply.rfind(kWord);
  return at == std::string_view::npos ? reply : reply.substr(at + kWord.size());
}

double question(std::string_view truth, std::string_view reply) {
  const std::string_view answer = said(reply);
  if (truth.find(answer) != std::string_view::npos) return 100;
  const std::string plain = squeezed(answer);
  for (const std::string_view part : split(truth, '|')) {
    if (plain.find(squeezed(part)) != std::string::npos) return 100;
  }
  return 0;
}

class LongContext final : public Scorer {
 public:
  LongContext(const ScorerOptions& options, Sentences sentences)
      : options_(options), sentences_(std::move(sentences)) {
    if (options_.ground_truth.empty()) options_.ground_truth = "gt_output";
    if (options_.subset_column.empty()) options_.subset_column = "metric";
  }

  Result<void> add(const Row& row) override {
    ASSIGN_OR_RETURN(const std::string metric, column_text(row, options_.subset_column));
    ASSIGN_OR_RETURN(const std::string raw, column_text(row, options_.ground_truth));
    const bool rouge = metric == "rouge";
    if (!rouge && metric != "niah_em" && metric != "qa_em") {
      return invalid(format("sample {}: column '{}' is '{}', none of rouge, niah_em and qa_em",
                            row.sample, options_.subset_column, metric));
    }
    count(row);
    judged_ = Json();
    if (!row.answered && rouge) return {};
    const std::string truth = sentences_.lines(python_strip(std::string_view(readable(raw))));
    const std::string reply = sentences_.lines(python_strip(std::string_view(readable(row.reply))));
    Extraction found{std::string(metric == "qa_em" ? said(reply) : reply), metric};
    double score = 0;
    if (rouge) score = 100 * rouge_.score(truth, reply).rouge_l.f;
    if (metric == "niah_em") score = needles(truth, reply);
    if (metric == "qa_em" && row.answered) score = question(truth, reply);
    judged_ = judged(found, truth, score);
    Mean& mean = rouge ? rouge_l_ : exact_;
    ++mean.rows;
    mean.sum += score;
    mean.tally.add(row.sample, score / 100);
    return {};
  }

  Json last_judged() const override { return judged_; }

  Result<Verdict> finish() override {
    Verdict verdict;
    if (rouge_l_.rows + exact_.rows == 0) return verdict;
    if (rouge_l_.rows > 0) verdict.score.set("rougeL", rouge_l_.value());
    if (exact_.rows > 0) verdict.score.set("exact_match", exact_.value());
    if (rouge_l_.rows > 0) verdict.figures.push_back(figure_of("rougeL", rouge_l_.tally));
    if (exact_.rows > 0) verdict.figures.push_back(figure_of("exact_match", exact_.tally));
    verdict.score.set("gen_len", characters_).set("gen_num", answered_);
    if (counted_ > 0) {
      const double mean = static_cast<double>(tokens_) / static_cast<double>(counted_);
      verdict.score.set("gen_tok_len", tokens_)
          .set("tokens_per_sample", std::nearbyint(mean * 10) / 10);
    }
    return verdict;
  }

 private:
  struct Mean {
    double sum = 0;
    std::size_t rows = 0;
    Tally tally{.kind = FigureKind::mean, .scale = 100};
    double value() const { return sum / static_cast<double>(rows); }
  };

  void count(const Row& row) {
    if (!row.answered) return;
    ++answered_;
    const Characters all = characters(row.reply);
    characters_ += python_strip(all).size();
    if (row.tokens < 0) return;
    tokens_ += row.tokens;
    ++counted_;
  }

  ScorerOptions options_;
  Sentences sentences_;
  Rouge rouge_{true};
  Json judged_{};
  Mean rouge_l_{};
  Mean exact_{};
  std::size_t answered_ = 0;
  std::size_t characters_ = 0;
  std::int64_t tokens_ = 0;
  std::int64_t counted_ = 0;
};

}  // namespace

Made make_long_context(std::string_view, const ScorerOptions& options) {
  ASSIGN_OR_RETURN(Sentences sentences, Sentences::make(options.extra));
  return std::make_unique<LongContext>(options, std::move(sentences));
}

}  // namespace assay::score
