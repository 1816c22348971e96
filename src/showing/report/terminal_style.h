// How a stream likes to be written to: whether it is a terminal, how wide it is, and whether it
// wants colour. Colour only repeats what words and signs already say.
//
// NO_COLOR (any value but the empty one) and TERM=dumb switch colour off, as https://no-color.org
// asks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay::report {

struct TerminalStyle {
  bool terminal = false;  // a person watches: escapes for the cursor are understood
  bool colour = false;
  std::size_t columns = 80;  // to fill: never above 100, so that lines stay easy to read
  std::size_t rows = 24;
};

// Asks the system and the environment. `descriptor`: 1 or 2.
TerminalStyle terminal_style(int descriptor);

enum class Ink { plain, strong, faint, good, warning, bad };
// `text` with the escapes around it where the style has colour.
std::string paint(const TerminalStyle& style, Ink ink, std::string_view text);

}  // namespace assay::report
