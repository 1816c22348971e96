#include "metrics/export/hdr_histogram.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace assay::metrics {
namespace {

// Three significant digits: 2 × 10³ values at unit resolution, rounded up to a power of two.
constexpr int kDigits = 3;
constexpr int kSubBits = 11;
constexpr std::int64_t kSubCount = std::int64_t{1} << kSubBits;
constexpr std::int64_t kHalfCount = kSubCount / 2;
constexpr std::uint32_t kCookieV2 = 0x1c849303 | 0x10;
constexpr std::uint32_t kCookieV2Compressed = 0x1c849304 | 0x10;

template <typename T>
void append_big_endian(std::string& out, T value) {
  for (int shift = static_cast<int>(sizeof(T)) * 8 - 8; shift >= 0; shift -= 8) {
    out += static_cast<char>(static_cast<std::uint64_t>(value) >> shift);
  }
}

// ZigZag, then seven bits a byte, low end first; a ninth byte holds eight.
void append_zigzag(std::string& out, std::int64_t value) {
  auto bits = (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
  for (int i = 0; i < 8; ++i) {
    if (bits < 0x80) {
      out += static_cast<char>(bits);
      return;
    }
    out += static_cast<char>((bits & 0x7f) | 0x80);
    bits >>= 7;
  }
  out += static_cast<char>(bits);
}

std::string base64(std::string_view bytes) {
  static constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      word = word << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out += i + k > bytes.size() ? '=' : kAlphabet[word >> (18 - 6 * k) & 63];
    }
  }
  return out;
}

std::uint32_t adler32(std::string_view bytes) {
  constexpr std::uint32_t kModulus = 65521;
  std::uint32_t a = 1;
  std::uint32_t b = 0;
  for (const char c : bytes) {
    a = (a + static_cast<unsigned char>(c)) % kModulus;
    b = (b + a) % kModulus;
  }
  return b << 16 | a;
}

}  // namespace

HdrHistogram::HdrHistogram(std::int64_t highest) : highest_(highest) {
  CHECK(highest >= 2);
  counts_.resize(index_of(highest) + 1);
}

std::size_t HdrHistogram::index_of(std::int64_t value) const {
  const auto bits = static_cast<std::uint64_t>(value) | static_cast<std::uint64_t>(kSubCount - 1);
  const int bucket = 64 - std::countl_zero(bits) - kSubBits;
  const std::int64_t sub = value >> bucket;
  return static_cast<std::size_t>(((std::int64_t{bucket} + 1) << (kSubBits - 1)) + sub -
                                  kHalfCount);
}

void HdrHistogram::record(std::int64_t value) {
  const std::int64_t held = std::clamp<std::int64_t>(value, 0, highest_);
  ++counts_[index_of(held)];
  ++count_;
  max_ = std::max(max_, held);
}

std::string HdrHistogram::payload() const {
  std::string counts;
  const std::size_t end = count_ == 0 ? 1 : index_of(max_) + 1;
  for (std::size_t i = 0; i < end;) {
    if (counts_[i] != 0) {
      append_zigzag(counts, counts_[i++]);
      continue;
    }
    std::size_t zeros = 0;
    while (i < end && counts_[i] == 0) {
      ++zeros;
      ++i;
    }
    append_zigzag(counts, zeros == 1 ? 0 : -static_cast<std::int64_t>(zeros));
  }
  std::string out;
  append_big_endian(out, kCookieV2);
  append_big_endian(out, static_cast<std::uint32_t>(counts.size()));
  append_big_endian(out, std::uint32_t{0});  // normalizing index offset
  append_big_endian(out, std::uint32_t{kDigits});
  append_big_endian(out, std::uint64_t{1});  // lowest discernible value
  append_big_endian(out, static_cast<std::uint64_t>(highest_));
  append_big_endian(out, std::bit_cast<std::uint64_t>(1.0));  // integer to double ratio
  return out + counts;
}

std::string HdrHistogram::encode() const {
  const std::string packed = zlib_stored(payload());
  std::string out;
  append_big_endian(out, kCookieV2Compressed);
  append_big_endian(out, static_cast<std::uint32_t>(packed.size()));
  return base64(out + packed);
}

std::string zlib_stored(std::string_view bytes) {
  constexpr std::size_t kBlockMax = 65535;
  std::string out("\x78\x01", 2);
  const std::uint32_t sum = adler32(bytes);
  do {
    const std::string_view block = bytes.substr(0, kBlockMax);
    bytes.remove_prefix(block.size());
    const auto size = static_cast<std::uint16_t>(block.size());
    out += static_cast<char>(bytes.empty() ? 1 : 0);
    for (const unsigned half : {unsigned{size}, unsigned{size} ^ 0xffffU}) {
      out += static_cast<char>(half & 0xffU);
      out += static_cast<char>(half >> 8);
    }
    out += block;
  } while (!bytes.empty());
  append_big_endian(out, sum);
  return out;
}

}  // namespace assay::metrics
