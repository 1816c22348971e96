// JsonCursor: reads a JSON text once, from left to right, in place; it builds and allocates
// nothing. For replies on the measuring path; use Json (base/json.h) everywhere else.
//
// It checks the grammar of all that it skips (RFC 8259), but accepts three things that replies
// contain and simdjson refuses: invalid UTF-8 in strings, because servers cut text between tokens,
// inside a character; lone surrogates; and raw control bytes in strings, which some servers do not
// escape. Nesting is limited. Why not simdjson here: docs/decisions/0004.
//
// Reads up to 16 bytes behind the text's end and ignores them: the text must be padded. After a
// call returned false, do not use the cursor again. One thread.
#pragma once

#ifdef __SSE2__
#include <immintrin.h>
#endif

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace assay::protocol {

// The bytes of a JSON string between its quotes, with its escapes.
struct RawString {
  const char* data = nullptr;  // nullptr: there was no string
  std::size_t size = 0;
  bool escaped = false;  // holds a backslash or a raw control byte

  bool empty() const { return size == 0; }
  std::string_view view() const { return {data, size}; }
};

// The first quote, backslash or control byte in [p, end), or end: eight bytes at a time. In each
// mask the lowest set bit is exact; higher ones may be carries of it.
inline const char* find_special_by_words(const char* p, const char* end) {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  constexpr std::uint64_t kHigh = 0x8080808080808080U;
  for (; p < end; p += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, p, 8);
    const std::uint64_t quote = word ^ (kOnes * '"');
    const std::uint64_t backslash = word ^ (kOnes * '\\');
    const std::uint64_t mask = (((quote - kOnes) & ~quote) | ((backslash - kOnes) & ~backslash) |
                                ((word - kOnes * 0x20) & ~word)) &
                               kHigh;
    if (mask != 0) {
      p += std::countr_zero(mask) / 8;
      return p < end ? p : end;
    }
  }
  return end;
}

#ifdef __SSE2__
// The same, sixteen bytes at a time: SSE2 is part of every x86-64.
inline const char* find_special(const char* p, const char* end) {
  for (; p < end; p += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
    const __m128i backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1F)), bytes);
    const int mask = _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, backslash), control));
    if (mask != 0) {
      p += std::countr_zero(static_cast<unsigned>(mask));
      return p < end ? p : end;
    }
  }
  return end;
}
#else
inline const char* find_special(const char* p, const char* end) {
  return find_special_by_words(p, end);
}
#endif

// Writes the string body [p, end) to `out` with its escapes undone. Returns the end of the result,
// or nullptr when the body is no valid string body. A lone surrogate becomes U+FFFD. So does a raw
// control byte with RawControls::replaced, which makes the result two bytes longer for each; else
// it is invalid, and the result is never longer than the body.
enum class RawControls : std::uint8_t { refused, replaced };
char* unescape(const char* p, const char* end, char* out, RawControls raw_controls);
// Length of the escape at p, which points at its backslash; 0 when it is no escape.
std::size_t escape_length(const char* p, const char* end);

class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : p_(text.data()), end_(p_ + text.size()) {}

  // The next byte that is not blank, without moving past it; 0 at the end.
  char peek() {
    // Replies are mostly written without blanks, and all of those are below '!'.
    if (p_<end_&& static_cast<unsigned char>(*p_)> ' ') return *p_;
    return peek_past_blanks();
  }
  bool at_end() { return peek() == '\0' && p_ == end_; }
  const char* position() const { return p_; }
  // Raw control bytes in the strings so far.
  std::size_t raw_controls() const { return raw_controls_; }

  // Each function reads one value that begins at the byte which peek() returned.
  bool skip(int depth = 0);
  // REQUIRES: peek() == '"'.
  bool string(RawString& out) {
    const char* const begin = p_ + 1;
    const char* const end = find_special(begin, end_);
    if (end >= end_) return false;
    if (*end != '"') return string_with_specials(begin, end, out);
    p_ = end + 1;
    out = {begin, static_cast<std::size_t>(end - begin), false};
    return true;
  }
  // Reads a string into `out`; skips any other value and sets `out` to absent.
  bool string_or_skip(RawString& out) {
    if (peek() == '"') return string(out);
    out = RawString{};
    return skip();
  }
  // A whole number of at most 31 bits; −1 for null, kNoCount (domain/event.h) for any other value.
  bool count_or_skip(std::int32_t& out);
  // The value's own text.
  bool slice(std::string_view& out) {
    peek();
    const char* const begin = p_;
    if (!skip()) return false;
    out = {begin, static_cast<std::size_t>(p_ - begin)};
    return true;
  }

  // on_member(const RawString& key) must take the member's value. REQUIRES: peek() == '{'.
  template <typename OnMember>
  bool object(OnMember&& on_member) {
    ++p_;
    char c = peek();
    if (c == '}') return take();
    for (;;) {
      RawString key;
      if (c != '"' || !string(key) || peek() != ':') return false;
      ++p_;
      peek();
      if (!on_member(static_cast<const RawString&>(key))) return false;
      c = peek();
      if (c == '}') return take();
      if (c != ',') return false;
      ++p_;
      c = peek();
    }
  }
  // on_item() must take the item. REQUIRES: peek() == '['.
  template <typename OnItem>
  bool array(OnItem&& on_item) {
    ++p_;
    if (peek() == ']') return take();
    for (;;) {
      peek();
      if (!on_item()) return false;
      const char c = peek();
      if (c == ']') return take();
      if (c != ',') return false;
      ++p_;
    }
  }

 private:
  static constexpr int kDepthMax = 256;

  bool take() {
    ++p_;
    return true;
  }
  char peek_past_blanks();
  bool string_with_specials(const char* begin, const char* special, RawString& out);
  bool short_count(std::int32_t& out);
  bool word(std::string_view text);
  bool number();
  bool digits();

  const char* p_;
  const char* end_;
  std::size_t raw_controls_ = 0;
};

}  // namespace assay::protocol
