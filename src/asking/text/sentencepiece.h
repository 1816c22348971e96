// SentencePiece models (.model: a protobuf of pieces, scores, trainer and normalizer settings). We
// parse them ourselves: the format is four messages, and the library needs protobuf. Unigram and
// BPE, user-defined symbols, unused pieces, byte fallback, the compiled character map. Immutable;
// any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/bpe.h"
#include "text/normalizer.h"
#include "text/unigram.h"

namespace assay::text {

class SentencePieceModel {
 public:
  static Result<SentencePieceModel> read(std::string_view bytes);

  // `stack` limits the bytes.
  std::string normalize(std::string_view text, RegexStack& stack) const;
  // `text` is normalized. Returns false when a character has no piece and no unknown piece exists.
  bool encode(std::string_view text, BpeScratch& bpe, UnigramScratch& unigram,
              std::vector<TokenId>& out) const;
  std::string decode(std::span<const TokenId> ids, bool skip_control) const;

  const Vocabulary& vocabulary() const { return pieces_.vocabulary; }
  bool is_control(TokenId id) const { return type(id) == Type::control; }
  bool is_unigram() const { return unigram_; }
  TokenId bos() const { return bos_; }
  TokenId eos() const { return eos_; }
  // True if the text may be cut before each run of U+2581 and the pieces encoded one by one.
  bool cut_at_marker() const { return cut_at_marker_; }

 private:
  enum class Type : std::uint8_t { none, normal, unknown, control, user_defined, unused, byte };
  struct Reader;

  Type type(TokenId id) const {
    const auto i = static_cast<std::size_t>(id);
    return id >= 0 && i < types_.size() ? types_[i] : Type::none;
  }
  Result<void> finish();
  void encode_bpe(std::string_view text, BpeScratch& scratch, std::vector<TokenId>& out) const;
  void emit(std::string_view piece, TokenId id, bool& after_unknown,
            std::vector<TokenId>& out) const;
  std::size_t user_defined_at(std::string_view text) const;

  UnigramModel pieces_{};  // all pieces; its trie holds those that text can become
  Vocabulary joinable_{};  // pieces that BPE may make
  std::vector<Type> types_{};
  std::vector<float> scores_{};
  std::vector<std::uint32_t> ranks_{};  // BPE: rank of each piece's score, best first
  ByteTrie user_defined_{};
  bool has_user_defined_ = false;
  bool has_unused_ = false;
  CharsMap chars_{};
  std::string unknown_surface_ = " \xE2\x81\x87 ";
  TokenId bos_ = kNoToken;
  TokenId eos_ = kNoToken;
  bool unigram_ = true;
  bool byte_fallback_ = false;
  bool suffix_space_ = false;
  bool dummy_prefix_ = true;
  bool remove_extra_spaces_ = true;
  bool escape_spaces_ = true;
  bool cut_at_marker_ = false;
};

}  // namespace assay::text
