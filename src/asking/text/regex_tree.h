// A pattern as a tree: what regex_parse.cc reads and regex_compile.cc turns into instructions. For
// those two only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/char_set.h"
#include "text/regex.h"

namespace assay::text {

struct RegexNode {
  enum class Kind : std::uint8_t { empty, set, sequence, either, repeat, look, atomic, assertion };
  enum class Greed : std::uint8_t { greedy, lazy, possessive };
  static constexpr std::uint32_t kUnlimited = ~std::uint32_t{0};

  Kind kind = Kind::empty;
  CharSet set{};
  std::vector<RegexNode> children{};
  std::uint32_t min = 0;
  std::uint32_t max = 0;
  Greed greed = Greed::greedy;
  bool negative = false;
  bool behind = false;
  RegexOp assertion = RegexOp::match;
};

// What is wrong with a pattern; thrown by both files, caught in Regex::compile.
struct RegexFailure {
  std::string message{};
};

RegexNode parse_regex(std::string_view pattern, RegexDialect dialect);

// The set, when the node matches exactly one character of one.
std::optional<CharSet> as_set(const RegexNode& node);
// \w, as the dialect has it.
CharSet word_set(RegexDialect dialect);
// What \p{name} or [:name:] means, or nothing.
std::optional<CharSet> named_set(std::string_view name);

}  // namespace assay::text
