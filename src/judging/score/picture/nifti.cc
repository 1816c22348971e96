#include "score/picture/nifti.h"

#include <cmath>
#include <cstring>
#include <string>

#include "base/files.h"
#include "base/format.h"
#include "dataset/unpacker.h"

namespace assay::score {
namespace {

constexpr std::size_t kHeaderBytes = 348;
constexpr std::size_t kVoxelsMax = std::size_t{1} << 30;

template <typename T>
T field(std::string_view bytes, std::size_t at) {
  T out{};
  std::memcpy(&out, bytes.data() + at, sizeof out);
  return out;
}

// Bytes of a voxel; 0: a type that is not read.
std::size_t width_of(std::int16_t type) {
  switch (type) {
    case 2:    // uint8
    case 256:  // int8
      return 1;
    case 4:    // int16
    case 512:  // uint16
      return 2;
    case 8:    // int32
    case 768:  // uint32
    case 16:   // float32
      return 4;
    case 64:    // float64
    case 1024:  // int64
      return 8;
    default:
      return 0;
  }
}

double voxel(std::string_view bytes, std::size_t at, std::int16_t type) {
  switch (type) {
    case 2:
      return field<std::uint8_t>(bytes, at);
    case 256:
      return field<std::int8_t>(bytes, at);
    case 4:
      return field<std::int16_t>(bytes, at);
    case 512:
      return field<std::uint16_t>(bytes, at);
    case 8:
      return field<std::int32_t>(bytes, at);
    case 768:
      return field<std::uint32_t>(bytes, at);
    case 16:
      return static_cast<double>(field<float>(bytes, at));
    case 64:
      return field<double>(bytes, at);
    default:
      return static_cast<double>(field<std::int64_t>(bytes, at));
  }
}

}  // namespace

Result<Volume> parse_nifti(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes || field<std::int32_t>(bytes, 0) != 348 ||
      bytes.substr(344, 3) != "n+1") {
    return invalid("is not a NIfTI-1 file in one part (.nii)");
  }
  Volume out;
  const auto dimensions = field<std::int16_t>(bytes, 40);
  std::size_t voxels = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto size = field<std::int16_t>(bytes, 42 + 2 * i);
    if (size < 1 || voxels > kVoxelsMax / static_cast<std::size_t>(size)) {
      return invalid(format("dim: {} voxels along axis {}", size, i + 1));
    }
    out.size[i] = static_cast<std::size_t>(size);
    voxels *= out.size[i];
  }
  if (dimensions < 3 || dimensions > 7) return invalid(format("dim: {} axes", dimensions));
  for (std::size_t i = 3; i < static_cast<std::size_t>(dimensions); ++i) {
    if (field<std::int16_t>(bytes, 42 + 2 * i) != 1) return invalid("dim: more than three axes");
  }
  const auto type = field<std::int16_t>(bytes, 70);
  const std::size_t width = width_of(type);
  if (width == 0) return invalid(format("datatype: {} is not read", type));
  const auto offset = static_cast<double>(field<float>(bytes, 108));
  if (!(offset >= 348 && offset <= 1e9)) return invalid("vox_offset: is before the data");
  const auto begin = static_cast<std::size_t>(offset);
  if (begin > bytes.size() || (bytes.size() - begin) / width < voxels) {
    return invalid("the file ends before its last voxel");
  }
  double slope = static_cast<double>(field<float>(bytes, 112));
  double shift = static_cast<double>(field<float>(bytes, 116));
  if (slope == 0 || !std::isfinite(slope)) {
    slope = 1;
    shift = 0;
  }
  out.classes.resize(voxels);
  for (std::size_t i = 0; i < voxels; ++i) {
    const double value = slope * voxel(bytes, begin + i * width, type) + shift;
    out.classes[i] = value >= 0 && value < 256 ? static_cast<std::uint8_t>(value) : 255;
  }
  return out;
}

Result<Volume> read_nifti(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(std::string bytes, read_file(path));
  const auto packed = dataset::compression_of(std::string_view(bytes).substr(0, 4));
  if (packed) {
    std::string plain;
    dataset::Unpacker unpacker(*packed);
    unpacker.give(bytes);
    for (;;) {
      const auto piece = unpacker.next();
      if (!piece) return piece.error().within(path.string());
      if (piece->empty()) break;
      plain += *piece;
    }
    bytes = std::move(plain);
  }
  auto volume = parse_nifti(bytes);
  if (!volume) return volume.error().within(path.string());
  return volume;
}

}  // namespace assay::score
