// png_of_text of transform.h: a font of 5 × 7 dots and a PNG without compression.
#include <algorithm>
#include <array>
#include <cctype>

#include "safety/transform.h"

namespace assay::safety {
namespace {

constexpr std::size_t kColumns = 5;
constexpr std::size_t kRows = 7;
constexpr std::size_t kScale = 3;
constexpr std::size_t kLetterWidth = (kColumns + 1) * kScale;
constexpr std::size_t kLineHeight = (kRows + 3) * kScale;
constexpr std::size_t kMargin = 12;
constexpr std::size_t kLineMax = 60;
constexpr std::size_t kLinesMax = 200;

using Glyph = std::array<std::uint8_t, kColumns>;
// From the space to Z; each byte is a column, its lowest bit the top dot.
constexpr std::array<Glyph, 59> kFont = {{
    {0x00, 0x00, 0x00, 0x00, 0x00}, {0x00, 0x00, 0x5f, 0x00, 0x00}, {0x00, 0x07, 0x00, 0x07, 0x00},
    {0x14, 0x7f, 0x14, 0x7f, 0x14}, {0x24, 0x2a, 0x7f, 0x2a, 0x12}, {0x23, 0x13, 0x08, 0x64, 0x62},
    {0x36, 0x49, 0x56, 0x20, 0x50}, {0x00, 0x08, 0x07, 0x03, 0x00}, {0x00, 0x1c, 0x22, 0x41, 0x00},
    {0x00, 0x41, 0x22, 0x1c, 0x00}, {0x2a, 0x1c, 0x7f, 0x1c, 0x2a}, {0x08, 0x08, 0x3e, 0x08, 0x08},
    {0x00, 0x40, 0x30, 0x10, 0x00}, {0x08, 0x08, 0x08, 0x08, 0x08}, {0x00, 0x00, 0x60, 0x60, 0x00},
    {0x20, 0x10, 0x08, 0x04, 0x02}, {0x3e, 0x51, 0x49, 0x45, 0x3e}, {0x00, 0x42, 0x7f, 0x40, 0x00},
    {0x72, 0x49, 0x49, 0x49, 0x46}, {0x21, 0x41, 0x49, 0x4d, 0x33}, {0x18, 0x14, 0x12, 0x7f, 0x10},
    {0x27, 0x45, 0x45, 0x45, 0x39}, {0x3c, 0x4a, 0x49, 0x49, 0x31}, {0x41, 0x21, 0x11, 0x09, 0x07},
    {0x36, 0x49, 0x49, 0x49, 0x36}, {0x46, 0x49, 0x49, 0x29, 0x1e}, {0x00, 0x00, 0x14, 0x00, 0x00},
    {0x00, 0x40, 0x34, 0x00, 0x00}, {0x00, 0x08, 0x14, 0x22, 0x41}, {0x14, 0x14, 0x14, 0x14, 0x14},
    {0x00, 0x41, 0x22, 0x14, 0x08}, {0x02, 0x01, 0x59, 0x09, 0x06}, {0x3e, 0x41, 0x5d, 0x59, 0x4e},
    {0x7c, 0x12, 0x11, 0x12, 0x7c}, {0x7f, 0x49, 0x49, 0x49, 0x36}, {0x3e, 0x41, 0x41, 0x41, 0x22},
    {0x7f, 0x41, 0x41, 0x41, 0x3e}, {0x7f, 0x49, 0x49, 0x49, 0x41}, {0x7f, 0x09, 0x09, 0x09, 0x01},
    {0x3e, 0x41, 0x41, 0x51, 0x73}, {0x7f, 0x08, 0x08, 0x08, 0x7f}, {0x00, 0x41, 0x7f, 0x41, 0x00},
    {0x20, 0x40, 0x41, 0x3f, 0x01}, {0x7f, 0x08, 0x14, 0x22, 0x41}, {0x7f, 0x40, 0x40, 0x40, 0x40},
    {0x7f, 0x02, 0x1c, 0x02, 0x7f}, {0x7f, 0x04, 0x08, 0x10, 0x7f}, {0x3e, 0x41, 0x41, 0x41, 0x3e},
    {0x7f, 0x09, 0x09, 0x09, 0x06}, {0x3e, 0x41, 0x51, 0x21, 0x5e}, {0x7f, 0x09, 0x19, 0x29, 0x46},
    {0x26, 0x49, 0x49, 0x49, 0x32}, {0x03, 0x01, 0x7f, 0x01, 0x03}, {0x3f, 0x40, 0x40, 0x40, 0x3f},
    {0x1f, 0x20, 0x40, 0x20, 0x1f}, {0x3f, 0x40, 0x38, 0x40, 0x3f}, {0x63, 0x14, 0x08, 0x14, 0x63},
    {0x03, 0x04, 0x78, 0x04, 0x03}, {0x61, 0x59, 0x49, 0x4d, 0x43},
}};
constexpr Glyph kBox = {0x7f, 0x41, 0x41, 0x41, 0x7f};

Glyph glyph_of(char c) {
  const int upper = std::toupper(static_cast<unsigned char>(c));
  if (upper < ' ' || upper > 'Z') return kBox;
  return kFont[static_cast<std::size_t>(upper - ' ')];
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> out(1);
  for (const char c : text) {
    // The bytes after the first of a character have no box of their own.
    if ((static_cast<unsigned char>(c) & 0xc0) == 0x80) continue;
    if (c == '\n' || out.back().size() == kLineMax) out.emplace_back();
    if (c != '\n' && !(c == ' ' && out.back().empty())) out.back() += c;
    if (out.size() > kLinesMax) break;
  }
  return out;
}

std::string big_endian(std::uint32_t value) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xff);
  return out;
}

