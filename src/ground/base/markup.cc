#include "base/markup.h"

#include "base/text.h"

namespace assay {
namespace {

void put_escaped(std::string& out, char c) {
  switch (c) {
    case '&':
      out += "&amp;";
      return;
    case '<':
      out += "&lt;";
      return;
    case '>':
      out += "&gt;";
      return;
    case '"':
      out += "&#34;";
      return;
    case '\'':
      out += "&#39;";
      return;
    default:
      out += c;
  }
}

}  // namespace

std::string escape_markup(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) put_escaped(out, c);
  return out;
}

std::string markup_text(std::string_view text) {
  static constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0x80 ? 2 : 1;
    if (length > 1) {
      const bool whole = i + length <= text.size() && valid_utf8(text.substr(i, length));
      out += whole ? text.substr(i, length) : kReplacement;
      i += whole ? length : 1;
      continue;
    }
    ++i;
    if (byte == 0x7F || (byte < 0x20 && c != '\n' && c != '\t')) {
      out += kReplacement;
    } else {
      put_escaped(out, c);
    }
  }
  return out;
}

}  // namespace assay
