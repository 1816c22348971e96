// What a probe asks a kind of API with: its prompt, and what else the kind needs.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "base/base64.h"
#include "base/wav.h"
#include "protocol/kind/kind.h"

namespace assay::protocol {
namespace {

// A second of a tone, as WAV.
Attachment probe_sound() {
  constexpr std::uint32_t kRate = 16'000;
  std::string wav = wav_head(kRate, 2 * kRate);
  for (std::uint32_t i = 0; i < kRate; ++i) {
    const double wave = 8000 * std::sin(2 * 3.14159265358979 * 440 * i / kRate);
    put_little_endian(wav, static_cast<std::uint16_t>(static_cast<std::int16_t>(wave)), 2);
  }
  return {.name = "file", .type = "audio/wav", .file = "tone.wav", .bytes = std::move(wav)};
}

// One dot, as PNG.
Attachment probe_picture() {
  constexpr std::string_view kDot =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5Erk"
      "Jggg==";
  return {.name = "image", .type = "image/png", .file = "dot.png", .bytes = *decode_base64(kDot)};
}

}  // namespace

Sample probe_sample(const Spoken& api, std::string_view prompt) {
  Sample out;
  if (kind_of(api).encode == encode_sound) {
    out.attachments.push_back(probe_sound());
    return out;
  }
  out.prompt = prompt;
  if (api.api == Api::openai_image_edits) out.attachments.push_back(probe_picture());
  if (std::ranges::count(row_of(api.api).columns, "documents") > 0) {
    out.body.set("documents", Json().push_back("One, two, three.").push_back("A hat."));
  }
  return out;
}

}  // namespace assay::protocol
