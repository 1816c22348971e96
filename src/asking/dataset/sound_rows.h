// Sounds as attachments of rows: a cell `audio` names a file in the data set's folder, or holds the
// bytes as a data URL (as a Parquet file's binary cells become), or is an object of Hugging Face's
// form: {"path", "bytes"}. Any thread; files are only read.
#pragma once

#include <string>

#include "base/result.h"
#include "domain/sample.h"

namespace assay::dataset {

// Moves each row's `audio` from its body to its attachments.
Result<void> attach_sounds(Dataset& dataset, const std::string& path);

}  // namespace assay::dataset
