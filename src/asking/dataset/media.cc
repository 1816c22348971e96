#include "dataset/media.h"

#include <zlib.h>

#include <algorithm>
#include <array>

#include "base/base64.h"
#include "base/check.h"
#include "base/format.h"
#include "base/text.h"
#include "base/time.h"
#include "base/wav.h"
#include "dataset/file_rows.h"

namespace assay::dataset {
namespace {

constexpr std::int64_t kSideMax = 16'384;
constexpr std::int64_t kFramesMax = 10'000;
constexpr std::int64_t kMediumBytesMax = std::int64_t{256} << 20;
constexpr std::uint32_t kSampleRate = 24'000;
constexpr std::int64_t kSecondsMax = 3'600;
constexpr std::uint32_t kFramesPerSecond = 8;
constexpr std::array<std::string_view, 3> kMediumNames = {"image", "audio", "video"};

std::string noise(std::size_t bytes, Rng& rng) {
  std::string out(bytes, '\0');
  for (std::size_t at = 0; at < bytes; at += 8) {
    std::uint64_t word = rng.next();
    for (std::size_t i = at; i < std::min(at + 8, bytes); ++i, word >>= 8) {
      out[i] = static_cast<char>(word & 0xff);
    }
  }
  return out;
}

void put(std::string& out, std::uint32_t value, int bytes, bool big_end_first = false) {
  for (int i = 0; i < bytes; ++i) {
    out += static_cast<char>(value >> (8 * (big_end_first ? bytes - 1 - i : i)) & 0xff);
  }
}

std::string png_chunk(std::string_view type, const std::string& data) {
  const std::string body = std::string(type) + data;
  std::string out;
  put(out, static_cast<std::uint32_t>(data.size()), 4, true);
  out += body;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(body.data());
  put(out, static_cast<std::uint32_t>(crc32_z(0, bytes, body.size())), 4, true);
  return out;
}

std::string png_of(const Medium& medium, Rng& rng) {
  std::string rows;
  for (std::uint32_t y = 0; y < medium.height; ++y) {
    rows += '\0';  // this row's filter: none
    rows += noise(std::size_t{3} * medium.width, rng);
  }
  uLongf size = compressBound(rows.size());
  std::string data(size, '\0');
  const int done = compress2(reinterpret_cast<unsigned char*>(data.data()), &size,
                             reinterpret_cast<const unsigned char*>(rows.data()), rows.size(), 0);
  CHECK(done == Z_OK);
  data.resize(size);
  std::string header;
  put(header, medium.width, 4, true);
  put(header, medium.height, 4, true);
  header += std::string("\x08\x02\x00\x00\x00", 5);
  return "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", header) + png_chunk("IDAT", data) +
         png_chunk("IEND", "");
}

std::string riff_chunk(std::string_view type, const std::string& data) {
  std::string out(type);
  put(out, static_cast<std::uint32_t>(data.size()), 4);
  out += data;
  if (data.size() % 2 == 1) out += '\0';
  return out;
}

std::string wav_of(const Medium& medium, Rng& rng) {
  const std::string samples = noise(std::size_t{2} * medium.samples, rng);
  return wav_head(kSampleRate, static_cast<std::uint32_t>(samples.size())) + samples;
}

// One stream of device-independent bitmaps, whose rows are whole words, the lowest row first.
std::string avi_of(const Medium& medium, Rng& rng) {
  const std::uint32_t row = (3 * medium.width + 3) / 4 * 4;
  const std::uint32_t frame = row * medium.height;
  const auto words = [](std::initializer_list<std::uint32_t> values) {
    std::string out;
    for (const std::uint32_t value : values) put(out, value, 4);
    return out;
  };
  const std::string main =
      words({1'000'000 / kFramesPerSecond, frame * kFramesPerSecond, 0, 0, medium.frames, 0, 1,
             frame, medium.width, medium.height, 0, 0, 0, 0});
  std::string stream = "vidsDIB ";
  stream += words({0, 0, 0, 1, kFramesPerSecond, 0, medium.frames, frame, 0xffffffff, 0, 0, 0});
  std::string bitmap = words({40, medium.width, medium.height});
  put(bitmap, 1, 2);   // planes
  put(bitmap, 24, 2);  // bits of a pixel
  bitmap += words({0, frame, 0, 0, 0, 0});
  std::string frames = "movi";
  for (std::uint32_t i = 0; i < medium.frames; ++i) {
    frames += riff_chunk("00db", noise(frame, rng));
  }
  const std::string list =
      riff_chunk("LIST", "strl" + riff_chunk("strh", stream) + riff_chunk("strf", bitmap));
  return riff_chunk("RIFF", "AVI " + riff_chunk("LIST", "hdrl" + riff_chunk("avih", main) + list) +
                                riff_chunk("LIST", frames));
}

std::string data_url_of(std::string_view type, const std::string& bytes) {
  return format("data:{};base64,{}", type, encode_base64(bytes));
}

Json part_of(Medium::Kind kind, const std::string& bytes) {
  if (kind == Medium::Kind::audio) {
    return Json::object()
        .set("type", "input_audio")
        .set("input_audio", Json::object().set("data", encode_base64(bytes)).set("format", "wav"));
  }
  const bool video = kind == Medium::Kind::video;
  const std::string name = video ? "video_url" : "image_url";
  const std::string url = data_url_of(video ? "video/x-msvideo" : "image/png", bytes);
  return Json::object().set("type", name).set(name, Json::object().set("url", url));
}

}  // namespace

