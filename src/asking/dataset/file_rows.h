// Files as attachments of rows: a cell of such a column names a file in the data set's folder, or
// holds the bytes as a data URL (as a Parquet file's binary cells become), or is an object of
// Hugging Face's form, {"path", "bytes"}, or of LibriSpeech's manifests, {"fname"}; or a list of
// these. Any thread; files are only read.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "domain/sample.h"

namespace assay::dataset {

// A column whose cells are files, and the field of a form that they become.
struct FileColumn {
  std::string_view name{};
  std::string_view field{};
};
inline constexpr std::array<FileColumn, 4> kFileColumns{{{"audio", "file"},
                                                         {"image", "image"},
                                                         {"mask", "mask"},
                                                         {"input_reference", "input_reference"}}};

// Adds the file, or the files, of a cell to the sample's attachments.
Result<void> attach_cell(const FileColumn& column, const Json& cell,
                         const std::filesystem::path& folder, Sample& sample);

// Moves each row's cell of the column from its body to its attachments.
Result<void> attach_files(Dataset& dataset, const FileColumn& column, const std::string& path);

}  // namespace assay::dataset
