// Variable-length whole numbers: seven bits a byte, low end first, the top bit set on all but the
// last byte (as in Protocol Buffers). Signed numbers are folded first (zigzag: 0, −1, 1, −2, …), so
// that small differences of either sign take one byte. Differences wrap around in 64 bits, so that
// every pair of values is restored exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace assay {

inline constexpr std::size_t kVarintMax = 10;

inline char* put_varint(char* p, std::uint64_t value) {
  while (value >= 0x80) {
    *p++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *p++ = static_cast<char>(value);
  return p;
}

inline std::uint64_t zigzag(std::uint64_t difference) {
  return (difference << 1) ^ (0 - (difference >> 63));
}
inline std::uint64_t unzigzag(std::uint64_t folded) { return (folded >> 1) ^ (0 - (folded & 1)); }

// value − base, folded.
inline char* put_delta(char* p, std::int64_t value, std::int64_t base) {
  return put_varint(p,
                    zigzag(static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(base)));
}

// Reads what put_* wrote and never beyond the end: after a short or overlong number `good()` is
// false and every further read returns 0.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes)
      : p_(bytes.data()), begin_(p_), end_(p_ + bytes.size()) {}

  bool good() const { return good_; }
  bool at_end() const { return p_ == end_; }
  std::size_t offset() const { return static_cast<std::size_t>(p_ - begin_); }

  std::uint8_t byte() {
    if (p_ == end_) return static_cast<std::uint8_t>(fail());
    return static_cast<std::uint8_t>(*p_++);
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 70 && p_ != end_; shift += 7) {
      const auto b = static_cast<std::uint8_t>(*p_++);
      if (shift == 63 && b > 1) return fail();
      value |= std::uint64_t{b & 0x7fu} << shift;
      if (b < 0x80) return value;
    }
    return fail();
  }

  // A number of at most `max`.
  std::uint64_t varint(std::uint64_t max) {
    const std::uint64_t value = varint();
    return value <= max ? value : fail();
  }

  std::int64_t delta(std::int64_t base) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(base) + unzigzag(varint()));
  }

  std::uint64_t fixed64() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 8) value |= std::uint64_t{byte()} << shift;
    return value;
  }

  std::string_view bytes(std::uint64_t count) {
    if (count > static_cast<std::uint64_t>(end_ - p_)) {
      fail();
      return {};
    }
    const std::string_view view(p_, static_cast<std::size_t>(count));
    p_ += count;
    return view;
  }

  std::uint64_t fail() {
    good_ = false;
    p_ = end_;
    return 0;
  }

 private:
  const char* p_;
  const char* begin_;
  const char* end_;
  bool good_ = true;
};

}  // namespace assay
