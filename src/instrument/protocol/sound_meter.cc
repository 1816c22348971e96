#include "protocol/sound_meter.h"

#include <algorithm>

#include "base/base64.h"

namespace assay::protocol {
namespace {

constexpr std::string_view kRiff = "RIFF";
constexpr std::size_t kRiffBytes = 12;  // "RIFF", a size, "WAVE"
constexpr std::size_t kChunkBytes = 8;  // a chunk's name and size
constexpr std::size_t kFormBytes = 16;  // the least of a chunk "fmt "
constexpr std::size_t kRateOffset = 8;  // in it
// A server that does not know the length yet writes 0, or a number near 2^31 or 2^32.
constexpr std::uint32_t kPromisedMax = 0x7fff'0000;

std::uint32_t little_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value |= std::uint32_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return value;
}

// Bytes in base64 of this many characters, with or without padding.
std::uint64_t bytes_in(std::string_view base64) {
  while (!base64.empty() && base64.back() == '=') base64.remove_suffix(1);
  return std::uint64_t{base64.size()} * 3 / 4;
}

}  // namespace

void SoundMeter::begin(std::uint32_t rate) {
  state_ = State::head;
  rate_ = rate;
  promised_ = taken_ = 0;
  head_.clear();
}

std::uint64_t SoundMeter::take(std::uint64_t bytes) {
  // What follows the promised bytes are other chunks of the file.
  if (promised_ > 0) bytes = std::min(bytes, missing());
  taken_ += bytes;
  return bytes;
}

std::uint64_t SoundMeter::begin_samples(std::size_t at) {
  state_ = State::samples;
  return take(head_.size() - at);
}

std::uint64_t SoundMeter::read_head() {
  const std::string_view head = head_;
  if (head.substr(0, kRiff.size()) != kRiff.substr(0, head.size())) return begin_samples(0);
  if (head.size() < kRiffBytes) return 0;
  if (head.substr(8, 4) != "WAVE") return begin_samples(0);
  std::uint32_t rate = 0;
  for (std::size_t at = kRiffBytes; head.size() - at >= kChunkBytes;) {
    const std::string_view name = head.substr(at, 4);
    const std::uint32_t size = little_endian(head.substr(at + 4));
    at += kChunkBytes;
    if (name == "data") {
      rate_ = rate;
      promised_ = size < kPromisedMax ? size : 0;
      return begin_samples(at);
    }
    const std::size_t behind = std::size_t{size} + (size & 1);
    if (at + behind > kHeadMax) {
      rate_ = 0;
      return begin_samples(0);
    }
    if (head.size() - at < behind) break;
    if (name == "fmt " && size >= kFormBytes) rate = little_endian(head.substr(at + kRateOffset));
    at += behind;
  }
  return 0;
}

std::uint64_t SoundMeter::feed(std::string_view bytes) {
  if (state_ == State::samples) return take(bytes.size());
  if (state_ == State::broken) return 0;
  head_ += bytes;
  return read_head();
}

std::uint64_t SoundMeter::feed_base64(std::string_view text) {
  if (state_ == State::samples) return take(bytes_in(text));
  const auto bytes = decode_base64(text);
  if (!bytes) {
    state_ = State::broken;
    return 0;
  }
  return feed(*bytes);
}

std::uint64_t SoundMeter::finish() {
  if (state_ != State::head || head_.size() >= kRiff.size()) return 0;
  return begin_samples(0);
}

Duration SoundMeter::length_of(std::uint64_t bytes) const {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  // A reply has at most 1 GiB or so; 2^33 seconds are the most that fit.
  const std::uint64_t seconds = std::min<std::uint64_t>(bytes / rate_, std::uint64_t{1} << 32);
  return Duration{static_cast<std::int64_t>(seconds * kSecond + (bytes % rate_) * kSecond / rate_)};
}

}  // namespace assay::protocol
