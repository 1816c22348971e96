#include "text/python_quote.h"

#include "base/format.h"
#include "base/text.h"
#include "text/unicode.h"

namespace assay::text {
namespace {

// Python's str.isprintable for one character.
bool is_printable(char32_t c) {
  static const CategoryMask kHidden = category_mask("C") | category_mask("Z");
  return c == U' ' || (bit(category(c)) & kHidden) == 0;
}

}  // namespace

std::string python_quoted(std::string_view text) {
  const bool one = text.find('\'') != std::string_view::npos;
  const char quote = one && text.find('"') == std::string_view::npos ? '"' : '\'';
  const bool readable = valid_utf8(text);
  std::string out(1, quote);
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const auto byte = static_cast<unsigned char>(c);
    const CodePoint point = readable ? decode_at(text, at) : CodePoint{byte, 1};
    if (c == quote || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte >= 0x20 && byte < 0x7F) {
      out += c;
    } else if (!readable ? byte >= 0x80 : is_printable(point.value)) {
      out.append(text, at, point.bytes);
    } else {
      const auto value = static_cast<std::uint32_t>(point.value);
      out += value < 0x100     ? format("\\x{:02x}", value)
             : value < 0x10000 ? format("\\u{:04x}", value)
                               : format("\\U{:08x}", value);
    }
    at += point.bytes;
  }
  out += quote;
  return out;
}

}  // namespace assay::text
