#include "base/has_word.h"

namespace assay {

bool has_word(std::string_view text, std::string_view word, std::string_view joins) {
  const auto inside = [&](char c) {
    const char small = static_cast<char>(c | 0x20);
    return (c >= '0' && c <= '9') || (small >= 'a' && small <= 'z') ||
           joins.find(c) != std::string_view::npos;
  };
  for (std::size_t at = text.find(word); !word.empty() && at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !inside(text[at - 1])) && (end == text.size() || !inside(text[end]))) {
      return true;
    }
  }
  return false;
}

}  // namespace assay
