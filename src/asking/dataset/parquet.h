// Parquet files as rows, from Hugging Face, pandas, Arrow, DuckDB and Polars. Lists, structs and
// maps of any depth, every encoding except the retired bit-packed levels, every compression except
// LZO. It is our own reader, since Debian 12 has neither Arrow nor DuckDB
// (docs/decisions/0012-datasets.md). It needs memory for a page of each column and one row.
//
// Instants and dates become ISO 8601 text, decimals text. A map becomes an object if its keys are
// text, else a list of {key, value}.
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
