#include "protocol/json_cursor.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "domain/event.h"

namespace assay::protocol {
namespace {

// The four hex digits at p, already checked.
unsigned code_unit(const char* p) {
  unsigned value = 0;
  for (int i = 0; i < 4; ++i) value = value * 16 + static_cast<unsigned>(hex_value(p[i]));
  return value;
}

constexpr unsigned kReplacement = 0xFFFD;

char* put_utf8(unsigned c, char* out) {
  if (c < 0x80) {
    *out++ = static_cast<char>(c);
  } else if (c < 0x800) {
    *out++ = static_cast<char>(0xC0 | (c >> 6));
    *out++ = static_cast<char>(0x80 | (c & 63));
  } else if (c < 0x10000) {
    *out++ = static_cast<char>(0xE0 | (c >> 12));
    *out++ = static_cast<char>(0x80 | ((c >> 6) & 63));
    *out++ = static_cast<char>(0x80 | (c & 63));
  } else {
    *out++ = static_cast<char>(0xF0 | (c >> 18));
    *out++ = static_cast<char>(0x80 | ((c >> 12) & 63));
    *out++ = static_cast<char>(0x80 | ((c >> 6) & 63));
    *out++ = static_cast<char>(0x80 | (c & 63));
  }
  return out;
}

// Decodes the \u escape at p and moves p behind it: one escape, or the two of a surrogate pair.
char* put_code_point(const char*& p, const char* end, char* out) {
  unsigned c = code_unit(p + 2);
  p += 6;
  if (c >= 0xD800 && c < 0xDC00) {
    const bool pair = escape_length(p, end) == 6 && (code_unit(p + 2) & 0xFC00) == 0xDC00;
    if (pair) {
      c = 0x10000 + ((c & 0x3FF) << 10) + (code_unit(p + 2) & 0x3FF);
      p += 6;
    } else {
      c = kReplacement;
    }
  } else if (c >= 0xDC00 && c < 0xE000) {
    c = kReplacement;
  }
  return put_utf8(c, out);
}

char short_escape(char c) {
  switch (c) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return c;
  }
}

}  // namespace

std::size_t escape_length(const char* p, const char* end) {
  if (end - p < 2 || *p != '\\') return 0;
  switch (p[1]) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
      return 2;
    case 'u':
      if (end - p < 6) return 0;
      for (int i = 2; i < 6; ++i) {
        if (hex_value(p[i]) < 0) return 0;
      }
      return 6;
    default:
      return 0;
  }
}

char* unescape(const char* p, const char* end, char* out, RawControls raw_controls) {
  for (;;) {
    const char* const special = find_special(p, end);
    const auto plain = static_cast<std::size_t>(special - p);
    std::memcpy(out, p, plain);
    out += plain;
    p = special;
    if (p == end) return out;
    if (static_cast<unsigned char>(*p) < 0x20 && raw_controls == RawControls::replaced) {
      out = put_utf8(kReplacement, out);
      ++p;
      continue;
    }
    const std::size_t length = escape_length(p, end);
    if (length == 0) return nullptr;
    if (length == 2) {
      *out++ = short_escape(p[1]);
      p += 2;
    } else {
      out = put_code_point(p, end, out);
    }
  }
}

char JsonCursor::peek_past_blanks() {
  while (p_ < end_ && (*p_ == ' ' || *p_ == '\n' || *p_ == '\r' || *p_ == '\t')) ++p_;
  return p_ < end_ ? *p_ : '\0';
}

// The rest of a string from its first backslash or raw control byte.
bool JsonCursor::string_with_specials(const char* begin, const char* special, RawString& out) {
  for (p_ = special; p_ < end_ && *p_ != '"'; p_ = find_special(p_, end_)) {
    std::size_t length = 1;
    if (*p_ == '\\') {
      length = escape_length(p_, end_);
      if (length == 0) return false;
    } else {
      ++raw_controls_;
    }
    p_ += length;
  }
  if (p_ >= end_) return false;
  out = {begin, static_cast<std::size_t>(p_ - begin), true};
  ++p_;
  return true;
}

bool JsonCursor::word(std::string_view text) {
  if (static_cast<std::size_t>(end_ - p_) < text.size()) return false;
  if (std::memcmp(p_, text.data(), text.size()) != 0) return false;
  p_ += text.size();
  return true;
}

bool JsonCursor::digits() {
  const char* const begin = p_;
  while (p_ < end_ && *p_ >= '0' && *p_ <= '9') ++p_;
  return p_ > begin;
}

bool JsonCursor::number() {
  if (p_ < end_ && *p_ == '-') ++p_;
  if (p_ < end_ && *p_ == '0') {
    ++p_;
  } else if (!digits()) {
    return false;
  }
  if (p_ < end_ && *p_ == '.') {
    ++p_;
    if (!digits()) return false;
  }
  if (p_ < end_ && (*p_ == 'e' || *p_ == 'E')) {
    ++p_;
    if (p_ < end_ && (*p_ == '+' || *p_ == '-')) ++p_;
    if (!digits()) return false;
  }
  return true;
}

bool JsonCursor::skip(int depth) {
  if (depth > kDepthMax) return false;
  RawString ignored;
  switch (peek()) {
    case '"':
      return string(ignored);
    case '{':
      return object([&](const RawString&) { return skip(depth + 1); });
    case '[':
      return array([&] { return skip(depth + 1); });
    case 't':
      return word("true");
    case 'f':
      return word("false");
    case 'n':
      return word("null");
    default:
      return number();
  }
}

// A whole number of so few digits that it is in range, in one pass: nearly every count. Any other
// value stays where it is.
bool JsonCursor::short_count(std::int32_t& out) {
  constexpr std::ptrdiff_t kDigitsMax = 9;
  const auto is_digit = [this](const char* p) { return p < end_ && *p >= '0' && *p <= '9'; };
  const char* p = p_;
  std::int32_t value = 0;
  for (; is_digit(p) && p - p_ < kDigitsMax; ++p) value = 10 * value + (*p - '0');
  const bool zeros_first = p - p_ > 1 && *p_ == '0';
  if (p == p_ || is_digit(p) || zeros_first) return false;
  if (p < end_ && (*p == '.' || *p == 'e' || *p == 'E')) return false;
  p_ = p;
  out = value;
  return true;
}

bool JsonCursor::count_or_skip(std::int32_t& out) {
  out = -1;
  const char c = peek();
  if (short_count(out)) return true;
  const char* const begin = p_;
  if (!skip()) return false;
  if (c == 'n') return true;  // null: the same as a missing value
  out = kNoCount;
  double value = -1;  // stays if it is no number, or out of range
  std::from_chars(begin, p_, value);
  constexpr double kMost = std::numeric_limits<std::int32_t>::max();
  // 20.0 is a count; 20.5 is not.
  if (value >= 0 && value <= kMost && value == std::floor(value)) {
    out = static_cast<std::int32_t>(value);
  }
  return true;
}

}  // namespace assay::protocol
