#include "interchange/write/hdr_histogram.h"

#include <zlib.h>

#include <algorithm>
#include <bit>

#include "base/base64.h"
#include "base/check.h"

namespace assay::interchange {
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

// ZigZag, then seven bits a byte, low end first; a ninth byte holds eight bits.
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

std::string deflated(std::string_view bytes) {
  uLongf size = ::compressBound(bytes.size());
  std::string out(size, '\0');
  CHECK(::compress(reinterpret_cast<Bytef*>(out.data()), &size,
                   reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()) == Z_OK);
  out.resize(size);
  return out;
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
  const std::string packed = deflated(payload());
  std::string out;
  append_big_endian(out, kCookieV2Compressed);
  append_big_endian(out, static_cast<std::uint32_t>(packed.size()));
  return encode_base64(out + packed);
}

}  // namespace assay::interchange
