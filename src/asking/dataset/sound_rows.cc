#include "dataset/sound_rows.h"

#include <array>
#include <filesystem>
#include <utility>

#include "base/base64.h"
#include "base/files.h"
#include "base/format.h"
#include "base/text.h"
#include "dataset/archive.h"
#include "dataset/binary_cell.h"

namespace assay::dataset {
namespace {

// Servers choose their decoder by the bytes, or by the file's name.
std::string sound_type(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kTypes{
      {{".wav", "audio/wav"},
       {".mp3", "audio/mpeg"},
       {".flac", "audio/flac"},
       {".ogg", "audio/ogg"},
       {".opus", "audio/ogg"},
       {".m4a", "audio/mp4"},
       {".webm", "audio/webm"}}};
  const std::string ending = lower(name);
  for (const auto& [extension, type] : kTypes) {
    if (ending.ends_with(extension)) return std::string(type);
  }
  return "application/octet-stream";
}

Result<Attachment> sound_of(const Json& cell, const std::filesystem::path& folder) {
  const Json& place = cell.is_object() ? cell["path"] : cell;
  const Json& given = cell.is_object() ? cell["bytes"] : cell;
  Attachment out{.name = "file"};
  out.file = std::filesystem::path(std::string(place.as_string())).filename().string();
  const auto base64 = base64_of_cell(given.as_string());
  if (base64) {
    ASSIGN_OR_RETURN(out.bytes, decode_base64(*base64));
    if (!cell.is_object() || out.file.empty()) {
      out.file = out.bytes.starts_with("RIFF")   ? "sound.wav"
                 : out.bytes.starts_with("fLaC") ? "sound.flac"
                 : out.bytes.starts_with("OggS") ? "sound.ogg"
                                                 : "sound.mp3";
    }
  } else if (place.is_string() && is_safe_path(place.as_string())) {
    ASSIGN_OR_RETURN(out.bytes, read_file(folder / std::string(place.as_string())));
  } else if (place.is_string()) {
    return invalid(
        format("audio: '{}': a file must lie in the data set's folder", place.as_string()));
  } else {
    return invalid(format("audio: expected a file's name, or bytes; found {}", cell.type_name()));
  }
  if (out.bytes.empty()) return invalid(format("audio: '{}' is empty", out.file));
  out.type = sound_type(out.file);
  return out;
}

}  // namespace

Result<void> attach_sounds(Dataset& dataset, const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  for (std::size_t row = 0; row < dataset.samples.size(); ++row) {
    Sample& sample = dataset.samples[row];
    const Json cell = sample.body["audio"];
    if (cell.is_null()) continue;
    auto sound = sound_of(cell, folder);
    if (!sound) return sound.error().within(format("{}: sample {}", path, row));
    sample.attachments.push_back(*std::move(sound));
    sample.body.erase("audio");
    if (sample.body.size() == 0) sample.body = {};
  }
  return {};
}

}  // namespace assay::dataset
