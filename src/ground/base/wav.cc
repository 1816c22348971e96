#include "base/wav.h"

namespace assay {

void put_little_endian(std::string& out, std::uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 255);
}

std::string wav_head(std::uint32_t sample_rate, std::uint32_t bytes) {
  constexpr std::uint32_t kBehindSize = 36;
  std::string out = "RIFF";
  put_little_endian(out, bytes > 0xffff'ffff - kBehindSize ? bytes : bytes + kBehindSize, 4);
  out += "WAVEfmt ";
  put_little_endian(out, 16, 4);
  put_little_endian(out, 1, 2);  // PCM
  put_little_endian(out, 1, 2);  // one channel
  put_little_endian(out, sample_rate, 4);
  put_little_endian(out, 2 * sample_rate, 4);
  put_little_endian(out, 2, 2);
  put_little_endian(out, 16, 2);
  out += "data";
  put_little_endian(out, bytes, 4);
  return out;
}

}  // namespace assay
