// Any pattern on any text: an error or an answer, in bounded time, with matches inside the text,
// and the same from a table of states.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "text/regex.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size < 512 ? size : 512);
  const std::size_t cut = input.find('\0');
  if (cut == std::string::npos) return 0;
  const auto regex = assay::text::Regex::compile(input.substr(0, cut));
  if (!regex) return 0;
  const std::string text = assay::text::replace_invalid_utf8(input.substr(cut + 1));
  assay::text::Regex fast = *regex;
  fast.use_states();
  assay::text::RegexStack stack;
  assay::text::RegexStack other;
  assay::text::Regex::Match match;
  std::size_t at = 0;
  while (at <= text.size() && regex->find(text, at, stack, match)) {
    CHECK(match.begin >= at && match.end >= match.begin && match.end <= text.size());
    assay::text::Regex::Match same;
    CHECK(fast.find(text, at, other, same) || other.exhausted);
    CHECK(other.exhausted || (same.begin == match.begin && same.end == match.end));
    at = match.end;
    if (match.end > match.begin) continue;
    if (at >= text.size()) break;
    at += assay::text::utf8_length(static_cast<unsigned char>(text[at]));
  }
  return 0;
}
