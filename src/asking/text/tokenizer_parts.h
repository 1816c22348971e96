// The parts of a Tokenizer. The three loaders fill it; no other file includes this header.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "text/added_tokens.h"
#include "text/bpe.h"
#include "text/decoder.h"
#include "text/normalizer.h"
#include "text/pre_tokenizer.h"
#include "text/sentencepiece.h"
#include "text/unigram.h"

namespace assay::text {

// A tiktoken file: the joined bytes of two neighbours are looked up directly; rank = id.
struct RankModel {
  Vocabulary vocabulary{};  // raw bytes
  std::array<TokenId, 256> byte_ids{};

  void encode(std::string_view word, BpeScratch& scratch, std::vector<TokenId>& out) const;
};

struct TokenizerParts {
  AddedTokens added{};
  Normalizer normalizer{};
  PreTokenizer pre_tokenizer{};
  std::variant<BpeModel, UnigramModel, WordPieceModel, WordLevelModel, RankModel,
               SentencePieceModel>
      model{};
  std::vector<TokenId> before{};  // ids that the post-processor adds around a text
  std::vector<TokenId> after{};
  Decoder decoder{};
  std::string description{};

  const Vocabulary& vocabulary() const;
};

}  // namespace assay::text
