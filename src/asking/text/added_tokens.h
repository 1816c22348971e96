// AddedTokens: tokens that are found in the text before any other step: <|im_start|>, <s>, and
// tokens that users added. The leftmost match wins, then the longest. The format's options: whole
// words only, white space on either side included, matched before or after normalization. Immutable
// once filled; any thread.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/normalizer.h"
#include "text/vocabulary.h"

namespace assay::text {

struct AddedToken {
  TokenId id = kNoToken;
  std::string content{};
  bool single_word = false;
  bool strip_left = false;
  bool strip_right = false;
  bool normalized = true;
  bool special = false;
  // Is found only in what a chat template made, never in a user's text.
  bool in_templates_only = false;
};

class AddedTokens {
 public:
  // Returns false when `normalizer` gave up on a token's text.
  bool add(AddedToken token, const Normalizer& normalizer);

  const AddedToken* find(TokenId id) const;
  const AddedToken* find(std::string_view content) const;
  const std::vector<AddedToken>& all() const { return tokens_; }

  enum class Stage : std::uint8_t { before_normalizing, after_normalizing, in_templates };
  bool none(Stage stage) const { return trie(stage).empty(); }

  struct Found {
    std::size_t begin = 0;
    std::size_t end = 0;
    TokenId id = kNoToken;
    // The end of the token without the space that it includes. The search continues here: the next
    // token may begin with a space that this one has taken (as in the public library).
    std::size_t search_from = 0;
  };
  // Finds the first token after `last` (at first a new Found); returns false when there is none.
  bool next(std::string_view text, Stage stage, const Found& last, Found& token) const;

 private:
  const ByteTrie& trie(Stage stage) const {
    switch (stage) {
      case Stage::before_normalizing:
        return before_;
      case Stage::after_normalizing:
        return after_;
      case Stage::in_templates:
        return in_templates_;
    }
    return before_;
  }
  RegexStack loading_{};  // its limits count for all tokens together
  std::vector<AddedToken> tokens_{};
  std::unordered_map<TokenId, std::size_t> by_id_{};
  std::unordered_map<std::string, std::size_t> by_content_{};
  ByteTrie before_{};  // values: index into tokens_
  ByteTrie after_{};
  ByteTrie in_templates_{};
};

}  // namespace assay::text
