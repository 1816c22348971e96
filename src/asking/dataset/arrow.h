// Arrow streams as rows: what Hugging Face's `datasets.save_to_disk` writes (data-00000-of-00001
// .arrow), and uncompressed Arrow files, which are a stream with a frame. Our own reader, as that
// of Parquet is. It needs memory for one batch. Values become JSON as Parquet's do (parquet.h).
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/result.h"
#include "dataset/input_file.h"
#include "dataset/row_source.h"

namespace assay::dataset {

Result<std::unique_ptr<RowSource>> open_arrow(const std::filesystem::path& path);
// `name` is for messages.
Result<std::unique_ptr<RowSource>> open_arrow(InputFile file, const std::string& name);

}  // namespace assay::dataset
