#include "score/answer/text_blocks.h"

namespace assay::score {
namespace {

constexpr CharactersView kFence = U"```";
constexpr CharactersView kPython = U"```python";

// Returns the first block after `opening` from `at`, or nullopt; moves `at` behind it.
std::optional<CharactersView> next_block(CharactersView text, CharactersView opening,
                                         std::size_t& at) {
  const std::size_t open = text.find(opening, at);
  if (open == CharactersView::npos) return std::nullopt;
  const std::size_t begin = open + opening.size();
  const std::size_t close = text.find(kFence, begin);
  if (close == CharactersView::npos) return std::nullopt;
  at = close + kFence.size();
  return python_strip(text.substr(begin, close - begin));
}

std::optional<CharactersView> last_block(CharactersView text, CharactersView opening) {
  std::optional<CharactersView> last;
  std::size_t at = 0;
  while (const auto block = next_block(text, opening, at)) last = block;
  return last;
}

// Removes "python" or "py", with the white space after it up to its last line end.
CharactersView without_tag(CharactersView code) {
  for (const std::string_view tag : {"python", "py"}) {
    Scan scan(code, 0);
    if (!scan.word(tag)) continue;
    const std::size_t begin = scan.at();
    scan.spaces();
    const std::size_t line = code.substr(0, scan.at()).rfind(U'\n');
    if (line != CharactersView::npos && line >= begin) return code.substr(line + 1);
  }
  return code;
}

}  // namespace

Extraction last_code(CharactersView text) {
  if (const auto python = last_block(text, kPython)) return {utf8(*python), "last_python_block"};
  if (const auto plain = last_block(text, kFence)) return {utf8(without_tag(*plain)), "last_block"};
  return {};
}

Extraction first_python_block(CharactersView text) {
  std::size_t at = 0;
  if (const auto python = next_block(text, kPython, at))
    return {utf8(*python), "first_python_block"};
  return {};
}

}  // namespace assay::score
