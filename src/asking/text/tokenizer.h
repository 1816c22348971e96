// Tokenizer: text to token ids and back, with the same ids as the public libraries: tokenizer.json
// of Hugging Face, tekken.json of Mistral, tiktoken's files (Whisper's too) and SentencePiece's
// models (load_tokenizer detects which).
//
// Why our own: the results depend on token counts, every reply is counted after the run, and
// counting must not take longer than the run. A text goes through: added tokens, normalizer,
// pre-tokenizer, a cache of words seen before, the model. The cache and all buffers are kept from
// call to call, so there is no allocation per token.
//
// Input need not be valid UTF-8: invalid bytes count as U+FFFD, as Python's clients would read
// them. Texts are at most kTextBytesMax long.
//
// A loaded Tokenizer is immutable to its users: any number of threads may call every method (each
// call borrows its own working memory).
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
  // Special tokens in the text are recognised, except a tekken.json's. Fails when the text is too
  // long, when the model has no token for a part of it and no unknown token, or when a regex of the
  // file gives up.
  Result<void> encode(std::string_view text, std::vector<TokenId>& ids,
                      bool add_special = false) const;
  Result<std::vector<TokenId>> encode(std::string_view text, bool add_special = false) const;
  Result<std::size_t> count(std::string_view text, bool add_special = false) const;
  // Counts a text that a chat template made: the control tokens of every format are recognised.
  Result<std::size_t> count_rendered(std::string_view text) const;

  // Skips unknown ids. `skip_special`: also skips special tokens.
  std::string decode(std::span<const TokenId> ids, bool skip_special = true) const;

  // Includes added tokens; ids may have gaps.
  std::size_t vocabulary_size() const;
  // The greatest id + 1.
  std::size_t id_end() const;
  std::optional<TokenId> id_of(std::string_view token) const;
  // Returns the token in the file's spelling; "" when there is no such id.
  std::string token_of(TokenId id) const;
  bool is_special(TokenId id) const;
  // For the user: "tokenizer.json, byte-level BPE, 128256 tokens".
  const std::string& description() const;

 private:
  friend class StreamDecoder;
  Result<void> encode(std::string_view text, std::vector<TokenId>& ids, bool add_special,
                      bool rendered) const;
  struct Scratch;
  class Borrowed;
  std::unique_ptr<TokenizerParts> parts_;
  struct Pool;
  std::unique_ptr<Pool> pool_;
};

// Decodes a reply token by token: each push returns the text that is now certain. A character whose
// bytes come in two tokens is held back until it is complete. The joined pieces equal decode() of
// all the ids. One thread uses it; the tokenizer must outlive it.
class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer, bool skip_special = true)
      : tokenizer_(tokenizer), skip_special_(skip_special) {}
  std::string push(TokenId id);
  // Returns the text that was held back.
  std::string finish();

 private:
  const Tokenizer& tokenizer_;
  bool skip_special_;
  std::string held_{};          // bytes of an incomplete character
  std::vector<TokenId> ids_{};  // a window, for decoders that read neighbours
  std::size_t told_ids_ = 0;    // the number of these already returned as text
  std::string told_{};          // the text of those
};

struct TokenizerOptions {
  // For tiktoken files, which lack the pattern that cuts text: a name (gpt2, cl100k_base,
  // o200k_base, llama3, qwen, kimi, whisper) or a regex. Empty: chosen by the file's name.
  std::string tiktoken_pattern{};
};

// `path`: a tokenizer.json, a tekken.json, a .tiktoken file, a SentencePiece .model, BERT's
// vocab.txt, or a folder that holds one of them (looked for in this order).
Result<std::unique_ptr<const Tokenizer>> load_tokenizer(const std::filesystem::path& path,
                                                        const TokenizerOptions& options = {});

// Returns the file that load_tokenizer would read; `path` itself if it is not a folder.
Result<std::filesystem::path> tokenizer_file(const std::filesystem::path& path);

// Spelling and id.
using SpecialTokens = std::vector<std::pair<std::string, TokenId>>;

// Parses the same formats from bytes; `name` is for messages. tekken.json is read here too.
Result<std::unique_ptr<const Tokenizer>> parse_tokenizer_json(std::string_view bytes,
                                                              std::string_view name);
Result<std::unique_ptr<const Tokenizer>> parse_tiktoken(std::string_view bytes,
                                                        std::string_view name,
                                                        const TokenizerOptions& options,
                                                        const SpecialTokens& special = {});
// BERT's vocab.txt, a piece a line; uncased, as the original is, where no piece has an upper
// letter.
Result<std::unique_ptr<const Tokenizer>> parse_word_pieces(std::string_view bytes,
                                                           std::string_view name);
Result<std::unique_ptr<const Tokenizer>> parse_sentencepiece(std::string_view bytes,
                                                             std::string_view name);

}  // namespace assay::text
