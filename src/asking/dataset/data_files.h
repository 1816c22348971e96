// The files of a dataset that is a folder, as the Hugging Face hub keeps them:
// data/train-00000-of-00002.parquet, train.jsonl, main/test-00000-of-00001.parquet,
// default/train/0000.parquet. The files of one part (a split, of one configuration) are read one
// after the other. A folder with one part needs no name; else "DIR#PART". Reads names of files, not
// the files. Any thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::dataset {

struct DataFiles {
  std::vector<std::filesystem::path> files{};  // in the order of their numbers
  std::string extension{};                     // "jsonl", without .gz or .zst
};

// True if `path` is a folder, or "FOLDER#PART".
bool is_data_folder(const std::string& path);

// Fails if there is no file that can be read, if several parts could be meant (it lists them), if a
// part has files of several formats, and if one of "x-00000-of-00002" is missing.
Result<DataFiles> data_files(const std::string& path);

// "jsonl" of "x.JSONL.gz": the extension that says what a file is.
std::string extension_of(const std::filesystem::path& path);

}  // namespace assay::dataset
