// Tokenizer: text to token ids and back, as the public libraries do it, id for id: Hugging Face's
// tokenizer.json, tiktoken's files and SentencePiece's models (load_tokenizer tells them apart).
//
// Why our own: token counts are what the results are made of, and they are counted after the clock
// has stopped, for every reply; the counting must not take longer than the run. A text goes
// through: added tokens, normalizer, pre-tokenizer, a cache of words seen before, the model. The
// cache and all buffers are kept from call to call, so nothing is allocated per token.
//
// Input need not be valid UTF-8: what is no character counts as U+FFFD, which is how Python's
// clients would have read it. Texts are at most kTextBytesMax long.
//
// A loaded Tokenizer is immutable to its users: every method may be called from any number of
// threads (each call borrows a working memory of its own).
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "text/vocabulary.h"

namespace assay::text {

struct TokenizerParts;

class Tokenizer {
 public:
  static constexpr std::size_t kTextBytesMax = std::size_t{256} << 20;

  explicit Tokenizer(std::unique_ptr<TokenizerParts> parts);
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;
  ~Tokenizer();

  // Appends the text's ids. `add_special`: also what the post-processor adds (<s>, [CLS] …).
  // Special tokens in the text are always recognised. Fails when the text is too long, when the
  // model has no token for it and none for the unknown, or when a regex of the file gives up.
  Result<void> encode(std::string_view text, std::vector<TokenId>& ids,
                      bool add_special = false) const;
  Result<std::vector<TokenId>> encode(std::string_view text, bool add_special = false) const;
  Result<std::size_t> count(std::string_view text, bool add_special = false) const;

  // Unknown ids are left out. `skip_special`: special tokens too.
  std::string decode(std::span<const TokenId> ids, bool skip_special = true) const;

  // Added tokens included; ids may have gaps.
  std::size_t vocabulary_size() const;
  // One more than the greatest id.
  std::size_t id_end() const;
  std::optional<TokenId> id_of(std::string_view token) const;
  // The token as the file spells it; "" when there is no such id.
  std::string token_of(TokenId id) const;
  bool is_special(TokenId id) const;
  // "tokenizer.json, byte-level BPE, 128256 tokens": for people.
  const std::string& description() const;

 private:
  friend class StreamDecoder;
  struct Scratch;
  class Borrowed;
  std::unique_ptr<TokenizerParts> parts_;
  struct Pool;
  std::unique_ptr<Pool> pool_;
};

// Decodes a reply token by token: each push returns the text that is certain by then. A character
// whose bytes come in two tokens is held back until it is whole. The pieces, joined, are what
// decode() makes of all the ids. Belongs to one thread; the tokenizer must outlive it.
class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer, bool skip_special = true)
      : tokenizer_(tokenizer), skip_special_(skip_special) {}
  std::string push(TokenId id);
  // What was held back.
  std::string finish();

 private:
  const Tokenizer& tokenizer_;
  bool skip_special_;
  std::string held_{};          // bytes of an incomplete character
  std::vector<TokenId> ids_{};  // a window, for decoders that look at neighbours
  std::size_t told_ids_ = 0;    // how many of them have been returned as text
  std::string told_{};          // what those decode to
};

struct TokenizerOptions {
  // For tiktoken files, which do not say how text is cut: a name (gpt2, cl100k_base, o200k_base,
  // llama3, qwen, kimi) or a regex. Empty: by the file's name.
  std::string tiktoken_pattern{};
};

// `path`: a tokenizer.json, a .tiktoken file, a SentencePiece .model, or a folder that holds one of
// them (looked for in this order).
Result<std::unique_ptr<const Tokenizer>> load_tokenizer(const std::filesystem::path& path,
                                                        const TokenizerOptions& options = {});

// The file that load_tokenizer would read, `path` itself where it is no folder.
Result<std::filesystem::path> tokenizer_file(const std::filesystem::path& path);

// Spelling and id.
using SpecialTokens = std::vector<std::pair<std::string, TokenId>>;

// The same from bytes; `name` is for messages.
Result<std::unique_ptr<const Tokenizer>> parse_tokenizer_json(std::string_view bytes,
                                                              std::string_view name);
Result<std::unique_ptr<const Tokenizer>> parse_tiktoken(std::string_view bytes,
                                                        std::string_view name,
                                                        const TokenizerOptions& options,
                                                        const SpecialTokens& special = {});
Result<std::unique_ptr<const Tokenizer>> parse_sentencepiece(std::string_view bytes,
                                                             std::string_view name);

}  // namespace assay::text
