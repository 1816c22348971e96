#include "endpoint/dialect/tone.h"

#include <array>
#include <cmath>

#include "base/wav.h"

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
    put_little_endian(out, static_cast<std::uint16_t>(second[step]), 2);
  }
  return out;
}

}  // namespace assay::endpoint
