// Text on a terminal: how many columns it takes, how to make it fit, and how to print what a
// stranger sent.
//
// Widths follow the Unicode blocks that matter in practice: combining marks take no column, East
// Asian wide characters and emoji take two, all else takes one. Invalid UTF-8 counts one column a
// byte. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay {

// Columns that `text` takes. REQUIRES for a true answer: no control characters (see printable()).
std::size_t display_width(std::string_view text);

// At most `columns` wide: what does not fit ends in "…". Never splits a character.
std::string fit(std::string_view text, std::size_t columns);

// Exactly `columns` wide unless `text` is wider: spaces after it, or before it.
std::string pad_right(std::string_view text, std::size_t columns);
std::string pad_left(std::string_view text, std::size_t columns);

// Safe to print on a terminal or in a log line: control characters, escape sequences and marks that
// turn the writing direction are shown as \n, \x1b, \u202e; invalid UTF-8 as U+FFFD. What a server
// or a file says must pass through here before it reaches a person.
std::string printable(std::string_view text);

// `text` in lines of at most `columns`, broken at spaces; a longer word is broken where it must.
// REQUIRES: columns > 0.
std::string wrap(std::string_view text, std::size_t columns, std::string_view indent);

}  // namespace assay
