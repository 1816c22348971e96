// A WebDataset shard as rows: a tar file (tar.gz too) whose members that stand together and have
// one name up to its first dot are a row, "000017.json", "000017.txt", "000017.jpg". Each is a
// column called as what follows the dot; `__key__` is the name. An object of JSON gives its own
// members as columns. github.com/webdataset/webdataset. Other bytes: binary_cell.h.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/result.h"
#include "dataset/input_file.h"
#include "dataset/row_source.h"

namespace assay::dataset {

Result<std::unique_ptr<RowSource>> open_web_shard(const std::filesystem::path& path);
// `name` is for messages.
Result<std::unique_ptr<RowSource>> open_web_shard(InputFile file, const std::string& name);

}  // namespace assay::dataset
