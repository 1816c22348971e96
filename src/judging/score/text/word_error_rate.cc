// Word error rate: substitutions, deletions and insertions that turn the true words into the
// reply's, over all rows, divided by the number of true words.
//
// wer compares the words unchanged. whisper is the suite's evaluation: both texts are normalised
// (english_text.h; extras.spellings is the model's normalizer.json), words that are separate in one
// and joined in the other are equal, and word_accuracy is 100 × (1 − WER). The reply is text, or a
// list of numbers that index the suite's letters.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "score/scorer.h"
#include "score/text/english_text.h"
#include "text/unicode.h"

namespace assay::score {
namespace {

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at < text.size();) {
    const auto space = [&](std::size_t i) {
      return text[i] == ' ' || (text[i] >= '\t' && text[i] <= '\r');
    };
    if (space(at)) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && !space(end)) ++end;
    out.push_back(text.substr(at, end - at));
    at = end;
  }
  return out;
}

std::size_t edits(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t swap = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({swap, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

// Aligns like the suite: from left to right, up to three words of one side may equal one word of
// the other. The words of a match are joined on their own side.
void join_words(std::vector<std::string>& truth, std::vector<std::string>& reply) {
  std::vector<std::string> left;
  std::vector<std::string> right;
  std::size_t i = 0;
  std::size_t j = 0;
  const auto joined = [](const std::vector<std::string>& words, std::size_t at, std::size_t count) {
    std::string out;
    for (std::size_t k = 0; k < count; ++k) out += words[at + k];
    return out;
  };
  while (i < truth.size() && j < reply.size()) {
    std::size_t lefts = 1;
    std::size_t rights = 1;
    for (std::size_t k = 1; k <= 3 && truth[i] != reply[j]; ++k) {
      if (i + k <= truth.size() && joined(truth, i, k) == reply[j]) {
        lefts = k;
        break;
      }
      if (j + k <= reply.size() && joined(reply, j, k) == truth[i]) {
        rights = k;
        break;
      }
    }
    left.push_back(joined(truth, i, lefts));
    right.push_back(joined(reply, j, rights));
    i += lefts;
    j += rights;
  }
  left.insert(left.end(), truth.begin() + static_cast<std::ptrdiff_t>(i), truth.end());
  right.insert(right.end(), reply.begin() + static_cast<std::ptrdiff_t>(j), reply.end());
  truth = std::move(left);
  reply = std::move(right);
}

// The suite's letters, by their numbers.
std::string letters_of(std::string_view reply) {
  constexpr std::array<std::string_view, 44> kLetters = {
      " ", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n",
      "o", "p", "q", "r", "s", "t", "u", "v", "w", "x", "y", "z", "'", "0", "1",
      "2", "3", "4", "5", "6", "7", "8", "9", "$", "¢", "£", "€", "%", "+"};
  const auto list = Json::parse(reply);
  if (!list || !list->is_array()) return std::string(reply);
  std::string out;
  for (const Json& one : list->items()) {
    const std::uint64_t number = one.as_uint(kLetters.size() + 1);
    if (!one.is_integer() || number > kLetters.size()) return std::string(reply);
    out += number == kLetters.size() ? std::string_view("-") : kLetters[number];
  }
  return out;
}

class WhisperAccuracy final : public Scorer {
 public:
  WhisperAccuracy(const ScorerOptions& options, Spellings spellings)
      : options_(options), spellings_(std::move(spellings)) {
    if (options_.ground_truth.empty()) options_.ground_truth = "transcript";
  }

  Result<void> add(const Row& row) override {
    ASSIGN_OR_RETURN(const std::string truth, column_text(row, options_.ground_truth));
    std::vector<std::string> wanted = words(truth);
    std::vector<std::string> got = words(letters_of(row.reply));
    const std::size_t said = wanted.size();
    words_ += said;
    join_words(wanted, got);
    const std::vector<std::string_view> left(wanted.begin(), wanted.end());
    const std::size_t wrong = edits(left, std::vector<std::string_view>(got.begin(), got.end()));
    wrong_ += wrong;
    accuracy_.add(row.sample, static_cast<double>(said) - static_cast<double>(wrong),
                  static_cast<double>(said));
    rate_.add(row.sample, static_cast<double>(wrong), static_cast<double>(said));
    return {};
  }

  Result<Verdict> finish() override {
    Verdict verdict;
    if (words_ == 0) return verdict;
    const double wer = static_cast<double>(wrong_) / static_cast<double>(words_);
    verdict.score.set("word_accuracy", 100 * (1 - wer)).set("word_error_rate", wer);
    verdict.figures.push_back(figure_of("word_accuracy", std::move(accuracy_)));
    verdict.figures.push_back(figure_of("word_error_rate", std::move(rate_)));
    if (spellings_.empty()) {
      verdict.note =
          "British spellings count as they stand (extras.spellings: the model's normalizer.json)";
    }
    return verdict;
  }

 private:
  std::vector<std::string> words(std::string_view text) const {
    const std::string plain = english_text(
        valid_utf8(text) ? std::string(text) : text::replace_invalid_utf8(text), spellings_);
    std::vector<std::string> out;
    for (const std::string_view word : words_of(plain)) out.emplace_back(word);
    return out;
  }

  ScorerOptions options_;
  Spellings spellings_;
  std::size_t wrong_ = 0;
  std::size_t words_ = 0;
  Tally accuracy_{.kind = FigureKind::ratio, .scale = 100};
  Tally rate_{.kind = FigureKind::ratio, .lower_is_better = true};
};

class WordErrorRate final : public Scorer {
 public:
  explicit WordErrorRate(const ScorerOptions& options) : options_(options) {
    if (options_.ground_truth.empty()) options_.ground_truth = "text";
  }

  // Without a reply, all true words are deletions.
  Result<void> add(const Row& row) override {
    ASSIGN_OR_RETURN(const std::string truth, column_text(row, options_.ground_truth));
    const bool ignore_case = options_.extra["ignore_case"].as_bool();
    const std::string left = ignore_case ? lower(truth) : truth;
    const std::string right = ignore_case ? lower(row.reply) : std::string(row.reply);
    const auto wanted = words_of(left);
    const std::size_t wrong = edits(wanted, words_of(right));
    wrong_ += wrong;
    words_ += wanted.size();
    rate_.add(row.sample, static_cast<double>(wrong), static_cast<double>(wanted.size()));
    return {};
  }

  Result<Verdict> finish() override {
    Verdict verdict;
    if (words_ == 0) return verdict;
    verdict.score = static_cast<double>(wrong_) / static_cast<double>(words_);
    verdict.figures.push_back(figure_of("score", std::move(rate_)));
    return verdict;
  }

 private:
  ScorerOptions options_;
  std::size_t wrong_ = 0;
  std::size_t words_ = 0;
  Tally rate_{.kind = FigureKind::ratio, .lower_is_better = true};
};

}  // namespace

Made make_word_error_rate(std::string_view name, const ScorerOptions& options) {
  if (name == "whisper") {
    ASSIGN_OR_RETURN(Spellings spellings,
                     read_spellings(std::string(options.extra["spellings"].as_string())));
    return std::make_unique<WhisperAccuracy>(options, std::move(spellings));
  }
  return std::make_unique<WordErrorRate>(options);
}

}  // namespace assay::score