std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

std::uint32_t adler32(std::string_view bytes) {
  std::uint32_t a = 1;
  std::uint32_t b = 0;
  for (const char c : bytes) {
    a = (a + static_cast<unsigned char>(c)) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

std::string chunk(std::string_view type, std::string_view data) {
  const std::string body = std::string(type) + std::string(data);
  return big_endian(static_cast<std::uint32_t>(data.size())) + body + big_endian(crc32(body));
}

// A zlib stream of stored blocks (RFC 1951, 3.2.4): any reader takes it, and no library decides its
// bytes.
std::string stored(std::string_view bytes) {
  constexpr std::size_t kBlock = 65535;
  std::string out = "\x78\x01";
  for (std::size_t at = 0; at < bytes.size(); at += kBlock) {
    const std::string_view block = bytes.substr(at, kBlock);
    const auto size = static_cast<std::uint16_t>(block.size());
    const auto other = static_cast<std::uint16_t>(~size);
    out += static_cast<char>(at + kBlock >= bytes.size() ? 1 : 0);
    for (const std::uint16_t word : {size, other}) {
      out += static_cast<char>(word & 0xff);
      out += static_cast<char>(word >> 8);
    }
    out += block;
  }
  return out + big_endian(adler32(bytes));
}

}  // namespace

std::string png_of_text(std::string_view text) {
  const std::vector<std::string> lines = lines_of(text);
  std::size_t longest = 1;
  for (const std::string& one : lines) longest = std::max(longest, one.size());
  const std::size_t width = longest * kLetterWidth + 2 * kMargin;
  const std::size_t height = lines.size() * kLineHeight + 2 * kMargin;
  // Each row begins with its filter, 0: none.
  std::string rows;
  for (std::size_t y = 0; y < height; ++y) rows += '\0' + std::string(width, '\xff');
  for (std::size_t line = 0; line < lines.size(); ++line) {
    for (std::size_t i = 0; i < lines[line].size(); ++i) {
      const Glyph glyph = glyph_of(lines[line][i]);
      for (std::size_t dot = 0; dot < kColumns * kScale * kRows * kScale; ++dot) {
        const std::size_t x = dot % (kColumns * kScale);
        const std::size_t y = dot / (kColumns * kScale);
        if ((glyph[x / kScale] >> (y / kScale) & 1) == 0) continue;
        const std::size_t row = kMargin + line * kLineHeight + y;
        rows[row * (width + 1) + 1 + kMargin + i * kLetterWidth + x] = '\0';
      }
    }
  }
  const std::string header = big_endian(static_cast<std::uint32_t>(width)) +
                             big_endian(static_cast<std::uint32_t>(height)) +
                             std::string("\x08\x00\x00\x00\x00", 5);
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + chunk("IDAT", stored(rows)) +
         chunk("IEND", "");
}

}  // namespace assay::safety
