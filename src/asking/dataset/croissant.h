// Croissant: the metadata that Hugging Face, Kaggle and others publish with a dataset (JSON-LD, 1.0
// and 1.1), and the rows of its record sets: csv, tsv, json, JSON lines, text, Parquet and binary
// files, alone, in folders, in zip and tar archives, gzipped; regular expressions, JSONPath,
// separators, joins by `references`, rows inside the metadata file.
//
//   croissant:metadata.json#questions            a record set
//   croissant:metadata.json#questions?split=test only rows whose field has this value
//
// Files are looked for beside the metadata file; the last part of a URL gives the file's name.
// Nothing is fetched. Checksums are compared before the first row. A path that leaves the folder,
// in the metadata, in an archive or by a link, is an error. A row's columns are the fields' ids
// after the last '/'. Values are converted to the field's dataType; a value that cannot be
// converted is an error.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "dataset/row_source.h"

namespace assay::dataset {

inline constexpr std::string_view kCroissantPrefix = "croissant:";

// The parts of a spec, with or without its prefix.
struct CroissantSpec {
  std::string file{};
  std::string record_set{};  // "": none is named
  std::string filters{};     // "split=test&lang=en"
};
CroissantSpec croissant_spec(std::string_view spec);

// `spec`: as above, with or without the prefix.
Result<std::unique_ptr<RowSource>> open_croissant(const std::string& spec);

}  // namespace assay::dataset
