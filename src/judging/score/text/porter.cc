#include "score/text/porter.h"

#include <array>
#include <utility>

namespace assay::score {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 15> kIrregular = {{
    {"sky", "sky"},
    {"skies", "sky"},
    {"dying", "die"},
    {"lying", "lie"},
    {"tying", "tie"},
    {"news", "news"},
    {"innings", "inning"},
    {"inning", "inning"},
    {"outings", "outing"},
    {"outing", "outing"},
    {"cannings", "canning"},
    {"canning", "canning"},
    {"howe", "howe"},
    {"proceed", "proceed"},
    {"exceed", "exceed"},
}};

bool is_vowel_letter(char c) { return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u'; }

// y is a consonant at the beginning and after a letter that is not a consonant.
bool is_consonant(std::string_view word, std::size_t i) {
  bool negate = false;
  while (word[i] == 'y' && i > 0) {
    negate = !negate;
    --i;
  }
  return !is_vowel_letter(word[i]) != negate;
}

// Porter's m: how often a consonant follows a vowel.
int measure(std::string_view stem) {
  int m = 0;
  bool before = true;  // consonant
  for (std::size_t i = 0; i < stem.size(); ++i) {
    const bool now = stem[i] == 'y' ? i == 0 || !before : !is_vowel_letter(stem[i]);
    if (i > 0 && !before && now) ++m;
    before = now;
  }
  return m;
}

bool contains_vowel(std::string_view stem) {
  for (std::size_t i = 0; i < stem.size(); ++i) {
    if (!is_consonant(stem, i)) return true;
  }
  return false;
}

bool ends_double_consonant(std::string_view word) {
  const std::size_t n = word.size();
  return n >= 2 && word[n - 1] == word[n - 2] && is_consonant(word, n - 1);
}

bool ends_cvc(std::string_view word) {
  const std::size_t n = word.size();
  if (n == 2) return !is_consonant(word, 0) && is_consonant(word, 1);
  return n >= 3 && is_consonant(word, n - 3) && !is_consonant(word, n - 2) &&
         is_consonant(word, n - 1) && word[n - 1] != 'w' && word[n - 1] != 'x' &&
         word[n - 1] != 'y';
}

struct SuffixRule {
  std::string_view suffix{};
  std::string_view replacement{};
};

// Tries only the first rule whose suffix fits.
template <std::size_t N, typename Condition>
void apply(std::string& word, const std::array<SuffixRule, N>& rules, const Condition& condition) {
  for (const SuffixRule& rule : rules) {
    if (!word.ends_with(rule.suffix)) continue;
    const std::string_view stem(word.data(), word.size() - rule.suffix.size());
    if (condition(stem, rule.suffix)) {
      word.resize(stem.size());
      word += rule.replacement;
    }
    return;
  }
}

void plural(std::string& word) {
  if (word.ends_with("ies")) {
    word.resize(word.size() - (word.size() == 4 ? 1 : 2));
  } else if (word.ends_with("sses")) {
    word.resize(word.size() - 2);
  } else if (word.ends_with("s") && !word.ends_with("ss")) {
    word.pop_back();
  }
}

void past_and_gerund(std::string& word) {
  if (word.ends_with("ied")) {
    word.resize(word.size() - (word.size() == 4 ? 1 : 2));
    return;
  }
  if (word.ends_with("eed")) {
    if (measure(std::string_view(word).substr(0, word.size() - 3)) > 0) word.pop_back();
    return;
  }
  std::size_t cut = 0;
  for (const std::string_view suffix : {"ed", "ing"}) {
    if (!word.ends_with(suffix)) continue;
    if (contains_vowel(std::string_view(word).substr(0, word.size() - suffix.size()))) {
      cut = suffix.size();
      break;
    }
  }
  if (cut == 0) return;
  word.resize(word.size() - cut);
  if (word.ends_with("at") || word.ends_with("bl") || word.ends_with("iz")) {
    word += 'e';
  } else if (ends_double_consonant(word)) {
    const char last = word.back();
    if (last != 'l' && last != 's' && last != 'z') word.pop_back();
  } else if (measure(word) == 1 && ends_cvc(word)) {
    word += 'e';
  }
}

void y_to_i(std::string& word) {
  if (!word.ends_with("y")) return;
  const std::string_view stem(word.data(), word.size() - 1);
  if (stem.size() > 1 && is_consonant(stem, stem.size() - 1)) word.back() = 'i';
}

void double_suffixes(std::string& word) {
  constexpr std::array<SuffixRule, 22> kRules = {{
      {"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"},   {"anci", "ance"},
      {"izer", "ize"},    {"bli", "ble"},     {"alli", "al"},     {"entli", "ent"},
      {"eli", "e"},       {"ousli", "ous"},   {"ization", "ize"}, {"ation", "ate"},
      {"ator", "ate"},    {"alism", "al"},    {"iveness", "ive"}, {"fulness", "ful"},
      {"ousness", "ous"}, {"aliti", "al"},    {"iviti", "ive"},   {"biliti", "ble"},
      {"fulli", "ful"},   {"logi", "log"},
  }};
  while (word.ends_with("alli") && measure(std::string_view(word).substr(0, word.size() - 4)) > 0) {
    word.resize(word.size() - 2);
  }
  apply(word, kRules, [](std::string_view stem, std::string_view suffix) {
    // The l of "logi" belongs to the stem, so that "geologi" becomes "geolog".
    if (suffix == "logi") return measure({stem.data(), stem.size() + 1}) > 0;
    return measure(stem) > 0;
  });
}

void endings(std::string& word) {
  constexpr std::array<SuffixRule, 7> kRules = {{{"icate", "ic"},
                                                 {"ative", ""},
                                                 {"alize", "al"},
                                                 {"iciti", "ic"},
                                                 {"ical", "ic"},
                                                 {"ful", ""},
                                                 {"ness", ""}}};
  apply(word, kRules, [](std::string_view stem, std::string_view) { return measure(stem) > 0; });
}

void single_suffixes(std::string& word) {
  constexpr std::array<SuffixRule, 19> kRules = {{
      {"al", ""},   {"ance", ""}, {"ence", ""}, {"er", ""},    {"ic", ""},
      {"able", ""}, {"ible", ""}, {"ant", ""},  {"ement", ""}, {"ment", ""},
      {"ent", ""},  {"ion", ""},  {"ou", ""},   {"ism", ""},   {"ate", ""},
      {"iti", ""},  {"ous", ""},  {"ive", ""},  {"ize", ""},
  }};
  apply(word, kRules, [](std::string_view stem, std::string_view suffix) {
    if (measure(stem) <= 1) return false;
    return suffix != "ion" || stem.back() == 's' || stem.back() == 't';
  });
}

void tidy(std::string& word) {
  if (word.ends_with("e")) {
    const std::string_view stem(word.data(), word.size() - 1);
    const int m = measure(stem);
    if (m > 1 || (m == 1 && !ends_cvc(stem))) word.pop_back();
  }
  if (word.ends_with("ll") && measure(std::string_view(word).substr(0, word.size() - 1)) > 1) {
    word.pop_back();
  }
}

}  // namespace

std::string porter_stem(std::string_view text) {
  for (const auto& [from, to] : kIrregular) {
    if (text == from) return std::string(to);
  }
  std::string word(text);
  if (word.size() <= 2 || word == "succeed") return word;
  plural(word);
  past_and_gerund(word);
  y_to_i(word);
  double_suffixes(word);
  endings(word);
  single_suffixes(word);
  tidy(word);
  return word;
}

}  // namespace assay::score
