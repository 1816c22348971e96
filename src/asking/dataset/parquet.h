// Parquet files as rows: what Hugging Face, pandas, Arrow, DuckDB and Polars write. Lists, structs
// and maps of any depth, every encoding but the retired bit-packed levels, every compression but
// LZO. Our own reader, since Debian 12 has neither Arrow nor DuckDB
// (docs/decisions/0012-datasets.md); it needs memory for a page of each column and one row.
//
// Instants and dates come as ISO 8601 text, decimals as text, a map as an object where its keys are
// text and else as a list of {key, value}.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/result.h"
#include "dataset/input_file.h"
#include "dataset/row_source.h"

namespace assay::dataset {

Result<std::unique_ptr<RowSource>> open_parquet(const std::filesystem::path& path);
// `name` is for messages.
Result<std::unique_ptr<RowSource>> open_parquet(InputFile file, const std::string& name);

}  // namespace assay::dataset
