// A table (columns.h) as an Apache Parquet file, version 1: PLAIN values, words by a dictionary,
// not compressed. Every column may be absent in a row, whether one is or not, so that the files of
// many runs have one schema. https://parquet.apache.org/docs/file-format/
//
// The text holds the whole file. Any thread.
#pragma once

#include <string>

#include "interchange/write/columns.h"

namespace assay::interchange {

// `rows_of_a_page` is a multiple of 8; a row group has 16 pages of each column.
std::string write_parquet(const Columns& table, std::int64_t rows_of_a_page = 65'536);

}  // namespace assay::interchange
