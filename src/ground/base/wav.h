// WAV files of 16 bits a sample and one channel (RIFF WAVE, PCM), as bytes. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>

namespace assay {

// Appends the low `bytes` bytes of `value`, the lowest first.
void put_little_endian(std::string& out, std::uint32_t value, int bytes);

// What stands before this many bytes of samples. A length that the file's own size does not hold
// (0xffffffff: not known yet) stands for both.
std::string wav_head(std::uint32_t sample_rate, std::uint32_t bytes);

}  // namespace assay
