// Text on a terminal: its width in columns, how to shorten or pad it, and how to print text that
// comes from a peer or a file.
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

// Cuts `text` to at most `columns`; a cut text ends in "…". Never splits a character.
std::string fit(std::string_view text, std::size_t columns);

// Pads to exactly `columns` with spaces behind or before; leaves a wider `text` as it is.
std::string pad_right(std::string_view text, std::size_t columns);
std::string pad_left(std::string_view text, std::size_t columns);

// Makes text safe for a terminal or a log line: control characters, escape sequences and marks that
// turn the writing direction are shown as \n, \x1b, \u202e; invalid UTF-8 as U+FFFD. Use it on all
// text from a server or a file before a person sees it.
std::string printable(std::string_view text);

// Breaks `text` at spaces into lines of at most `columns`; breaks a longer word inside. REQUIRES:
// columns > 0.
std::string wrap(std::string_view text, std::size_t columns, std::string_view indent);

}  // namespace assay
