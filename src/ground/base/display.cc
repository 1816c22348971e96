#include "base/display.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/check.h"
#include "base/format.h"
#include "base/text.h"

namespace assay {
namespace {

constexpr char32_t kInvalid = 0xFFFFFFFF;

struct Character {
  char32_t code = kInvalid;
  std::size_t bytes = 1;
};

// The character at text[at]; kInvalid with one byte where the bytes are no UTF-8.
Character character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return static_cast<char32_t>(static_cast<unsigned char>(text[i]));
  };
  const char32_t lead = byte(at);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (at + length > text.size() || !valid_utf8(text.substr(at, length))) return {};
  char32_t code = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) code = (code << 6) | (byte(at + i) & 0x3F);
  return {code, length};
}

struct Range {
  char32_t first = 0;
  char32_t last = 0;
};

template <std::size_t N>
bool within(const std::array<Range, N>& ranges, char32_t code) {
  for (const Range& range : ranges) {
    if (code >= range.first && code <= range.last) return true;
  }
  return false;
}

// Combining marks, joiners and variation selectors.
constexpr std::array<Range, 8> kNoColumn{{{0x0300, 0x036F},
                                          {0x0483, 0x0489},
                                          {0x0591, 0x05BD},
                                          {0x1AB0, 0x1AFF},
                                          {0x200B, 0x200D},
                                          {0x20D0, 0x20FF},
                                          {0xFE00, 0xFE0F},
                                          {0xFE20, 0xFE2F}}};
// East Asian wide and full-width blocks, and emoji.
constexpr std::array<Range, 9> kTwoColumns{{{0x1100, 0x115F},
                                            {0x2E80, 0x303E},
                                            {0x3041, 0xA4CF},
                                            {0xAC00, 0xD7A3},
                                            {0xF900, 0xFAFF},
                                            {0xFE30, 0xFE6F},
                                            {0xFF00, 0xFF60},
                                            {0x1F300, 0x1FAFF},
                                            {0x20000, 0x3FFFD}}};
// C1 controls, and marks that change the direction of what follows or break the line.
constexpr std::array<Range, 5> kUnsafe{
    {{0x7F, 0x9F}, {0x200E, 0x200F}, {0x2028, 0x202E}, {0x2066, 0x2069}, {0xFEFF, 0xFEFF}}};

std::size_t columns_of(char32_t code) {
  if (code == kInvalid || code < 0x300) return 1;
  if (within(kNoColumn, code)) return 0;
  return within(kTwoColumns, code) ? 2 : 1;
}

// The longest beginning of `text` that is at most `columns` wide, in bytes.
std::size_t bytes_within(std::string_view text, std::size_t columns) {
  std::size_t used = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const Character character = character_at(text, at);
    used += columns_of(character.code);
    if (used > columns) return at;
    at += character.bytes;
  }
  return at;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t columns = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    columns += columns_of(character.code);
    at += character.bytes;
  }
  return columns;
}

std::string fit(std::string_view text, std::size_t columns) {
  if (display_width(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  return std::string(text.substr(0, bytes_within(text, columns - 1))) + "…";
}

std::string pad_right(std::string_view text, std::size_t columns) {
  const std::size_t width = display_width(text);
  return std::string(text) + std::string(width < columns ? columns - width : 0, ' ');
}

std::string pad_left(std::string_view text, std::size_t columns) {
  const std::size_t width = display_width(text);
  return std::string(width < columns ? columns - width : 0, ' ') + std::string(text);
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    if (character.code == kInvalid) {
      out += "\xEF\xBF\xBD";
    } else if (character.code == '\n') {
      out += "\\n";
    } else if (character.code == '\t') {
      out += "\\t";
    } else if (character.code == '\r') {
      out += "\\r";
    } else if (character.code < 0x20 || within(kUnsafe, character.code)) {
      const auto code = static_cast<std::uint32_t>(character.code);
      out += code < 0x100 ? format("\\x{:02x}", code) : format("\\u{:04x}", code);
    } else {
      out += text.substr(at, character.bytes);
    }
    at += character.bytes;
  }
  return out;
}

std::string wrap(std::string_view text, std::size_t columns, std::string_view indent) {
  CHECK(columns > display_width(indent));
  const std::size_t room = columns - display_width(indent);
  std::string out;
  std::string line;
  const auto end_line = [&] {
    if (!out.empty()) out += '\n';
    out += indent;
    out += line;
    line.clear();
  };
  for (std::string_view word : split(text, ' ')) {
    if (word.empty()) continue;
    if (!line.empty() && display_width(line) + 1 + display_width(word) > room) end_line();
    while (display_width(word) > room) {
      const std::size_t cut = std::max<std::size_t>(1, bytes_within(word, room));
      line = word.substr(0, cut);
      end_line();
      word.remove_prefix(cut);
    }
    if (word.empty()) continue;
    if (!line.empty()) line += ' ';
    line += word;
  }
  if (!line.empty() || out.empty()) end_line();
  return out;
}

}  // namespace assay
