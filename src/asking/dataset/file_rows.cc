#include "dataset/file_rows.h"

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
std::string type_of(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kTypes{
      {{".png", "image/png"},
       {".jpg", "image/jpeg"},
       {".jpeg", "image/jpeg"},
       {".webp", "image/webp"},
       {".mp4", "video/mp4"},
       {".wav", "audio/wav"},
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

// A name for bytes that came without one.
std::string_view name_of_bytes(std::string_view bytes) {
  return bytes.starts_with("\x89PNG")            ? "picture.png"
         : bytes.starts_with("\xFF\xD8\xFF")     ? "picture.jpg"
         : bytes.substr(0, 12).ends_with("WEBP") ? "picture.webp"
         : bytes.starts_with("RIFF")             ? "sound.wav"
         : bytes.starts_with("fLaC")             ? "sound.flac"
         : bytes.starts_with("OggS")             ? "sound.ogg"
                                                 : "sound.mp3";
}

Result<Attachment> attached_file(std::string_view column, const Json& cell,
                                 const std::filesystem::path& folder) {
  const Json& named = cell["path"].is_null() ? cell["fname"] : cell["path"];
  const Json& place = cell.is_object() ? named : cell;
  const Json& given = cell.is_object() ? cell["bytes"] : cell;
  Attachment out;
  out.file = std::filesystem::path(std::string(place.as_string())).filename().string();
  const auto base64 = base64_of_cell(given.as_string());
  if (base64) {
    ASSIGN_OR_RETURN(out.bytes, decode_base64(*base64));
    if (!cell.is_object() || out.file.empty()) out.file = name_of_bytes(out.bytes);
  } else if (place.is_string() && is_safe_path(place.as_string())) {
    ASSIGN_OR_RETURN(out.bytes, read_file(folder / std::string(place.as_string())));
  } else if (place.is_string()) {
    return invalid(
        format("{}: '{}': a file must lie in the data set's folder", column, place.as_string()));
  } else {
    return invalid(
        format("{}: expected a file's name, or bytes; found {}", column, cell.type_name()));
  }
  if (out.bytes.empty()) return invalid(format("{}: '{}' is empty", column, out.file));
  out.type = type_of(out.file);
  return out;
}

}  // namespace

Result<void> attach_cell(const FileColumn& column, const Json& cell,
                         const std::filesystem::path& folder, Sample& sample) {
  const bool several = cell.is_array();
  for (std::size_t i = 0; i < (several ? cell.size() : 1); ++i) {
    ASSIGN_OR_RETURN(Attachment file, attached_file(column.name, several ? cell[i] : cell, folder));
    file.name = column.field;
    if (several && cell.size() > 1) file.name += "[]";
    sample.attachments.push_back(std::move(file));
  }
  return {};
}

Result<void> attach_files(Dataset& dataset, const FileColumn& column, const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  for (std::size_t row = 0; row < dataset.samples.size(); ++row) {
    Sample& sample = dataset.samples[row];
    const Json cell = sample.body[column.name];
    if (cell.is_null()) continue;
    const auto attached = attach_cell(column, cell, folder, sample);
    if (!attached) return attached.error().within(format("{}: sample {}", path, row));
    sample.body.erase(column.name);
    if (sample.body.size() == 0) sample.body = {};
  }
  return {};
}

}  // namespace assay::dataset
