// Finds the ends of sentences, for ROUGE-Lsum, which compares sentence by sentence.
//
// The suites use nltk's Punkt (Kiss and Strunk 2006) with its model of English. That model is
// separate data (nltk_data's punkt_tab/english), which is not shipped here. If its folder is given
// (extras.punkt), Punkt cuts with the same decisions as nltk. Else split_sentences cuts by rules
// that agree on plain prose and may differ at abbreviations. ROUGE-1, -2 and -L do not depend on
// it. Immutable; any thread.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace assay::score {

// Cuts at . ! ? and what closes them, before a capital or a digit, but not after common
// abbreviations or initials. Line ends stay ends. Each line of the result is a sentence.
std::string split_sentences(std::string_view text);

class Punkt {
 public:
  // The folder of abbrev_types.txt, collocations.tab, ortho_context.tab and sent_starters.txt.
  static Result<Punkt> read(const std::filesystem::path& folder);

  // Returns the sentences of nltk's sent_tokenize. REQUIRES: valid UTF-8.
  std::vector<std::string_view> sentences(std::string_view text) const;

 private:
  struct Token;
  struct Context;
  bool holds_break(std::string_view text) const;
  std::vector<Token> tokens(std::string_view text) const;
  void first_pass(Token& token) const;
  void second_pass(Token& token, const Token& next) const;
  int starts_sentence(const Token& token) const;  // 1 yes, 0 no, -1 unknown

  std::unordered_set<std::string> abbreviations_{};
  std::unordered_set<std::string> starters_{};
  std::unordered_set<std::string> collocations_{};  // "first\tsecond"
  std::unordered_map<std::string, int> contexts_{};
};

// The method that a scorer's extras select.
class Sentences {
 public:
  // `extras`: punkt, the folder; without it the built-in rules.
  static Result<Sentences> make(const Json& extras);

  std::string lines(std::string_view text) const;
  // The sentences one by one, without white space at their ends; blank ones are left out.
  std::vector<std::string> list(std::string_view text) const;
  // For the result; "" with Punkt.
  std::string note() const;

 private:
  std::shared_ptr<const Punkt> punkt_{};
};

}  // namespace assay::score
