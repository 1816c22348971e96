// SQuAD's exact match and F1 (Rajpurkar 2016): words in common without punctuation, articles and
// case; the best of several true answers counts.
#include <algorithm>
#include <map>

#include "base/text.h"
#include "score/answer/python_text.h"
#include "score/scorer.h"
#include "text/unicode.h"

namespace assay::score {
namespace {

// The length of a whole word "a", "an" or "the" that begins here; 0: none does.
std::size_t article_at(CharactersView text, std::size_t at) {
  if (!word_edge(text, at)) return 0;
  for (const CharactersView one :
       {CharactersView(U"a"), CharactersView(U"an"), CharactersView(U"the")}) {
    if (text.substr(at).starts_with(one) && word_edge(text, at + one.size())) return one.size();
  }
  return 0;
}

// Python's lower case, without ASCII's punctuation; an article between two word edges is a space.
std::vector<std::string> squad_words(std::string_view answer) {
  Characters plain;
  for (const char32_t c : characters(text::lower_case(readable(answer)))) {
    if (c >= 0x80 || !text::is_bert_punctuation(c)) plain += c;
  }
  std::vector<std::string> words;
  Characters word;
  const auto flush = [&] {
    if (!word.empty()) words.push_back(utf8(word));
    word.clear();
  };
  for (std::size_t at = 0; at < plain.size();) {
    if (const std::size_t article = article_at(plain, at); article > 0 || python_space(plain[at])) {
      flush();
      at += std::max<std::size_t>(article, 1);
    } else {
      word += plain[at++];
    }
  }
  flush();
  return words;
}

double f1(const std::vector<std::string>& got, const std::vector<std::string>& wanted) {
  if (got.empty() || wanted.empty()) return 0;
  std::map<std::string_view, int> left;
  for (const std::string& word : wanted) ++left[word];
  int same = 0;
  for (const std::string& word : got) {
    const auto at = left.find(word);
    if (at == left.end() || at->second == 0) continue;
    --at->second;
    ++same;
  }
  if (same == 0) return 0;
  const double precision = same / static_cast<double>(got.size());
  const double recall = same / static_cast<double>(wanted.size());
  return 2 * precision * recall / (precision + recall);
}

class SquadF1 final : public Scorer {
 public:
  explicit SquadF1(const ScorerOptions& options) : options_(options) {
    if (options_.ground_truth.empty()) options_.ground_truth = "answers";
  }

  // A question without a reply counts as wrong.
  Result<void> add(const Row& row) override {
    ASSIGN_OR_RETURN(const std::vector<std::string> answers, truths(row));
    ++rows_;
    judged_ = Json().set("truth", answers.front()).set("score", 0);
    if (!row.answered) {
      exact_tally_.add(row.sample, 0);
      f1_tally_.add(row.sample, 0);
      return {};
    }
    const std::vector<std::string> got = squad_words(row.reply);
    double best_exact = 0;
    double best = 0;
    for (const std::string& answer : answers) {
      const std::vector<std::string> wanted = squad_words(answer);
      best_exact = std::max(best_exact, got == wanted ? 1.0 : 0.0);
      best = std::max(best, f1(got, wanted));
    }
    exact_ += best_exact;
    overlap_ += best;
    exact_tally_.add(row.sample, best_exact);
    f1_tally_.add(row.sample, best);
    judged_.set("extracted", trim(row.reply))
        .set("rule", "words in common")
        .set("score", 100 * best);
    return {};
  }

  Json last_judged() const override { return judged_; }

  Result<Verdict> finish() override {
    Verdict verdict;
    if (rows_ == 0) return verdict;
    verdict.score.set("exact_match", 100 * exact_ / static_cast<double>(rows_))
        .set("f1", 100 * overlap_ / static_cast<double>(rows_));
    verdict.figures.push_back(figure_of("exact_match", std::move(exact_tally_)));
    verdict.figures.push_back(figure_of("f1", std::move(f1_tally_)));
    return verdict;
  }

 private:
  // Reads a string, a list of strings, or SQuAD's {"text": [...]}.
  Result<std::vector<std::string>> truths(const Row& row) const {
    const Json* value = row.columns->find(options_.ground_truth);
    std::vector<std::string> out;
    if (value != nullptr && value->is_object()) value = value->find("text");
    if (value != nullptr && value->is_array()) {
      for (const Json& one : value->items()) out.emplace_back(one.as_string());
      if (!out.empty()) return out;
    }
    ASSIGN_OR_RETURN(const std::string one, column_text(row, options_.ground_truth));
    out.push_back(one);
    return out;
  }

  ScorerOptions options_;
  std::size_t rows_ = 0;
  double exact_ = 0;
  double overlap_ = 0;
  Tally exact_tally_{.scale = 100};
  Tally f1_tally_{.kind = FigureKind::mean, .scale = 100};
  Json judged_{};
};

}  // namespace

Made make_squad_f1(std::string_view, const ScorerOptions& options) {
  return std::make_unique<SquadF1>(options);
}

}  // namespace assay::score
