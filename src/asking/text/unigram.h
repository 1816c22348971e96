// Unigram and WordPiece: the two models that choose pieces from a fixed list: by the best sum of
// scores (Viterbi; Kudo 2018), and by the longest match first. WordLevel is the plain look-up.
// Immutable; one thread uses a scratch.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "text/vocabulary.h"

namespace assay::text {

struct UnigramScratch {
  static constexpr std::uint32_t kUnreached = ~0u;
  struct Node {
    TokenId id = kNoToken;
    std::uint32_t from = kUnreached;
    double score = 0;
  };
  std::vector<Node> nodes{};
  std::vector<Node> path{};
};

struct UnigramModel {
  Vocabulary vocabulary{};
  ByteTrie pieces{};
  std::vector<double> scores{};  // by id
  TokenId unknown = kNoToken;
  double unknown_score = 0;  // lowest score − 10
  bool byte_fallback = false;
  bool single_precision = false;  // SentencePiece adds floats, tokenizers adds doubles
  std::array<TokenId, 256> byte_ids{};

  // Returns false when a character has no piece and there is no unknown token.
  bool encode(std::string_view word, UnigramScratch& scratch, std::vector<TokenId>& out) const;
  void finish();

 private:
  void trace_back(std::string_view word, UnigramScratch& scratch) const;
  void emit(std::string_view word, const std::vector<UnigramScratch::Node>& path,
            std::vector<TokenId>& out) const;
};

struct WordPieceModel {
  Vocabulary vocabulary{};
  TokenId unknown = kNoToken;
  std::string prefix = "##";
  std::size_t chars_max = 100;

  // Returns false when a word is unknown and there is no unknown token.
  bool encode(std::string_view word, std::string& scratch, std::vector<TokenId>& out) const;
};

struct WordLevelModel {
  Vocabulary vocabulary{};
  TokenId unknown = kNoToken;

  bool encode(std::string_view word, std::vector<TokenId>& out) const;
};

}  // namespace assay::text
