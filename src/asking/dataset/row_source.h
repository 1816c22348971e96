// RowSource: rows of a file that is not text (Parquet, Croissant), one at a time, as JSON objects.
// Binary cells are data URLs (binary_cell.h). One thread.
#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "base/result.h"

namespace assay::dataset {

class RowSource {
 public:
  RowSource() = default;
  RowSource(const RowSource&) = delete;
  RowSource& operator=(const RowSource&) = delete;
  virtual ~RowSource() = default;

  // Returns nullopt at the end.
  virtual Result<std::optional<Json>> next() = 0;
  // The place of the last row: "row 17", "train.csv:18".
  virtual std::string place() const = 0;
  // The hash of the file's bytes.
  virtual Result<std::string> sha256() = 0;
};

}  // namespace assay::dataset
