// AnswerBook: replies that the endpoint gives to known prompts, in place of made-up words, so that
// an accuracy run against it has a true score. A prompt of the book answers a request whose last
// message (or prompt) contains it, or a request with a sound whose file's name does; the longest
// such prompt counts. Immutable; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "endpoint/words.h"

namespace assay::endpoint {

// A reply's text in tokens: each a word with the blanks before it.
class Answer {
 public:
  explicit Answer(std::string text);
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;

  const std::string& text() const { return text_; }
  std::uint32_t tokens() const { return static_cast<std::uint32_t>(ends_.size()); }
  // Both forms point into this object. REQUIRES: token < tokens().
  Word word(std::uint32_t token) const;

 private:
  struct End {
    std::size_t text = 0;
    std::size_t json = 0;
  };
  std::string text_;
  std::string json_;  // as in a JSON string
  std::vector<End> ends_{};
};

class AnswerBook {
 public:
  // Texts without any but blank characters are refused by `read_answers`.
  void add(std::string prompt, std::string answer);
  std::size_t size() const { return entries_.size(); }
  // nullptr: the book has no prompt that `asked` contains.
  const Answer* find(std::string_view asked) const;

 private:
  struct Entry {
    std::string prompt;
    std::unique_ptr<Answer> answer;
  };
  void index();
  std::uint64_t window_hash(std::string_view window) const;

  std::vector<Entry> entries_{};
  // Entries by the hash of their prompt's first `window_` bytes.
  std::size_t window_ = 0;
  std::unordered_multimap<std::uint64_t, std::size_t> by_window_{};
};

// Reads "FILE[,prompt=COLUMN][,answer=COLUMN][,right=SHARE]": any file that a dataset may be
// (dataset/dataset.h), with the prompt as it will be asked and the reply in a column (default
// "answer"). Only the share `right` (default 1) of the prompts is answered; which ones depends on
// the prompt and `seed` alone. Errors name the file and the row or the key.
Result<std::shared_ptr<const AnswerBook>> read_answers(std::string_view spec, std::uint64_t seed);

}  // namespace assay::endpoint
