// A volume of classes from a NIfTI-1 file, plain or as gzip: the segmentations of KiTS19. Values
// are scaled as the header says and cut to whole classes. Pure but for reading the file; any
// thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay::score {

struct Volume {
  std::array<std::size_t, 3> size{};    // x, y, z
  std::vector<std::uint8_t> classes{};  // x is the fastest
};

Result<Volume> read_nifti(const std::filesystem::path& path);
// The same from bytes.
Result<Volume> parse_nifti(std::string_view bytes);

}  // namespace assay::score
