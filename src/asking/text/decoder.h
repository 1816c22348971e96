// Decoder: converts token strings to text. Built from tokenizer.json's "decoder"; each step changes
// the list of the tokens' strings, as the format defines. Immutable; any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "text/regex.h"

namespace assay::text {

class Decoder {
 public:
  Decoder() = default;  // tokens joined by spaces
  static Result<Decoder> read(const Json& json, std::string_view where);
  // Joins tokens as raw bytes; invalid UTF-8 becomes U+FFFD.
  static Decoder raw();

  std::string run(std::vector<std::string> tokens) const;

  // True if a token's text does not depend on its neighbours: bytes are joined, then read as UTF-8.
  // Then incremental decoding is exact byte by byte.
  bool joins_bytes() const { return steps_.size() == 1 && is_bytes(steps_[0].kind); }
  // Appends the bytes of one token. REQUIRES: joins_bytes().
  void append_bytes(std::string_view token, std::string& out) const;

  struct Step {
    enum class Kind : std::uint8_t {
      raw,
      byte_level,
      word_piece,
      metaspace,
      bpe,
      ctc,
      replace,
      byte_fallback,
      fuse,
      strip
    };
    Kind kind = Kind::fuse;
    bool cleanup = true;
    bool prepend = true;      // metaspace
    std::string content{};    // prefix, replacement, suffix, pad token, replacement text, character
    std::string delimiter{};  // ctc
    std::size_t start = 0;    // strip
    std::size_t stop = 0;
    std::shared_ptr<const Regex> pattern{};  // shared by copies of a tokenizer, never changed
  };

 private:
  static bool is_bytes(Step::Kind kind) {
    return kind == Step::Kind::raw || kind == Step::Kind::byte_level;
  }
  static Result<void> read_into(const Json& json, const std::string& where, int depth,
                                std::vector<Step>& steps);
  void apply(const Step& step, std::vector<std::string>& tokens) const;
  std::vector<Step> steps_{};
};

}  // namespace assay::text
