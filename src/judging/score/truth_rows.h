// The rows of a suite's dataset with the true answers, in the file's order and under the file's
// names: JSON lines, a JSON array of rows, one object (a row: SQuAD's file), Parquet, or ImageNet's
// val_map.txt ("FILE LABEL" a line, as {"file", "label"}). No column is renamed and no question is
// needed, unlike a dataset that is asked (dataset/dataset.h). An error names the file and the line.
#pragma once

#include <filesystem>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace assay::score {

Result<std::vector<Json>> read_truth_rows(const std::filesystem::path& path);

}  // namespace assay::score
