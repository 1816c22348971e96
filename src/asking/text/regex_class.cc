// Meanings of the names of classes.
#include <utility>

#include "base/text.h"
#include "text/regex_tree.h"

namespace assay::text {
namespace {

bool is_letter_or_nl(char32_t c) {
  using G = GeneralCategory;
  constexpr CategoryMask kLetters =
      bit(G::lu) | bit(G::ll) | bit(G::lt) | bit(G::lm) | bit(G::lo) | bit(G::nl);
  return (bit(category(c)) & kLetters) != 0;
}
bool is_alphanumeric(char32_t c) { return is_letter_or_nl(c) || is_numeric(c); }

}  // namespace

CharSet word_set(RegexDialect dialect) {
  switch (dialect) {
    case RegexDialect::oniguruma:
      return CharSet::where(is_oniguruma_word);
    case RegexDialect::rust:
      return CharSet::where(is_word);
    case RegexDialect::python:
      break;
  }
  CharSet set = CharSet::categories(category_mask("L") | category_mask("N"));
  set.add('_', '_');
  return set;
}

CharSet space_set(RegexDialect dialect) {
  CharSet set = CharSet::where(is_space);
  if (dialect == RegexDialect::python) set.add(0x1C, 0x1F);
  return set;
}

std::optional<CharSet> as_set(const RegexNode& node) {
  if (node.kind == RegexNode::Kind::set) return node.set;
  if (node.kind == RegexNode::Kind::sequence && node.children.size() == 1) {
    return as_set(node.children.front());
  }
  if (node.kind != RegexNode::Kind::either) return std::nullopt;
  CharSet all;
  for (const RegexNode& child : node.children) {
    const auto one = as_set(child);
    if (!one) return std::nullopt;
    all.add(*one);
  }
  return all;
}

std::optional<CharSet> named_set(std::string_view name) {
  const std::string key = lower(name);
  const auto is = [&key](std::string_view word) { return key == word; };
  if (const CategoryMask mask = category_mask(name)) return CharSet::categories(mask);
  if (is("han") || is("script=han")) return CharSet::where(is_han);
  if (is("hiragana")) {
    CharSet set = CharSet::of(0x3041, 0x3096);
    for (const auto& [a, b] :
         {std::pair{0x309D, 0x309F}, std::pair{0x1B001, 0x1B11F}, std::pair{0x1B132, 0x1B132},
          std::pair{0x1B150, 0x1B152}, std::pair{0x1F200, 0x1F200}}) {
      set.add(static_cast<char32_t>(a), static_cast<char32_t>(b));
    }
    return set;
  }
  if (is("katakana")) {
    CharSet set = CharSet::of(0x30A1, 0x30FA);
    for (const auto& [a, b] :
         {std::pair{0x30FD, 0x30FF}, std::pair{0x31F0, 0x31FF}, std::pair{0x32D0, 0x32FE},
          std::pair{0x3300, 0x3357}, std::pair{0xFF66, 0xFF6F}, std::pair{0xFF71, 0xFF9D},
          std::pair{0x1AFF0, 0x1AFF3}, std::pair{0x1AFF5, 0x1AFFB}, std::pair{0x1AFFD, 0x1AFFE},
          std::pair{0x1B000, 0x1B000}, std::pair{0x1B120, 0x1B122}, std::pair{0x1B155, 0x1B155},
          std::pair{0x1B164, 0x1B167}}) {
      set.add(static_cast<char32_t>(a), static_cast<char32_t>(b));
    }
    return set;
  }
  if (is("alpha") || is("alphabetic")) return CharSet::where(is_letter_or_nl);
  if (is("digit")) return CharSet::categories(category_mask("Nd"));
  if (is("alnum")) return CharSet::where(is_alphanumeric);
  if (is("space") || is("white_space")) return CharSet::where(is_space);
  if (is("upper") || is("uppercase")) return CharSet::categories(category_mask("Lu"));
  if (is("lower") || is("lowercase")) return CharSet::categories(category_mask("Ll"));
  if (is("word")) return CharSet::where(is_oniguruma_word);
  if (is("any")) return CharSet::everything();
  return std::nullopt;
}

}  // namespace assay::text
