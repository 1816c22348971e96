// The sound that the endpoint makes: a tone of 440 Hz, 16 bits a sample, one channel. A token of it
// plays 24 ms. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>

namespace assay::endpoint {

inline constexpr std::uint32_t kTokenSoundMs = 24;

// The samples of `tokens` tokens behind the first `from`; a tone of several calls is continuous.
// REQUIRES: sample_rate is a multiple of 125.
std::string tone(std::uint32_t sample_rate, std::uint32_t from, std::uint32_t tokens);

}  // namespace assay::endpoint
