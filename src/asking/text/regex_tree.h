// A pattern as a tree: regex_parse.cc reads it and regex_compile.cc converts it to instructions.
// Only these two use it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/char_set.h"
#include "text/regex.h"

namespace assay::text {

struct RegexNode {
  enum class Kind : std::uint8_t {
    empty,
    set,
    sequence,
    either,
    repeat,
    look,
    atomic,
    group,
    assertion
  };
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
  std::uint32_t number = 0;  // of a group that captures, from 0
  RegexOp assertion = RegexOp::match;
};

// An error in a pattern; both files throw it, Regex::compile catches it.
struct RegexFailure {
  std::string message{};
};

RegexNode parse_regex(std::string_view pattern, RegexDialect dialect);

// Returns a set if the node matches exactly one character of that set.
std::optional<CharSet> as_set(const RegexNode& node);
// The dialect's \w and \s.
CharSet word_set(RegexDialect dialect);
CharSet space_set(RegexDialect dialect);
// Returns the set of \p{name} or [:name:], or nullopt.
std::optional<CharSet> named_set(std::string_view name);

}  // namespace assay::text
