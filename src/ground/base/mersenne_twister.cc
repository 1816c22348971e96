#include "base/mersenne_twister.h"

#include "base/check.h"

namespace assay {

MersenneTwister::MersenneTwister(std::uint32_t seed) {
  state_[0] = seed;
  for (std::uint32_t i = 1; i < kWords; ++i) {
    state_[i] = 1812433253U * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;
  }
}

MersenneTwister MersenneTwister::of_words(std::span<const std::uint32_t> words) {
  CHECK(!words.empty());
  MersenneTwister twister(19650218U);
  auto& state = twister.state_;
  std::size_t i = 1;
  std::size_t j = 0;
  const auto carry = [&] {
    if (++i >= kWords) {
      state[0] = state[kWords - 1];
      i = 1;
    }
  };
  for (std::size_t k = 0; k < kWords; ++k) {
    const std::uint32_t mixed = (state[i - 1] ^ (state[i - 1] >> 30)) * 1664525U;
    state[i] = (state[i] ^ mixed) + words[j] + static_cast<std::uint32_t>(j);
    carry();
    if (++j >= words.size()) j = 0;
  }
  for (std::size_t k = 0; k < kWords - 1; ++k) {
    const std::uint32_t mixed = (state[i - 1] ^ (state[i - 1] >> 30)) * 1566083941U;
    state[i] = (state[i] ^ mixed) - static_cast<std::uint32_t>(i);
    carry();
  }
  state[0] = 0x80000000U;
  return twister;
}

void MersenneTwister::refill() {
  constexpr std::size_t kShift = 397;
  for (std::size_t i = 0; i < kWords; ++i) {
    const std::uint32_t y = (state_[i] & 0x80000000U) | (state_[(i + 1) % kWords] & 0x7fffffffU);
    state_[i] = state_[(i + kShift) % kWords] ^ (y >> 1) ^ ((y & 1U) ? 0x9908b0dfU : 0U);
  }
  position_ = 0;
}

std::uint32_t MersenneTwister::next() {
  if (position_ == kWords) refill();
  std::uint32_t y = state_[position_++];
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680U;
  y ^= (y << 15) & 0xefc60000U;
  return y ^ (y >> 18);
}

}  // namespace assay
