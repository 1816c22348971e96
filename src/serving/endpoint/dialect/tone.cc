#include "endpoint/dialect/tone.h"

#include <array>
#include <cmath>

namespace assay::endpoint {
namespace {

constexpr std::uint32_t kFrequency = 440;
constexpr std::uint32_t kSteps = 48'000;  // of a second of the tone, in which its waves are whole

const std::array<std::int16_t, kSteps>& second_of_tone() {
  static const std::array<std::int16_t, kSteps> kTone = [] {
    std::array<std::int16_t, kSteps> made{};
    constexpr double kTurn = 2 * 3.14159265358979323846;
    for (std::uint32_t i = 0; i < kSteps; ++i) {
      made[i] = static_cast<std::int16_t>(8000 * std::sin(kTurn * kFrequency * i / kSteps));
    }
    return made;
  }();
  return kTone;
}

void put_number(std::string& out, std::uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 255);
}

}  // namespace

std::string tone(std::uint32_t sample_rate, std::uint32_t from, std::uint32_t tokens) {
  const auto& second = second_of_tone();
  const std::uint64_t each = std::uint64_t{sample_rate} * kTokenSoundMs / 1000;
  const std::uint64_t first = from * each;
  const std::uint64_t count = tokens * each;
  std::string out;
  out.reserve(2 * count);
  for (std::uint64_t i = first; i < first + count; ++i) {
    const std::uint64_t step = i % sample_rate * kSteps / sample_rate;
    put_number(out, static_cast<std::uint16_t>(second[step]), 2);
  }
  return out;
}

std::string wav_head(std::uint32_t sample_rate, std::uint32_t bytes) {
  constexpr std::uint32_t kBehindSize = 36;
  std::string out = "RIFF";
  put_number(out, bytes > 0xffff'ffff - kBehindSize ? bytes : bytes + kBehindSize, 4);
  out += "WAVEfmt ";
  put_number(out, 16, 4);
  put_number(out, 1, 2);  // PCM
  put_number(out, 1, 2);  // one channel
  put_number(out, sample_rate, 4);
  put_number(out, 2 * sample_rate, 4);
  put_number(out, 2, 2);
  put_number(out, 16, 2);
  out += "data";
  put_number(out, bytes, 4);
  return out;
}

}  // namespace assay::endpoint
