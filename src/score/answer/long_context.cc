// llama3_1_405b: long contexts, each row judged by what its column `metric` says, as the suite
// does:
//   rouge    ROUGE-L of the whole text, × 100
//   niah_em  needles: the identifiers (8-4-4-4-12 word characters) of the reply and of the truth
//            are paired in order; a pair counts the share of the true one's characters that stand
//            anywhere in the reply's, and the sum is divided by the reply's identifiers, × 100
//   qa_em    100 when what follows the last "Answer: " stands in the truth, or holds one of its
//            parts ('|' between them) when spaces and case are dropped
// rougeL and exact_match are the means of the rows that have them. That a wrong identifier earns
// something and an empty answer everything is the suite's own doing, kept to be comparable. A row
// without a reply has 0 for exact_match and is left out of ROUGE.
#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/text.h"
#include "score/scorer.h"
#include "score/text/rouge.h"
#include "text/regex.h"
#include "text/unicode.h"

namespace assay::score {
namespace {

std::string readable(std::string_view text) {
  return valid_utf8(text) ? std::string(text) : text::replace_invalid_utf8(text);
}

const text::Regex& identifier() {
  static const text::Regex kRegex =
      text::Regex::compile("\\w{8}-\\w{4}-\\w{4}-\\w{4}-\\w{12}", text::RegexDialect::rust).value();
  return kRegex;
}

std::vector<std::string> identifiers(std::string_view text) {
  std::vector<std::string> out;
  text::RegexStack stack;
  text::Regex::Match match;
  std::size_t at = 0;
  while (at < text.size() && identifier().find(text, at, stack, match)) {
    out.push_back(text::lower_case(text.substr(match.begin, match.end - match.begin)));
    at = match.end;
    stack.steps = 0;
  }
  return out;
}

double character_share(const std::string& wanted, const std::string& got) {
  std::size_t all = 0;
  std::size_t found = 0;
  for (std::size_t at = 0; at < wanted.size();) {
    const text::CodePoint c = text::decode_at(wanted, at);
    ++all;
    found += got.find(wanted.substr(at, c.bytes)) != std::string::npos ? 1U : 0U;
    at += c.bytes;
  }
  return all == 0 ? 0 : static_cast<double>(found) / static_cast<double>(all);
}

double needles(std::string_view truth, std::string_view reply) {
  const std::vector<std::string> got = identifiers(reply);
  const std::vector<std::string> wanted = identifiers(truth);
  if (got.empty()) return 0;
  double sum = 0;
  for (std::size_t i = 0; i < std::min(got.size(), wanted.size()); ++i) {
    sum += character_share(wanted[i], got[i]);
  }
  return std::nearbyint(sum / static_cast<double>(got.size()) * 100 * 100) / 100;
}

std::string squeezed(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const text::CodePoint c = text::decode_at(text, at);
    if (!text::is_space(c.value)) out.append(text, at, c.bytes);
    at += c.bytes;
  }
  return text::lower_case(out);
}

double question(std::string_view truth, std::string_view reply) {
  constexpr std::string_view kWord = "Answer: ";
  std::string_view answer = reply;
  if (const std::size_t at = reply.rfind(kWord); at != std::string_view::npos) {
    answer = reply.substr(at + kWord.size());
  }
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
    if (!row.answered && rouge) return {};
    const std::string truth = sentences_.lines(trim(readable(raw)));
    const std::string reply = sentences_.lines(trim(readable(row.reply)));
    Mean& mean = rouge ? rouge_l_ : exact_;
    ++mean.rows;
    if (rouge) mean.sum += 100 * rouge_.score(truth, reply).rouge_l.f;
    if (metric == "niah_em") mean.sum += needles(truth, reply);
    if (metric == "qa_em" && row.answered) mean.sum += question(truth, reply);
    return {};
  }

  Result<Verdict> finish() override {
    Verdict verdict;
    if (rouge_l_.rows + exact_.rows == 0) return verdict;
    if (rouge_l_.rows > 0) verdict.score.set("rougeL", rouge_l_.value());
    if (exact_.rows > 0) verdict.score.set("exact_match", exact_.value());
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
    double value() const { return sum / static_cast<double>(rows); }
  };

  void count(const Row& row) {
    if (!row.answered) return;
    ++answered_;
    for (const char c : trim(row.reply)) {
      characters_ += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }
    if (row.tokens < 0) return;
    tokens_ += row.tokens;
    ++counted_;
  }

  ScorerOptions options_;
  Sentences sentences_;
  Rouge rouge_{true};
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
