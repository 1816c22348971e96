// Media: pictures, sounds and videos of a size that the user chooses, as parts of a made prompt, so
// that the size of an input can be swept as its length is. They are noise: no codec, and no cache
// of a server, makes one cheaper than another of its size, and each row has its own.
//
//   image=512x512       a PNG of 8 bits, RGB
//   audio=5s            a WAV of 16 bits, one channel, 24,000 samples a second
//   video=64x64x16      an AVI of 16 uncompressed frames (BGR, 8 a second)
//
// Pure; the same seed gives the same bytes on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "domain/sample.h"

namespace assay::dataset {

struct Medium {
  enum class Kind : std::uint8_t { image, audio, video };
  Kind kind = Kind::image;
  std::uint32_t width = 0;  // pixels, of images and videos
  std::uint32_t height = 0;
  std::uint32_t frames = 0;   // of videos
  std::uint32_t samples = 0;  // of sounds
};

// `key`: image, audio or video.
Result<Medium> parse_medium(std::string_view key, std::string_view size);
// As a recipe names it: "image 512x512".
std::string to_string(const Medium& medium);

std::string bytes_of(const Medium& medium, Rng& rng);
// Puts the media into the prompt, as parts in OpenAI's form; or as attachments, under the names of
// a form's fields, where the kind of API takes files of that column.
void add_media(const std::vector<Medium>& media, const std::vector<std::string>& file_columns,
               Rng& rng, Sample& sample);

}  // namespace assay::dataset
