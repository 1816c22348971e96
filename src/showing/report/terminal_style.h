// How to write to a stream: whether it is a terminal, its width, and whether it wants colour.
// Colour only repeats the meaning of words and signs.
//
// NO_COLOR (any value but the empty one) and TERM=dumb switch colour off, as https://no-color.org
// asks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay::report {

struct TerminalStyle {
  bool terminal = false;  // a person watches: cursor escapes work
  bool colour = false;
  std::size_t columns = 80;  // width to fill: at most 100, so that lines stay easy to read
  std::size_t rows = 24;
};

// Reads it from the system and the environment. `descriptor`: 1 or 2.
TerminalStyle terminal_style(int descriptor);

enum class Ink { plain, strong, faint, good, warning, bad };
// `text` inside the escapes for `ink` where the style has colour.
std::string paint(const TerminalStyle& style, Ink ink, std::string_view text);

}  // namespace assay::report
