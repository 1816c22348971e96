// PreTokenizer: cuts a text into the words that a model encodes one by one. Built from
// tokenizer.json's "pre_tokenizer", or from a tiktoken pattern. It passes each word to a callback,
// so a long text needs no list of its words.
//
// Immutable; any thread. One thread uses a PreTokenizerScratch.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "text/regex.h"
#include "text/regex_states.h"

namespace assay::text {

struct PreTokenizerScratch {
  RegexStack regex{};
  std::deque<std::string> texts{};  // one for each step that changes the text
};

// Receives words; a plain pointer, because it is called for each word.
struct WordSink {
  void* self = nullptr;
  void (*take)(void* self, std::string_view word) = nullptr;
  void operator()(std::string_view word) const {
    if (!word.empty()) take(self, word);
  }
};

enum class SplitBehavior : std::uint8_t {
  removed,
  isolated,
  merged_with_previous,
  merged_with_next,
  contiguous
};

class PreTokenizer {
 public:
  PreTokenizer() = default;  // the whole text is one word
  static Result<PreTokenizer> read(const Json& json, std::string_view where);
  static PreTokenizer split_by(Regex pattern);

  // `at_start`: `text` is the start of the user's text. A regex that gives up sets
  // scratch.regex.exhausted.
  void run(std::string_view text, bool at_start, PreTokenizerScratch& scratch,
           const WordSink& sink) const;

  // The one table of states that does all of the work, or null: then words come from `run`.
  // Most vocabularies have one, and their words are cut without a call for each.
  const RegexStates* cutter() const;

  // True if the last step spells bytes in ByteLevel's alphabet. A model that works on bytes asks
  // for raw words instead.
  bool ends_with_byte_level() const;
  void keep_bytes() { raw_bytes_ = true; }
  bool empty() const { return steps_.empty(); }

  struct Step {
    enum class Kind : std::uint8_t {
      split,       // by regex
      byte_level,  // prefix space, GPT-2's regex, alphabet
      metaspace,
      characters,  // by a class of characters
      bert,
      fixed_length,
    };
    Kind kind = Kind::split;
    SplitBehavior behavior = SplitBehavior::isolated;
    bool invert = false;
    bool prefix_space = false;  // byte_level
    bool use_regex = true;      // byte_level
    bool split = true;          // metaspace
    enum class Prepend : std::uint8_t { always, first, never } prepend = Prepend::always;
    std::string replacement{};               // metaspace
    std::size_t length = 0;                  // fixed_length, in characters
    std::shared_ptr<const Regex> pattern{};  // shared by copies of a tokenizer, never changed
    std::shared_ptr<const CharTable> chars{};
  };

 private:
  static Result<void> read_into(const Json& json, const std::string& where, int depth,
                                std::vector<Step>& steps);
  struct Run;
  std::vector<Step> steps_{};
  bool raw_bytes_ = false;
};

// The decoder uses it too.
Result<PreTokenizer::Step> read_metaspace(const Json& json, std::string_view where);

}  // namespace assay::text
