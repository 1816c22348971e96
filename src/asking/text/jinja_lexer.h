// Cuts a template's text into tokens, with Jinja's rules for white space around tags: trim_blocks,
// lstrip_blocks, and the signs - and + at a tag's ends. Throws Fault.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::text::jinja {

struct Token {
  enum class Kind : std::uint8_t {
    text,
    block_begin,
    block_end,
    print_begin,
    print_end,
    name,
    string,
    integer,
    real,
    symbol,
    end
  };
  Kind kind = Kind::end;
  std::string text{};
  int line = 1;
};

std::vector<Token> tokenize(std::string_view source);

}  // namespace assay::text::jinja
