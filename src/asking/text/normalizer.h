// Normalizer: a tokenizer's changes to a text before it looks for tokens: Unicode forms, case,
// accents, white space, replacements, SentencePiece's compiled character map. Built from
// tokenizer.json's "normalizer". Immutable; any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "text/regex.h"

namespace assay::text {

// SentencePiece's precompiled_charsmap: a Darts double array of byte prefixes, and the
// null-terminated strings that replace them.
class CharsMap {
 public:
  CharsMap() = default;
  // `blob` is the model file's value (not base64). An empty blob maps nothing.
  static Result<CharsMap> read(std::string_view blob);

  struct Hit {
    std::size_t length = 0;  // bytes matched; 0: none
    std::string_view replacement{};
  };
  // Returns the longest key that begins `text`, or the key that equals `text`.
  Hit longest(std::string_view text) const;
  Hit exact(std::string_view text) const;
  bool empty() const { return units_.empty(); }

 private:
  template <typename Visit>
  void walk(std::string_view text, const Visit& visit) const;
  std::string_view replacement(std::uint32_t offset) const;
  std::vector<std::uint32_t> units_{};
  std::string strings_{};
};

// Reads a fixed text or a regex; tokenizer.json's {"String": …} and {"Regex": …}.
Result<Regex> read_pattern(const Json& pattern, std::string_view where);

class Normalizer {
 public:
  Normalizer() = default;  // changes nothing
  // `json`: the "normalizer" value, null included. `where` names it in errors.
  static Result<Normalizer> read(const Json& json, std::string_view where);

  bool empty() const { return steps_.empty(); }
  // Returns false when a regex gave up or the text became too long (for `stack`, text/regex.h).
  bool run(std::string& text, RegexStack& stack) const;

  struct Step {
    enum class Kind : std::uint8_t {
      nfc,
      nfd,
      nfkc,
      nfkd,
      lowercase,
      strip,
      strip_accents,
      replace,
      prepend,
      precompiled,
      bert,
      nmt,
      byte_level
    };
    Kind kind = Kind::nfc;
    bool left = true;  // strip
    bool right = true;
    bool clean_text = true;  // bert, also the fields below
    bool chinese_chars = true;
    bool accents = false;
    bool lowercase = true;
    std::string content{};                    // replace, prepend
    std::shared_ptr<const Regex> pattern{};   // shared by copies of a tokenizer, never changed
    std::shared_ptr<const CharsMap> chars{};  // likewise
  };

 private:
  static Result<void> read_into(const Json& json, const std::string& where, int depth,
                                std::vector<Step>& steps);
  std::vector<Step> steps_{};
};

// Replaces every match. Returns false when the regex gave up or the text became too long for
// `stack`; then `text` is unchanged.
bool replace_all(std::string& text, const Regex& pattern, std::string_view content,
                 RegexStack& stack);

}  // namespace assay::text
