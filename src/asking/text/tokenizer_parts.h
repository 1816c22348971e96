// The parts of a Tokenizer. The loaders fill it; no other file includes this header.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "text/added_tokens.h"
#include "text/bpe.h"
#include "text/decoder.h"
#include "text/normalizer.h"
#include "text/pre_tokenizer.h"
#include "text/sentencepiece.h"
#include "text/tokenizer.h"
#include "text/unigram.h"

namespace assay::text {

// A tiktoken or tekken file: the joined bytes of two neighbours are looked up directly; ids are in
// the order of ranks.
struct RankModel {
  Vocabulary vocabulary{};  // raw bytes
  std::array<TokenId, 256> byte_ids{};
  std::vector<TokenId> pair_ids{};  // of every two bytes: most look-ups of a word are of these

  static std::size_t pair(std::string_view two) {
    return static_cast<std::size_t>(static_cast<unsigned char>(two[0])) << 8 |
           static_cast<unsigned char>(two[1]);
  }
  // Fills both from the vocabulary; fails if a byte has no token.
  Result<void> find_bytes();
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

// tekken.json, once it is parsed: a file of the same name as tokenizer.json's, of another form.
bool is_tekken(const Json& json);
Result<std::unique_ptr<const Tokenizer>> make_tekken(const Json& json, std::string_view name);

}  // namespace assay::text
