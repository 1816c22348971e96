#include "report/terminal_style.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/check.h"
#include "base/format.h"

namespace assay::report {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view{value};
}

std::string_view code_of(Ink ink) {
  switch (ink) {
    case Ink::plain:
      return "0";
    case Ink::strong:
      return "1";
    case Ink::faint:
      return "2";
    case Ink::good:
      return "32";
    case Ink::warning:
      return "33";
    case Ink::bad:
      return "31";
  }
  CHECK(false && "no such Ink");
  return {};
}

}  // namespace

TerminalStyle terminal_style(int descriptor) {
  constexpr std::size_t kWidest = 100;
  TerminalStyle style;
  const bool dumb = environment("TERM") == "dumb";
  style.terminal = isatty(descriptor) == 1 && !dumb;
  style.colour = style.terminal && environment("NO_COLOR").empty();
  winsize size{};
  if (style.terminal && ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    style.columns = std::min<std::size_t>(size.ws_col, kWidest);
    style.rows = size.ws_row;
  }
  return style;
}

std::string paint(const TerminalStyle& style, Ink ink, std::string_view text) {
  if (!style.colour || ink == Ink::plain) return std::string(text);
  return format("\x1b[{}m{}\x1b[0m", code_of(ink), text);
}

}  // namespace assay::report
