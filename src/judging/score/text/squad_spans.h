// BERT's answers to SQuAD as the suite's program reads them out of logits. A question and a window
// of its passage are a feature of at most 384 tokens; a reply is a feature's start and end logit
// for each of its tokens, float32. The answer is the span of at most 30 tokens with the greatest
// sum, of the 20 best starts and the 20 best ends of each window, in the words of the passage.
//
// Features are made here from SQuAD's own file and the model's vocabulary, in the order in which
// the suite counts samples. One thread for each object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "text/tokenizer.h"

namespace assay::score {

struct SquadQuestion {
  std::string id{};
  std::vector<std::string> answers{};  // never empty
  std::size_t passage = 0;             // index of the passage's words
};

struct SquadFeature {
  std::size_t question = 0;
  std::size_t passage_at = 0;            // the first token of the passage
  std::vector<std::string> tokens{};     // with [CLS] and both [SEP]
  std::vector<std::uint32_t> word_of{};  // of each token of the passage
  std::vector<bool> has_most_context{};  // of each token of the passage, among the windows
};

class SquadSpans {
 public:
  // `squad`: a dev-v1.1.json. Fails without a WordPiece vocabulary's [CLS] and [SEP].
  static Result<SquadSpans> read(const Json& squad, const text::Tokenizer& tokenizer);

  const std::vector<SquadQuestion>& questions() const { return questions_; }
  const std::vector<SquadFeature>& features() const { return features_; }

  // The last of several replies to a feature counts. `transposed`: all starts, then all ends.
  Result<void> add(std::uint32_t feature, std::string_view bytes, bool transposed = false);

  // For each question; "empty" where no span is valid, as there.
  std::vector<std::string> answers() const;

 private:
  using Logits = std::pair<std::vector<float>, std::vector<float>>;  // starts, ends
  struct Span {
    const SquadFeature* feature = nullptr;
    std::size_t start = 0;
    std::size_t end = 0;
    double sum = 0;
  };

  Result<void> add_features(std::size_t question, std::string_view text,
                            const text::Tokenizer& tokenizer);
  void consider(const SquadFeature& feature, const Logits& logits, std::optional<Span>& best) const;
  std::string text_of(const Span& span) const;

  std::vector<std::vector<std::string>> passages_{};  // the words of each
  std::vector<SquadQuestion> questions_{};
  std::vector<SquadFeature> features_{};
  std::vector<std::optional<Logits>> logits_{};  // of each feature
};

// The part of `original` that `found`, a text of tokens in lower case, stands for; `original` where
// its characters cannot be told one by one.
std::string original_spelling(std::string_view found, std::string_view original);

}  // namespace assay::score