Result<Medium> parse_medium(std::string_view key, std::string_view size) {
  Medium out;
  out.kind = static_cast<Medium::Kind>(std::ranges::find(kMediumNames, key) - kMediumNames.begin());
  if (out.kind == Medium::Kind::audio) {
    const auto length = parse_duration(size, Duration{});
    if (!length || length->ns < 1'000'000 || *length > Duration::from_seconds(kSecondsMax)) {
      return invalid(format("{}={}: a length from 1ms to 1h, as 5s", key, size));
    }
    out.samples = static_cast<std::uint32_t>(length->seconds() * kSampleRate);
    return out;
  }
  const bool video = out.kind == Medium::Kind::video;
  const std::vector<std::string_view> sides = split(size, 'x');
  std::int64_t bytes = 3;
  std::array<std::uint32_t*, 3> to = {&out.width, &out.height, &out.frames};
  bool sound = sides.size() == (video ? 3U : 2U);
  for (std::size_t i = 0; sound && i < sides.size(); ++i) {
    const auto side = parse_int(sides[i]);
    sound = side && *side >= 1 && *side <= (i == 2 ? kFramesMax : kSideMax);
    if (!sound) break;
    *to[i] = static_cast<std::uint32_t>(*side);
    bytes *= *side;
  }
  if (sound && bytes <= kMediumBytesMax) return out;
  return invalid(format("{}={}: {} of at most 256 MiB of pixels", key, size,
                        video ? "WIDTHxHEIGHTxFRAMES, as 64x64x16," : "WIDTHxHEIGHT, as 512x512,"));
}

std::string to_string(const Medium& medium) {
  const auto name = kMediumNames[static_cast<std::size_t>(medium.kind)];
  switch (medium.kind) {
    case Medium::Kind::image:
      return format("{} {}x{}", name, medium.width, medium.height);
    case Medium::Kind::audio:
      return format("{} of {} samples", name, medium.samples);
    case Medium::Kind::video:
      return format("{} {}x{}x{}", name, medium.width, medium.height, medium.frames);
  }
  return {};
}

std::string bytes_of(const Medium& medium, Rng& rng) {
  switch (medium.kind) {
    case Medium::Kind::image:
      return png_of(medium, rng);
    case Medium::Kind::audio:
      return wav_of(medium, rng);
    case Medium::Kind::video:
      return avi_of(medium, rng);
  }
  return {};
}

void add_media(const std::vector<Medium>& media, const std::vector<std::string>& file_columns,
               Rng& rng, Sample& sample) {
  Json parts = Json::array();
  for (const Medium& medium : media) {
    std::string bytes = bytes_of(medium, rng);
    const auto name = kMediumNames[static_cast<std::size_t>(medium.kind)];
    if (std::ranges::find(file_columns, name) != file_columns.end()) {
      const auto* const column = std::ranges::find(kFileColumns, name, &FileColumn::name);
      const bool image = medium.kind == Medium::Kind::image;
      sample.attachments.push_back({.name = std::string(column->field),
                                    .type = image ? "image/png" : "audio/wav",
                                    .file = image ? "noise.png" : "noise.wav",
                                    .bytes = std::move(bytes)});
    } else {
      parts.push_back(part_of(medium.kind, bytes));
    }
  }
  if (parts.size() == 0) return;
  parts.push_back(Json::object().set("type", "text").set("text", std::move(sample.prompt)));
  sample.prompt.clear();
  sample.content_parts = std::move(parts);
}

}  // namespace assay::dataset
