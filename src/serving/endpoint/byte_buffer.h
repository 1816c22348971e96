// ByteBuffer: an appendable buffer for replies that are rebuilt for each token. Once it has grown
// it allocates nothing, and a put costs one comparison and one copy. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

namespace assay::endpoint {

class ByteBuffer {
 public:
  explicit ByteBuffer(std::size_t capacity = 4096)
      : bytes_(std::make_unique<char[]>(capacity)), capacity_(capacity) {}

  void put(std::string_view text) {
    if (text.empty()) return;  // its data may be null, which memcpy forbids
    reserve(text.size());
    std::memcpy(bytes_.get() + size_, text.data(), text.size());
    size_ += text.size();
  }
  void put(char c) {
    reserve(1);
    bytes_[size_++] = c;
  }
  // Writes sixteen lower-case hex digits.
  void put_hex16(std::uint64_t value) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    reserve(16);
    for (std::size_t i = 16; i-- > 0; value >>= 4) bytes_[size_ + i] = kDigits[value & 15];
    size_ += 16;
  }
  void put_decimal(std::uint64_t value) {
    std::array<char, 20> digits;
    std::size_t at = digits.size();
    do {
      digits[--at] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value != 0);
    put({digits.data() + at, digits.size() - at});
  }

  // Writes one chunk of HTTP/1.1. REQUIRES: data is not empty, because that would end the body.
  void put_chunk(std::string_view data) {
    constexpr std::string_view kHex = "0123456789abcdef";
    std::array<char, 18> line;
    std::size_t at = line.size() - 2;
    line[at] = '\r';
    line[at + 1] = '\n';
    for (std::size_t n = data.size(); n != 0; n >>= 4) line[--at] = kHex[n & 15];
    put({line.data() + at, line.size() - at});
    put(data);
    put("\r\n");
  }

  void clear() { size_ = 0; }
  std::string_view view() const { return {bytes_.get(), size_}; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  void reserve(std::size_t more) {
    if (capacity_ - size_ >= more) return;
    grow(more);
  }
  void grow(std::size_t more) {
    std::size_t capacity = capacity_ * 2;
    while (capacity - size_ < more) capacity *= 2;
    auto larger = std::make_unique<char[]>(capacity);
    std::memcpy(larger.get(), bytes_.get(), size_);
    bytes_ = std::move(larger);
    capacity_ = capacity;
  }

  std::unique_ptr<char[]> bytes_;
  std::size_t capacity_;
  std::size_t size_ = 0;
};

}  // namespace assay::endpoint
